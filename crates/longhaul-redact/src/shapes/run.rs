//! Runs of characters that a line break may have cut: terminals, mails and tools wrap long lines at a fixed width.
//!
//! Tokens and assigned values are runs. A run continues in the next line only where the line was wrapped: it has one of the usual
//! widths, or the run is one that cannot end there: it is too short, or its quote closes in the next line. A line break behind a
//! complete token stays.

use std::ops::Range;

use super::charset::{BASE64, Charset};
use super::text::Text;
use super::value::is_public_id;
use super::words::is_spelled_like_words;

/// How wide lines are wrapped.
const WIDTHS: [usize; 7] = [64, 72, 76, 79, 80, 100, 120];

/// Lists and help texts indent the lines they wrap.
const DEEPEST_INDENT: usize = 40;

/// A shorter rest gives nothing away.
const SHORTEST_REST: usize = 8;

/// How long runs of a kind are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths {
    /// A shorter run is not complete.
    pub(super) least: usize,
    /// What issuers make today.
    pub(super) usual: usize,
}

impl Lengths {
    /// Any length.
    pub(super) const OPEN: Lengths = Lengths { least: 0, usual: 0 };
}

/// A run, over line breaks that cut it.
pub(super) struct Run {
    pub(super) end: usize,
    /// Without the line breaks.
    pub(super) characters: Vec<u8>,
    /// The quote before it, which closes it.
    quote: Option<u8>,
    is_open: bool,
    lines: usize,
}

impl Run {
    /// The run behind a prefix.
    pub(super) fn of(text: &Text<'_>, prefix: Range<usize>, charset: Charset, lengths: Lengths) -> Run {
        let first = prefix.end..text.run(prefix.end, charset);
        Run::first_line(text, first, None).continued(text, &prefix, charset, lengths)
    }

    /// A value of any characters, behind a quote or not; what continues it in the next line is base64.
    pub(super) fn of_value(text: &Text<'_>, value: Range<usize>, quote: Option<u8>) -> Run {
        let no_prefix = value.start..value.start;
        Run::first_line(text, value, quote).continued(text, &no_prefix, BASE64, Lengths::OPEN)
    }

    fn first_line(text: &Text<'_>, first: Range<usize>, quote: Option<u8>) -> Run {
        let is_open = text.is_open_at(first.end);
        Run { end: first.end, quote, is_open, lines: 1, characters: text.bytes[first].to_vec() }
    }

    fn continued(mut self, text: &Text<'_>, prefix: &Range<usize>, charset: Charset, lengths: Lengths) -> Run {
        while let Some(cut) = self.cut(text, lengths) {
            let line = text.skip(self.end, 2, |byte| matches!(byte, b'\r' | b'\n'));
            let next = text.skip(line, DEEPEST_INDENT, |byte| matches!(byte, b' ' | b'\t'));
            let rest = next..text.run(next, charset);
            self.is_open = text.is_open_at(rest.end);
            // In a list of complete tokens each line begins like the first; chance makes a short prefix inside an incomplete one.
            let is_next_token = self.characters.len() >= lengths.least
                && !prefix.is_empty()
                && text.bytes[next..].starts_with(&text.bytes[prefix.clone()]);
            if self.is_open || is_next_token || !self.continues_with(text, rest.clone(), cut, lengths) {
                break;
            }
            self.characters.extend_from_slice(&text.bytes[rest.clone()]);
            self.end = rest.end;
            self.lines += 1;
        }
        self
    }

    /// How many dots of a sentence are at the end.
    pub(super) fn trailing_dots(&self) -> usize {
        self.characters.iter().rev().take_while(|byte| **byte == b'.').count()
    }

    /// Whether it may continue with text that has not arrived.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Why a line break at the end may be inside the run.
    fn cut(&self, text: &Text<'_>, lengths: Lengths) -> Option<Cut> {
        let length = self.characters.len();
        if length == 0 || !matches!(text.at(self.end), Some(b'\r' | b'\n')) {
            None
        } else if length != lengths.usual && is_wrapped(text, self.end) {
            Some(Cut::Wrapped)
        } else if self.quote.is_some() {
            Some(Cut::Quoted)
        } else {
            (length < lengths.least).then_some(Cut::Incomplete)
        }
    }

    fn continues_with(&self, text: &Text<'_>, rest: Range<usize>, cut: Cut, lengths: Lengths) -> bool {
        let length = self.characters.len();
        let completes = length + rest.len() == lengths.usual;
        let closes = self.quote.is_some() && text.at(rest.end) == self.quote;
        match cut {
            Cut::Wrapped => completes || closes || length < lengths.least || is_rest(text, rest, self.lines > 1),
            Cut::Quoted => closes,
            Cut::Incomplete => completes,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// The line has a usual width.
    Wrapped,
    /// The quote is not closed in this line.
    Quoted,
    /// The run is too short to be complete.
    Incomplete,
}

/// Whether the first run of a line may be the rest of a secret: not an assignment, an id, a name or words. Behind a full line of the
/// secret words count as its rest too.
fn is_rest(text: &Text<'_>, rest: Range<usize>, has_full_line: bool) -> bool {
    let is_name = matches!(text.at(rest.end), Some(b':' | b'('));
    let run = &text.bytes[rest];
    let is_assignment = run.iter().rposition(|byte| *byte != b'=').is_some_and(|last| run[..last].contains(&b'='));
    let is_words = is_spelled_like_words(run);
    let is_next_text = if has_full_line { is_name && is_words } else { is_name || is_words };
    run.len() >= SHORTEST_REST && !is_next_text && !is_assignment && !is_public_id(run)
}

/// Whether the line that ends here has one of the widths. Inside a record it begins behind a quote.
fn is_wrapped(text: &Text<'_>, end: usize) -> bool {
    let longest = WIDTHS[WIDTHS.len() - 1];
    let mut width = 0;
    for byte in text.bytes[..end].iter().rev() {
        if matches!(byte, b'\n' | b'"') && WIDTHS.contains(&width) {
            return true;
        }
        if *byte == b'\n' || width > longest {
            return false;
        }
        // Only the first byte of a character counts.
        width += usize::from(*byte & 0xc0 != 0x80);
    }
    WIDTHS.contains(&width)
}

//! Joins the pieces of each text and masks what only the joined text shows.
//!
//! The last stage of a stream. A line of JSON waits for its end; a record whose piece ends inside a word or a candidate waits
//! for the next line, in order, at most `MOST_HELD` bytes. A record that is no piece ends the waiting, so that nothing an
//! agent reports is late; a candidate open at that moment is masked and so is what goes on with it.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use super::record::{Piece, piece_of};
use crate::redact::Secrets;
use crate::redact::shapes::charset::{HELD_WORD, SWALLOWED};
use crate::redact::shapes::{Mask, More, find};
use crate::redact::values::find_values;

/// A longer line is no piece of text.
const LONGEST_LINE: usize = 64 * 1024;
const MOST_HELD: usize = 256 * 1024;
const MOST_CHANNELS: usize = 64;

/// Joins the pieces of one stream.
#[derive(Debug, Default)]
pub(in crate::redact) struct Deltas {
    line: Vec<u8>,
    is_passing: bool,
    waiting: VecDeque<Line>,
    waiting_bytes: usize,
    /// The number of the first line that waits.
    first: usize,
    channels: HashMap<u64, Channel>,
    replaced: usize,
}

#[derive(Debug)]
struct Line {
    bytes: Vec<u8>,
    span: Range<usize>,
    text: String,
    /// Parts of `text` to take out, and what to put there.
    cuts: Vec<(Range<usize>, String)>,
}

/// The undecided end of one text.
#[derive(Debug, Default)]
struct Channel {
    text: Vec<u8>,
    /// Up to here everything is decided; it stays as context.
    decided: usize,
    /// Line numbers, and where in `text` their pieces begin.
    pieces: Vec<(usize, usize)>,
    is_swallowing: bool,
}

impl Deltas {
    pub(in crate::redact) fn push(&mut self, secrets: &Secrets, input: &[u8], out: &mut Vec<u8>) {
        let mut rest = input;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end + 1);
            self.take(line, out);
            if !self.is_passing {
                let line = std::mem::take(&mut self.line);
                self.take_line(secrets, line, out);
            }
            self.is_passing = false;
            rest = after;
        }
        self.take(rest, out);
    }

    pub(in crate::redact) fn finish(&mut self, secrets: &Secrets, out: &mut Vec<u8>) {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.take_line(secrets, line, out);
        }
        self.close(secrets, out);
        self.is_passing = false;
    }

    /// How many replacements were written so far.
    pub(in crate::redact) fn replaced(&self) -> usize {
        self.replaced
    }

    /// Collects a line of JSON; anything else is no concern of ours and passes.
    fn take(&mut self, part: &[u8], out: &mut Vec<u8>) {
        if self.is_passing {
            out.extend_from_slice(part);
            return;
        }
        let is_json = self.line.first().or(part.first()).is_none_or(|first| *first == b'{');
        if (is_json && self.line.len() + part.len() <= LONGEST_LINE) || !self.waiting.is_empty() {
            self.line.extend_from_slice(part);
        } else {
            out.append(&mut self.line);
            out.extend_from_slice(part);
            self.is_passing = true;
        }
    }

    fn take_line(&mut self, secrets: &Secrets, line: Vec<u8>, out: &mut Vec<u8>) {
        let piece = if line.first() == Some(&b'{') { piece_of(&line) } else { None };
        let Some(piece) = piece else {
            self.close(secrets, out);
            out.extend_from_slice(&line);
            return;
        };
        self.add(secrets, line, piece);
        if self.waiting_bytes > MOST_HELD || self.channels.len() > MOST_CHANNELS {
            self.close(secrets, out);
        }
        self.release(out);
    }

    fn add(&mut self, secrets: &Secrets, line: Vec<u8>, piece: Piece) {
        let Piece { channel, span, text } = piece;
        let number = self.first + self.waiting.len();
        let joined = self.channels.entry(channel).or_default();
        joined.pieces.push((number, joined.text.len()));
        joined.text.extend_from_slice(text.as_bytes());
        let ends_masked = ends_in_mask(&text);
        self.waiting_bytes += line.len();
        self.waiting.push_back(Line { bytes: line, span, text, cuts: Vec::new() });
        self.decide(secrets, channel, More::MayCome);
        if let Some(joined) = self.channels.get_mut(&channel).filter(|_| ends_masked) {
            joined.is_swallowing = true;
        }
    }

    /// Masks what is certain in one text and forgets the lines that have no part in what is not.
    fn decide(&mut self, secrets: &Secrets, channel: u64, more: More) {
        let Some(joined) = self.channels.get_mut(&channel) else { return };
        let swallowed = joined.swallow();
        let shapes = find(&joined.text, joined.decided, More::MayCome);
        let values = find_values(secrets, &joined.text, joined.decided);
        let open = shapes.open.into_iter().chain(values.open).min();
        let (masks, safe) = match more {
            More::MayCome => {
                let safe = open.unwrap_or(usize::MAX).min(last_word(&joined.text)).max(joined.decided);
                let safe = shapes.settled(safe);
                (shapes.masks, safe)
            }
            More::Never => {
                joined.is_swallowing |= shapes.open.is_some();
                (find(&joined.text, joined.decided, More::Never).masks, joined.text.len())
            }
        };
        let mut cuts: Vec<(Range<usize>, String)> = values.masks;
        let shape = |mask: &Mask| {
            let text = secrets.tags().replacement(mask.rule, &joined.text[mask.start..mask.end]);
            (mask.start..mask.end, text)
        };
        cuts.extend(masks.iter().map(shape));
        cuts.extend(swallowed.map(|span| (span, String::new())));
        cuts.sort_by_key(|(span, _)| span.start);
        let safe = cuts.iter().find(|(span, _)| span.contains(&safe)).map_or(safe, |(span, _)| span.start);
        let pieces = joined.pieces.clone();
        let length = joined.text.len();
        joined.forget(safe);
        for (span, replacement) in cuts.into_iter().filter(|(span, _)| span.start < safe) {
            self.cut(&pieces, length, span, &replacement);
        }
    }

    /// Takes `span` of a joined text out of the lines it lies in; the first gets the replacement.
    fn cut(&mut self, pieces: &[(usize, usize)], length: usize, span: Range<usize>, replacement: &str) {
        let mut replacement = Some(replacement);
        for (index, &(number, start)) in pieces.iter().enumerate() {
            let end = pieces.get(index + 1).map_or(length, |(_, next)| *next);
            let overlap = span.start.max(start)..span.end.min(end);
            let Some(line) = number.checked_sub(self.first).and_then(|index| self.waiting.get_mut(index)) else {
                continue;
            };
            if overlap.is_empty() || line.cuts.iter().any(|(cut, _)| cut.end > overlap.start - start) {
                continue;
            }
            self.replaced += usize::from(replacement.is_some_and(|text| !text.is_empty()));
            let text = replacement.take().unwrap_or_default().to_owned();
            line.cuts.push((overlap.start - start..overlap.end - start, text));
        }
    }

    /// Decides everything with what is there and shows all lines.
    fn close(&mut self, secrets: &Secrets, out: &mut Vec<u8>) {
        if self.waiting.is_empty() {
            return;
        }
        let open: Vec<u64> = self.channels.iter().filter(|(_, it)| !it.pieces.is_empty()).map(|(it, _)| *it).collect();
        for channel in open {
            self.decide(secrets, channel, More::Never);
        }
        self.channels.retain(|_, joined| joined.is_swallowing);
        self.release(out);
    }

    /// Shows the lines that no text waits for.
    fn release(&mut self, out: &mut Vec<u8>) {
        let waited_for =
            self.channels.values().filter_map(|joined| joined.pieces.first()).map(|(number, _)| *number).min();
        while waited_for.is_none_or(|number| self.first < number) {
            let Some(line) = self.waiting.pop_front() else { break };
            self.first += 1;
            self.waiting_bytes -= line.bytes.len();
            line.write(out);
        }
    }
}

impl Channel {
    /// The part at the beginning of new text that goes on with a candidate which was cut off.
    fn swallow(&mut self) -> Option<Range<usize>> {
        if !self.is_swallowing {
            return None;
        }
        let rest = &self.text[self.decided..];
        let end = self.decided + rest.iter().position(|byte| !SWALLOWED.has(*byte)).unwrap_or(rest.len());
        self.is_swallowing = end == self.text.len();
        let span = self.decided..end;
        self.decided = end;
        (!span.is_empty()).then_some(span)
    }

    /// Drops pieces before `safe`, but keeps the text of the one it lies in as context.
    fn forget(&mut self, safe: usize) {
        let keep = if safe >= self.text.len() {
            self.pieces.len()
        } else {
            self.pieces.partition_point(|(_, start)| *start <= safe).saturating_sub(1)
        };
        let start = self.pieces.get(keep).map_or(self.text.len(), |(_, start)| *start);
        self.pieces.drain(..keep);
        self.text.drain(..start);
        self.pieces.iter_mut().for_each(|(_, piece)| *piece -= start);
        self.decided = safe.saturating_sub(start);
    }
}

impl Line {
    fn write(&self, out: &mut Vec<u8>) {
        if self.cuts.is_empty() {
            out.extend_from_slice(&self.bytes);
            return;
        }
        let (mut text, mut shown) = (Vec::with_capacity(self.text.len()), 0);
        for (span, replacement) in &self.cuts {
            text.extend_from_slice(&self.text.as_bytes()[shown..span.start]);
            text.extend_from_slice(replacement.as_bytes());
            shown = span.end;
        }
        text.extend_from_slice(&self.text.as_bytes()[shown..]);
        out.extend_from_slice(&self.bytes[..self.span.start]);
        out.extend_from_slice(serde_json::Value::from(String::from_utf8_lossy(&text)).to_string().as_bytes());
        out.extend_from_slice(&self.bytes[self.span.end..]);
    }
}

/// Whether the earlier stages have masked a secret that this piece ends in: the next one may go on with it.
fn ends_in_mask(text: &str) -> bool {
    let mark = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
    mark.is_some_and(|(_, mark)| mark.starts_with("redacted:") && !mark.contains(']'))
}

/// Where the word begins that the text ends in.
fn last_word(text: &[u8]) -> usize {
    text.iter().rposition(|byte| !HELD_WORD.has(*byte)).map_or(0, |index| index + 1)
}

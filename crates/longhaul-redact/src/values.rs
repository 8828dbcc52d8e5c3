//! Known secrets: each in a few encodings, found in the view of a text.
//!
//! `Secrets` builds one of these on first use. The view has taken escapes and colours out of the text already; here line breaks and
//! backslashes inside a value are passed over and `+` is a blank, so that one pattern finds every such spelling.

use std::ops::Range;

use super::encodings::encodings_of;
use super::find::{Findings, LONGEST_CANDIDATE, Mask, MaskName};
use super::shapes::charset::LINE;
use super::view::{More, decoded_behind_backslash};

/// A shorter beginning of a value at the end of a text gives nothing away.
const SHORTEST_BEGINNING: usize = 8;

/// A value of at least eight characters may have fewer without its line breaks and backslashes, but not so few.
const SHORTEST_PATTERN: usize = 4;

/// What a run of line breaks and backslashes in a value becomes.
const BREAK: u8 = b'\n';

/// All patterns of all secrets.
#[derive(Debug)]
pub(super) struct Values {
    /// In the order of their text.
    patterns: Vec<Pattern>,
    beginnings: Beginnings,
}

#[derive(Debug)]
struct Pattern {
    text: Vec<u8>,
    secret: usize,
    /// It is only the beginning of a very long value: the rest of the line is masked as well.
    is_cut: bool,
}

/// What a value may be that begins at some position.
struct Match<'a> {
    /// The longest value found, and where it ends.
    longest: Option<(usize, &'a Pattern)>,
    /// The text ends inside a value; how much of it was seen.
    open: Option<(usize, &'a Pattern)>,
}

/// How far a comparison has come: so many bytes of these patterns are there.
#[derive(Debug, Clone)]
struct Step {
    at: usize,
    length: usize,
    patterns: Range<usize>,
}

impl Values {
    /// Numbers the secrets in the order of `values`.
    pub(super) fn new<'a>(values: impl Iterator<Item = &'a str>) -> Values {
        let mut patterns: Vec<Pattern> = values
            .enumerate()
            .flat_map(|(secret, value)| {
                encodings_of(value).into_iter().map(move |encoding| (secret, folded(&encoding)))
            })
            .filter(|(_, text)| text.len() >= SHORTEST_PATTERN)
            .flat_map(|(secret, text)| Pattern::with_backslash(text, secret))
            .collect();
        // The first of two secrets with the same encoding gives the name.
        patterns.sort_by(|one, other| one.text.cmp(&other.text));
        patterns.dedup_by(|later, earlier| later.text == earlier.text);
        let beginnings = Beginnings::of(&patterns);
        Values { patterns, beginnings }
    }

    /// Adds the values that begin at `from` or later.
    pub(super) fn find(&self, text: &[u8], from: usize, more: More, findings: &mut Findings) {
        if self.patterns.is_empty() {
            return;
        }
        let mut at = from;
        while let Some(start) = self.beginnings.next(text, at) {
            let found = self.match_at(text, start);
            if let Some((end, pattern)) = found.longest {
                let end = if pattern.is_cut { mask_line(text, end, more, findings) } else { end };
                findings.masks.push(Mask { start, end, name: MaskName::Value(pattern.secret), from: start });
            }
            match found.open {
                Some(_) if more == More::MayCome => findings.note_open(start),
                Some((length, pattern)) if length >= SHORTEST_BEGINNING && !ends_in_break(text) => {
                    let name = MaskName::Value(pattern.secret);
                    findings.masks.push(Mask { start, end: text.len(), name, from: start });
                }
                Some(_) | None => {}
            }
            at = start + 1;
        }
    }

    fn match_at(&self, text: &[u8], start: usize) -> Match<'_> {
        let mut found = Match { longest: None, open: None };
        self.follow(text, Step { at: start, length: 0, patterns: 0..self.patterns.len() }, &mut found);
        found
    }

    /// Follows all patterns at once: those with the same beginning lie side by side.
    fn follow<'a>(&'a self, text: &[u8], mut step: Step, found: &mut Match<'a>) {
        while let Some(byte) = text.get(step.at).map(|byte| fold(*byte)) {
            let narrowed = self.narrow(step.patterns.clone(), step.length, byte);
            let is_break = byte == BREAK && step.length > 0;
            step.at = if byte == BREAK { break_end(text, step.at) } else { step.at + 1 };
            if is_break && narrowed.is_empty() {
                continue;
            }
            if is_break {
                self.follow(text, step.clone(), found);
            }
            (step.patterns, step.length) = (narrowed, step.length + 1);
            if let Some(pattern) =
                self.patterns[step.patterns.clone()].first().filter(|it| it.text.len() == step.length)
            {
                found.longest = found.longest.filter(|(end, _)| *end > step.at).or(Some((step.at, pattern)));
                step.patterns.start += 1;
            }
            if step.patterns.is_empty() {
                return;
            }
        }
        found.open = found.open.or(Some((step.length, &self.patterns[step.patterns.start])));
    }

    fn narrow(&self, patterns: Range<usize>, depth: usize, byte: u8) -> Range<usize> {
        let same_beginning = &self.patterns[patterns.clone()];
        let first = same_beginning.partition_point(|pattern| pattern.text[depth] < byte);
        let count = same_beginning[first..].partition_point(|pattern| pattern.text[depth] == byte);
        patterns.start + first..patterns.start + first + count
    }
}

impl Pattern {
    /// The pattern, and the one for where a backslash before it makes its first letter look escaped.
    fn with_backslash(text: Vec<u8>, secret: usize) -> impl Iterator<Item = Pattern> {
        let behind_backslash = decoded_behind_backslash(&text).map(|text| text.into_iter().map(fold).collect());
        [Some(text), behind_backslash].into_iter().flatten().map(move |mut text: Vec<u8>| {
            let is_cut = text.len() > LONGEST_CANDIDATE;
            text.truncate(LONGEST_CANDIDATE);
            Pattern { text, secret, is_cut }
        })
    }
}

/// Masks on to the end of the line; returns where it is.
fn mask_line(text: &[u8], from: usize, more: More, findings: &mut Findings) -> usize {
    let end = memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |at| from + at);
    if end == text.len() && more == More::MayCome {
        findings.swallowing = Some(LINE);
    }
    end
}

/// What a text is compared with: without backslashes, a run of line breaks as one, none at the ends.
fn folded(text: &[u8]) -> Vec<u8> {
    let mut folded: Vec<u8> = text.iter().filter(|byte| **byte != b'\\').map(|byte| fold(*byte)).collect();
    folded.dedup_by(|later, earlier| *later == BREAK && *earlier == BREAK);
    let is_inner = |byte: &u8| *byte != BREAK;
    let start = folded.iter().position(is_inner).unwrap_or(folded.len());
    let end = folded.iter().rposition(is_inner).map_or(start, |last| last + 1);
    folded[start..end].to_vec()
}

fn fold(byte: u8) -> u8 {
    match byte {
        b'\\' | b'\r' | b'\n' => BREAK,
        b' ' => b'+',
        byte => byte,
    }
}

fn ends_in_break(text: &[u8]) -> bool {
    text.last().is_some_and(|byte| fold(*byte) == BREAK)
}

fn break_end(text: &[u8], from: usize) -> usize {
    text[from..].iter().position(|byte| fold(*byte) != BREAK).map_or(text.len(), |length| from + length)
}

/// Which bytes a value may begin with: two of them as bits, and three by their hash.
#[derive(Debug)]
struct Beginnings {
    pairs: Box<[u64; 1 << 10]>,
    triples: Box<[u64; 1 << 10]>,
}

impl Beginnings {
    fn of(patterns: &[Pattern]) -> Beginnings {
        let mut beginnings = Beginnings { pairs: Box::new([0; 1 << 10]), triples: Box::new([0; 1 << 10]) };
        for Pattern { text, .. } in patterns {
            for first in spellings(text[0], false) {
                for second in spellings(text[1], true) {
                    set(&mut beginnings.pairs, pair(first, second));
                    for third in spellings(text[2], true) {
                        set(&mut beginnings.triples, triple(first, second, third));
                    }
                }
            }
        }
        beginnings
    }

    /// The next position where a value may begin.
    fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        let rest = text.get(from..)?;
        let found = rest.windows(3).position(|bytes| {
            has(&self.pairs, pair(bytes[0], bytes[1]))
                && (fold(bytes[1]) == BREAK || has(&self.triples, triple(bytes[0], bytes[1], bytes[2])))
        });
        // The last two bytes may be the beginning of a beginning.
        let found = found.unwrap_or(rest.len().saturating_sub(2));
        (found < rest.len()).then_some(from + found)
    }
}

/// What a byte of a pattern may be in a text; inside a value it may also be a line break that is to be passed over.
fn spellings(byte: u8, is_inside: bool) -> impl Iterator<Item = u8> {
    let breaks: &[u8] = if is_inside || byte == BREAK { b"\n\r\\" } else { b"" };
    let blank = (byte == fold(b' ')).then_some(b' ');
    breaks.iter().copied().chain(blank).chain([byte])
}

fn set(bits: &mut [u64; 1 << 10], index: usize) {
    bits[index >> 6] |= 1 << (index & 63);
}

fn has(bits: &[u64; 1 << 10], index: usize) -> bool {
    bits[index >> 6] & (1 << (index & 63)) != 0
}

fn pair(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

fn triple(first: u8, second: u8, third: u8) -> usize {
    let bytes = u32::from(first) << 16 | u32::from(second) << 8 | u32::from(third);
    (bytes.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

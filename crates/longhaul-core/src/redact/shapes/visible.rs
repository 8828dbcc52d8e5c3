//! The text as an eye sees it: without terminal sequences and characters of no width, and with escaped slashes and the like
//! taken back. Rules match on this; masks are carried over to the bytes as they are.
//!
//! Most text has none of that and is used as it stands.

use std::borrow::Cow;

use super::text::More;

/// A longer terminal sequence is taken for text.
const LONGEST_SEQUENCE: usize = 256;

/// Visible text and where its parts come from; half of something unseen at the end is left out.
#[derive(Debug)]
pub(super) struct Visible<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// Beginnings of stretches that lie together both here and in the raw text: (position here, position there).
    stretches: Vec<(usize, usize)>,
}

/// What stands at a byte that may be special.
enum Special {
    Plain,
    Unseen { length: usize },
    Escaped { byte: u8, length: usize },
    Unfinished,
}

impl<'a> Visible<'a> {
    pub(super) fn of(raw: &'a [u8], more: More) -> Visible<'a> {
        let Some(first) = next_special(raw, 0) else {
            return Visible { bytes: Cow::Borrowed(raw), stretches: vec![(0, 0)] };
        };
        let mut bytes = Vec::with_capacity(raw.len());
        let mut stretches = vec![(0, 0)];
        let (mut taken, mut at) = (0, Some(first));
        let mut raw_length = raw.len();
        while let Some(position) = at {
            let (length, seen) = match special(raw, position, more) {
                Special::Plain => {
                    at = next_special(raw, position + 1);
                    continue;
                }
                Special::Unfinished => {
                    raw_length = position;
                    break;
                }
                Special::Unseen { length } => (length, None),
                Special::Escaped { byte, length } => (length, Some(byte)),
            };
            bytes.extend_from_slice(&raw[taken..position]);
            if let Some(byte) = seen {
                stretches.push((bytes.len(), position));
                bytes.push(byte);
            }
            taken = position + length;
            stretches.push((bytes.len(), taken));
            at = next_special(raw, taken);
        }
        bytes.extend_from_slice(&raw[taken..raw_length.max(taken)]);
        Visible { bytes: Cow::Owned(bytes), stretches }
    }

    /// Where the byte at `position` comes from.
    pub(super) fn raw_start(&self, position: usize) -> usize {
        let index = self.stretches.partition_point(|(here, _)| *here <= position) - 1;
        let (here, there) = self.stretches[index];
        there + position - here
    }

    /// Behind the byte before `position`: unseen bytes between the two stay outside.
    pub(super) fn raw_end(&self, position: usize) -> usize {
        let Some(last) = position.checked_sub(1) else { return 0 };
        let index = self.stretches.partition_point(|(here, _)| *here <= last);
        let start = self.raw_start(last);
        // An escaped byte is longer there than here: it ends where the next stretch begins.
        match self.stretches.get(index) {
            Some((here, there)) if *here == position && self.is_escaped(last) => *there,
            Some(_) | None => start + 1,
        }
    }

    /// The first visible position that comes from `raw` or later.
    pub(super) fn first_from(&self, raw: usize) -> usize {
        let index = self.stretches.partition_point(|(_, there)| *there <= raw) - 1;
        let (here, there) = self.stretches[index];
        let limit = self.stretches.get(index + 1).map_or(self.bytes.len(), |(next, _)| *next);
        (here + raw - there).min(limit)
    }

    fn is_escaped(&self, position: usize) -> bool {
        let index = self.stretches.partition_point(|(here, _)| *here <= position);
        let stretch = self.stretches[index - 1];
        self.stretches.get(index).is_some_and(|next| next.0 - stretch.0 == 1 && next.1 - stretch.1 > 1)
    }
}

fn next_special(raw: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = raw.get(at..)?;
        let first = memchr::memchr3(0x1b, b'\\', 0xe2, rest);
        // Rare ones in a pass of their own, no further than the first of the others.
        let rare = memchr::memchr2(0xef, 0xc2, &rest[..first.unwrap_or(rest.len())]);
        at += rare.or(first)?;
        // Nearly all backslashes escape a line break or a quote.
        let is_common = raw[at] == b'\\' && matches!(raw.get(at + 1), Some(b'n' | b'"' | b't' | b'r'));
        if !is_common {
            return Some(at);
        }
        at += 2;
    }
}

fn special(raw: &[u8], at: usize, more: More) -> Special {
    let rest = &raw[at..];
    match rest[0] {
        0x1b => sequence(&rest[1..], 1, more),
        b'\\' => escape(rest, more),
        _ => no_width(rest, more),
    }
}

fn unfinished(more: More) -> Special {
    match more {
        More::MayCome => Special::Unfinished,
        More::Never => Special::Plain,
    }
}

/// Behind an escape byte of `before` bytes: a control sequence, a string up to its terminator, or one letter.
fn sequence(rest: &[u8], before: usize, more: More) -> Special {
    let unseen = |length: usize| Special::Unseen { length: before + length };
    let within = &rest[..rest.len().min(LONGEST_SEQUENCE)];
    let end = match rest.first() {
        None => return unfinished(more),
        Some(b'[') => within[1..].iter().position(|byte| !(0x20..=0x3f).contains(byte)).map(|end| end + 2),
        Some(b']' | b'P' | b'_' | b'^') => {
            within.iter().position(|byte| *byte == 0x07 || *byte == b'\\').map(|end| end + 1)
        }
        Some(b'(' | b')') => (rest.len() > 1).then_some(2),
        Some(0x40..=0x7e) => Some(1),
        Some(_) => return Special::Plain,
    };
    match end {
        Some(end) if (0x40..=0x7e).contains(&rest[end - 1]) || rest[end - 1] == 0x07 || rest[0] == b'(' => unseen(end),
        Some(_) => Special::Plain,
        None if within.len() < LONGEST_SEQUENCE => unfinished(more),
        None => Special::Plain,
    }
}

/// Backslashes, then `/`, or `u00` and two digits: the escape byte of a terminal, or a visible character.
fn escape(rest: &[u8], more: More) -> Special {
    let slashes = rest.iter().take(8).take_while(|byte| **byte == b'\\').count();
    match rest.get(slashes) {
        None => unfinished(more),
        Some(b'/') => Special::Escaped { byte: b'/', length: slashes + 1 },
        Some(b'u') => unicode_escape(&rest[slashes + 1..], slashes + 1, more),
        Some(_) => Special::Plain,
    }
}

fn unicode_escape(rest: &[u8], before: usize, more: More) -> Special {
    let Some(digits) = rest.get(..4) else { return unfinished(more) };
    let code = std::str::from_utf8(digits).ok().and_then(|digits| u32::from_str_radix(digits, 16).ok());
    match code {
        Some(0x1b) => sequence(&rest[4..], before + 4, more),
        Some(0x200b..=0x200f | 0x2060..=0x2064 | 0xfeff | 0xad) => Special::Unseen { length: before + 4 },
        Some(code) => match u8::try_from(code) {
            Ok(byte) if byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\') => {
                Special::Escaped { byte, length: before + 4 }
            }
            Ok(_) | Err(_) => Special::Plain,
        },
        None => Special::Plain,
    }
}

/// Zero-width spaces and joiners, marks of direction, soft hyphens.
fn no_width(rest: &[u8], more: More) -> Special {
    match rest {
        [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..] | [0xe2, 0x81, 0xa0..=0xa9, ..] | [0xef, 0xbb, 0xbf, ..] => {
            Special::Unseen { length: 3 }
        }
        [0xc2, 0xad, ..] => Special::Unseen { length: 2 },
        [0xe2 | 0xef | 0xc2] | [0xe2, 0x80 | 0x81] | [0xef, 0xbb] => unfinished(more),
        _ => Special::Plain,
    }
}

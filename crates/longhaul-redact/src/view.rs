//! The text as a reader means it: terminal sequences and characters of no width removed; backslash, percent and HTML
//! escapes decoded. All matching happens on this view, and every mask is mapped back to the raw bytes.
//!
//! Most text has nothing of that and is used as it is. The same view of a secret's value is what the value is found by.

use std::borrow::Cow;

/// A longer terminal sequence is taken for text.
const LONGEST_SEQUENCE: usize = 256;

/// Longer than every backslash, percent or HTML escape; more backslashes in a row are taken for text.
const LONGEST_ESCAPE: usize = 24;

/// HTML escapes by name; those by number are read as well.
const ENTITIES: [(&[u8], u8); 5] =
    [(b"amp;", b'&'), (b"lt;", b'<'), (b"gt;", b'>'), (b"quot;", b'"'), (b"apos;", b'\'')];

/// Whether the text may continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    MayCome,
    Never,
}

/// A text and where its parts come from. An escape that may not be complete is left out at the end.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    stretches: Vec<Stretch>,
}

/// A part of the view and where it begins in the raw text.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    here: usize,
    there: usize,
    /// One decoded escape: its bytes here come from all its bytes there.
    is_escape: bool,
}

/// What is found at a byte that may begin something special.
enum Special {
    Plain,
    Unseen { length: usize },
    Escape { decoded: char, length: usize },
    Byte { decoded: u8, length: usize },
    Unfinished,
}

impl<'a> View<'a> {
    pub(super) fn of(raw: &'a [u8], more: More) -> View<'a> {
        let mut specials = Specials::new(raw);
        let first = Stretch { here: 0, there: 0, is_escape: false };
        let Some(mut position) = specials.next_from(0) else {
            return View { bytes: Cow::Borrowed(raw), stretches: vec![first] };
        };
        let mut building = Building { raw, bytes: Vec::with_capacity(raw.len()), stretches: vec![first], taken: 0 };
        let mut end = raw.len();
        loop {
            let next = match special(&raw[position..], more) {
                Special::Plain => position + 1,
                Special::Unfinished => {
                    end = position;
                    break;
                }
                Special::Unseen { length } => building.replace(position, length, &[]),
                Special::Byte { decoded, length } => building.replace(position, length, &[decoded]),
                Special::Escape { decoded, length } => {
                    building.replace(position, length, decoded.encode_utf8(&mut [0; 4]).as_bytes())
                }
            };
            let Some(found) = specials.next_from(next) else { break };
            position = found;
        }
        building.finish(end)
    }

    /// Where the byte at `position` comes from.
    pub(super) fn raw_start(&self, position: usize) -> usize {
        let stretch = self.stretches[self.stretch_of(position)];
        if stretch.is_escape { stretch.there } else { stretch.there + position - stretch.here }
    }

    /// Behind the byte before `position`: unseen bytes between the two stay outside.
    pub(super) fn raw_end(&self, position: usize) -> usize {
        let Some(last) = position.checked_sub(1) else { return 0 };
        let index = self.stretch_of(last);
        let stretch = self.stretches[index];
        if stretch.is_escape { self.stretches[index + 1].there } else { stretch.there + position - stretch.here }
    }

    /// The first position that comes from `raw` or later.
    pub(super) fn first_from(&self, raw: usize) -> usize {
        let index = self.stretches.partition_point(|stretch| stretch.there <= raw) - 1;
        let Stretch { here, there, is_escape } = self.stretches[index];
        let end = self.stretches.get(index + 1).map_or(self.bytes.len(), |next| next.here);
        if is_escape && raw > there { end } else { (here + raw - there).min(end) }
    }

    /// Whether the byte before `position` was decoded.
    pub(super) fn is_escape_before(&self, position: usize) -> bool {
        position > 0 && self.stretches[self.stretch_of(position - 1)].is_escape
    }

    fn stretch_of(&self, position: usize) -> usize {
        self.stretches.partition_point(|stretch| stretch.here <= position) - 1
    }
}

/// A view under construction.
struct Building<'a> {
    raw: &'a [u8],
    bytes: Vec<u8>,
    stretches: Vec<Stretch>,
    taken: usize,
}

impl<'a> Building<'a> {
    /// Puts `decoded` in the place of the `length` raw bytes at `position`; returns the position behind them.
    fn replace(&mut self, position: usize, length: usize, decoded: &[u8]) -> usize {
        self.bytes.extend_from_slice(&self.raw[self.taken..position]);
        if !decoded.is_empty() {
            self.stretches.push(Stretch { here: self.bytes.len(), there: position, is_escape: true });
            self.bytes.extend_from_slice(decoded);
        }
        self.taken = position + length;
        self.stretches.push(Stretch { here: self.bytes.len(), there: self.taken, is_escape: false });
        self.taken
    }

    fn finish(mut self, end: usize) -> View<'a> {
        self.bytes.extend_from_slice(&self.raw[self.taken..end]);
        View { bytes: Cow::Owned(self.bytes), stretches: self.stretches }
    }
}

/// The positions of bytes that may begin something special, each group found by one fast search.
struct Specials<'a> {
    raw: &'a [u8],
    next: [Option<usize>; 3],
}

impl<'a> Specials<'a> {
    fn new(raw: &'a [u8]) -> Specials<'a> {
        Specials { raw, next: [0, 1, 2].map(|group| find_group(raw, group, 0)) }
    }

    fn next_from(&mut self, from: usize) -> Option<usize> {
        for (group, next) in self.next.iter_mut().enumerate() {
            if next.is_some_and(|next| next < from) {
                *next = find_group(self.raw, group, from);
            }
        }
        self.next.iter().flatten().min().copied()
    }
}

fn find_group(raw: &[u8], group: usize, from: usize) -> Option<usize> {
    let rest = raw.get(from..)?;
    let found = match group {
        0 => memchr::memchr2(b'\\', b'%', rest),
        1 => memchr::memchr2(b'&', 0x1b, rest),
        _ => memchr::memchr3(0xe2, 0xef, 0xc2, rest),
    };
    found.map(|at| from + at)
}

fn special(rest: &[u8], more: More) -> Special {
    match rest[0] {
        0x1b => sequence(&rest[1..], 1, more),
        b'\\' => backslash(rest, more),
        b'%' => percent(rest, more),
        b'&' => entity(rest, more),
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
        Some(end) if (0x40..=0x7e).contains(&rest[end - 1]) || rest[end - 1] == 0x07 || rest[0] == b'(' => {
            Special::Unseen { length: before + end }
        }
        Some(_) => Special::Plain,
        None if within.len() < LONGEST_SEQUENCE => unfinished(more),
        None => Special::Plain,
    }
}

/// Backslashes, however many layers of JSON and source have made of one, and what they escape.
fn backslash(rest: &[u8], more: More) -> Special {
    let slashes = match rest {
        [b'\\', b'\\', ..] => rest.iter().take(LONGEST_ESCAPE).take_while(|byte| **byte == b'\\').count(),
        _ => 1,
    };
    let length = slashes + 1;
    match rest.get(slashes) {
        None => unfinished(more),
        Some(b'n') => Special::Byte { decoded: b'\n', length },
        Some(b'r') => Special::Byte { decoded: b'\r', length },
        Some(b't') => Special::Byte { decoded: b'\t', length },
        Some(decoded @ (b'"' | b'\'' | b'`' | b'/')) => Special::Byte { decoded: *decoded, length },
        Some(b'u') => unicode_escape(rest, length, more),
        Some(_) => Special::Plain,
    }
}

/// What the view makes of `text` behind a backslash that escapes nothing, when the two look like an escape.
pub(super) fn decoded_behind_backslash(text: &[u8]) -> Option<Vec<u8>> {
    let (first, rest) = text.split_first()?;
    let decoded = match first {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    };
    Some([&[decoded], rest].concat())
}

fn unicode_escape(rest: &[u8], before: usize, more: More) -> Special {
    let Some(digits) = rest.get(before..before + 4) else { return unfinished(more) };
    let Some(code) = number(digits, 16) else { return Special::Plain };
    let length = before + 4;
    match code {
        0x1b => sequence(&rest[length..], length, more),
        0x200b..=0x200f | 0x2060..=0x2064 | 0xfeff | 0xad => Special::Unseen { length },
        0xd800..=0xdbff => low_surrogate(rest, code, length, before, more),
        // A quote or a backslash would be taken for one of the record.
        0x22 | 0x5c => Special::Plain,
        code => char::from_u32(code).map_or(Special::Plain, |decoded| Special::Escape { decoded, length }),
    }
}

/// The second half of a character beyond 16 bits, written like the first.
fn low_surrogate(rest: &[u8], high: u32, length: usize, before: usize, more: More) -> Special {
    let Some(second) = rest.get(length..length + before + 4) else { return unfinished(more) };
    let low = number(&second[before..], 16).filter(|low| (0xdc00..=0xdfff).contains(low));
    let code = low.map(|low| 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
    match code.and_then(char::from_u32) {
        Some(decoded) => Special::Escape { decoded, length: length + before + 4 },
        None => Special::Plain,
    }
}

fn percent(rest: &[u8], more: More) -> Special {
    match rest.get(1..3) {
        Some(digits) => match number(digits, 16).and_then(|code| u8::try_from(code).ok()) {
            Some(decoded) => Special::Byte { decoded, length: 3 },
            None => Special::Plain,
        },
        None if rest[1..].iter().all(u8::is_ascii_hexdigit) => unfinished(more),
        None => Special::Plain,
    }
}

fn entity(rest: &[u8], more: More) -> Special {
    let name = &rest[1..rest.len().min(9)];
    if name.first() == Some(&b'#') {
        return numbered_entity(name, more);
    }
    for (known, decoded) in ENTITIES {
        if name.starts_with(known) {
            return Special::Byte { decoded, length: 1 + known.len() };
        }
        if known.starts_with(name) {
            return unfinished(more);
        }
    }
    Special::Plain
}

fn numbered_entity(name: &[u8], more: More) -> Special {
    let Some(end) = name.iter().position(|byte| *byte == b';') else {
        return if name.len() < 8 && name[1..].iter().all(u8::is_ascii_alphanumeric) {
            unfinished(more)
        } else {
            Special::Plain
        };
    };
    let code = match &name[1..end] {
        [b'x' | b'X', digits @ ..] => number(digits, 16),
        digits => number(digits, 10),
    };
    match code.and_then(char::from_u32) {
        Some(decoded) => Special::Escape { decoded, length: end + 2 },
        None => Special::Plain,
    }
}

fn number(digits: &[u8], radix: u32) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u32::from_str_radix(digits, radix).ok()
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

//! The visible text a rule looks at: what is there so far, and whether more may come.
//! Made by `find` for each hit; rules only read it.

use super::charset::{Charset, HEX};

/// Part of a stream. Bytes before a hit are context: some may have been shown already.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) more: More,
}

/// Whether the text may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum More {
    MayCome,
    Never,
}

/// What a rule makes of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// More text changes nothing; masks, if any, were added.
    Decided,
    /// More text may change the answer; until then nothing from here on may be shown. Never behind the hit, which must be
    /// found again.
    Open { from: usize },
}

impl<'a> Text<'a> {
    pub(super) fn at(&self, position: usize) -> Option<u8> {
        self.bytes.get(position).copied()
    }

    pub(super) fn before(&self, position: usize) -> Option<u8> {
        position.checked_sub(1).and_then(|index| self.at(index))
    }

    /// Whether what begins at `position` has not arrived yet.
    pub(super) fn is_open_at(&self, position: usize) -> bool {
        position >= self.bytes.len() && self.more == More::MayCome
    }

    /// The end of the run of `charset` that begins at `from`.
    pub(super) fn run(&self, from: usize, charset: Charset) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        from + rest.iter().position(|byte| !charset.has(*byte)).unwrap_or(rest.len())
    }

    /// The beginning of the run of `charset` that ends at `end`, looking at `most` bytes. The letter of an escape such as
    /// `\n` is no part of it, so that a mask never leaves half an escape.
    pub(super) fn run_back(&self, end: usize, charset: Charset, most: usize) -> usize {
        let floor = end.saturating_sub(most);
        let start = (floor..end).rev().find(|index| !charset.has(self.bytes[*index])).map_or(floor, |index| index + 1);
        match (self.before(start), self.at(start)) {
            (Some(b'\\'), Some(b'u')) if self.run(start + 1, HEX) >= start + 5 => (start + 5).min(end),
            (Some(b'\\'), Some(b'n' | b'r' | b't' | b'b' | b'f')) if start < end => start + 1,
            (_, _) => start,
        }
    }

    pub(super) fn skip(&self, from: usize, most: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        from + rest.iter().take(most).take_while(|byte| wanted(**byte)).count()
    }

    /// Skips blanks of one line.
    pub(super) fn skip_blanks(&self, from: usize) -> usize {
        self.skip(from, 8, |byte| matches!(byte, b' ' | b'\t'))
    }

    /// Skips a quote and the backslashes that escape it; says which quote.
    pub(super) fn skip_quote(&self, from: usize) -> (usize, Option<u8>) {
        let at = self.skip(from, 8, |byte| byte == b'\\');
        match self.at(at) {
            Some(quote @ (b'"' | b'\'' | b'`')) => (at + 1, Some(quote)),
            Some(_) | None => (from, None),
        }
    }

    /// Whether a word may begin at `position`: no letter, digit or `_` stands before, unless it belongs to an escape.
    pub(super) fn is_word_start(&self, position: usize) -> bool {
        let Some(before) = self.before(position) else { return true };
        if !(before.is_ascii_alphanumeric() || before == b'_') {
            return true;
        }
        self.ends_escape(position)
    }

    /// Whether the byte before `position` is the letter of an escape such as `\n`.
    pub(super) fn ends_escape(&self, position: usize) -> bool {
        position >= 2
            && self.bytes[position - 2] == b'\\'
            && matches!(self.bytes[position - 1], b'n' | b't' | b'r' | b'b' | b'f' | b'0')
    }

    /// Whether one of `words` stands in the `most` bytes before `position`.
    pub(super) fn has_before(&self, position: usize, most: usize, word: &[u8]) -> bool {
        self.bytes[position.saturating_sub(most)..position].windows(word.len()).any(|window| window == word)
    }
}

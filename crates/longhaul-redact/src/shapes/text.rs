//! The text a rule looks at: the view of what has arrived so far, and whether more may come.
//! Made by `find` for each hit; rules only read it.

use super::charset::Charset;
use crate::view::More;

/// Part of a stream. Bytes before a hit are context: some may have been released already.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) more: More,
}

/// What a rule makes of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// More text changes nothing; masks, if any, were added.
    Decided,
    /// More text may change the answer; until then nothing from here on may be released. Never behind the hit, which must
    /// be found again.
    Open { from: usize },
}

impl Text<'_> {
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
    pub(crate) fn run(&self, from: usize, charset: Charset) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        from + rest.iter().position(|byte| !charset.has(*byte)).unwrap_or(rest.len())
    }

    /// The beginning of the run of `charset` that ends at `end`, looking at `most` bytes.
    pub(super) fn run_back(&self, end: usize, charset: Charset, most: usize) -> usize {
        let floor = end.saturating_sub(most);
        (floor..end).rev().find(|index| !charset.has(self.bytes[*index])).map_or(floor, |index| index + 1)
    }

    pub(super) fn skip(&self, from: usize, most: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        from + rest.iter().take(most).take_while(|byte| wanted(**byte)).count()
    }

    /// Skips blanks of one line.
    pub(super) fn skip_blanks(&self, from: usize) -> usize {
        self.skip(from, 8, |byte| matches!(byte, b' ' | b'\t'))
    }

    /// Skips a quote; says which.
    pub(super) fn skip_quote(&self, from: usize) -> (usize, Option<u8>) {
        match self.at(from) {
            Some(quote @ (b'"' | b'\'' | b'`')) => (from + 1, Some(quote)),
            Some(_) | None => (from, None),
        }
    }

    /// Whether a word may begin at `position`: no letter, digit or `_` is before it.
    pub(super) fn is_word_start(&self, position: usize) -> bool {
        !self.before(position).is_some_and(|before| before.is_ascii_alphanumeric() || before == b'_')
    }

    /// Whether `word` is in the `most` bytes before `position`.
    pub(super) fn has_before(&self, position: usize, most: usize, word: &[u8]) -> bool {
        memchr::memmem::find(&self.bytes[position.saturating_sub(most)..position], word).is_some()
    }

    /// Whether what ends at `end` is followed by code: a call, a type, a block. The end of an HTML element is not code.
    pub(super) fn is_code_at(&self, end: usize) -> bool {
        match self.at(end) {
            Some(b'(' | b'[' | b'{') => true,
            Some(b'<') => self.at(end + 1) != Some(b'/'),
            Some(_) | None => false,
        }
    }
}

/// Whether a run has digits or letters of both cases, as random characters do and most words do not.
pub(super) fn looks_drawn(run: &[u8]) -> bool {
    run.iter().any(u8::is_ascii_digit) || has_both_cases(run)
}

pub(super) fn has_both_cases(run: &[u8]) -> bool {
    run.iter().filter(|byte| byte.is_ascii_uppercase()).count() >= 2 && run.iter().any(u8::is_ascii_lowercase)
}

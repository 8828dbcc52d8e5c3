//! One line of JSON that carries a piece of a longer text, in any dialect: the piece, and which text it belongs to.
//!
//! A record says itself that it is a piece: `delta` or `chunk` is in the name of a field or in the kind of the record, not merely
//! in what it reports. Texts are distinguished by the kind and the item the record names, not by its own id or time.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Names of the fields that hold a piece, the surest last.
const TEXT_FIELDS: [&[u8]; 8] =
    [b"output", b"arguments", b"content", b"partial_json", b"thinking", b"text", b"chunk", b"delta"];

/// Fields that tell one text from another.
const KIND_FIELDS: [&[u8]; 11] = [
    b"type",
    b"method",
    b"object",
    b"index",
    b"contentIndex",
    b"itemId",
    b"item_id",
    b"partID",
    b"sessionUpdate",
    b"role",
    b"output_index",
];

/// A piece of text in a line.
#[derive(Debug)]
pub(super) struct FoundPiece {
    /// The same for all pieces of one text.
    pub(super) text_id: u64,
    /// The string in the line, with its quotes.
    pub(super) span: Range<usize>,
    /// The string without escapes.
    pub(super) text: String,
}

/// Reads the piece that `line` carries, if it is such a record.
pub(super) fn piece_of(line: &[u8]) -> Option<FoundPiece> {
    let mut found: Option<(usize, Range<usize>)> = None;
    let mut is_piece = false;
    let mut text_id = DefaultHasher::new();
    let mut fields = Fields { line, at: 0, name: &[] };
    while let Some((name, span)) = fields.next_scalar(&mut is_piece) {
        if KIND_FIELDS.contains(&name) {
            is_piece |= says_piece(&line[span.clone()]);
            (name, &line[span]).hash(&mut text_id);
        } else if let Some(rank) = TEXT_FIELDS.iter().position(|field| *field == name) {
            let is_string = line[span.start] == b'"';
            if is_string && found.as_ref().is_none_or(|(best, _)| rank >= *best) {
                found = Some((rank, span));
            }
        }
    }
    let (rank, span) = found.filter(|_| is_piece)?;
    rank.hash(&mut text_id);
    let text = serde_json::from_slice(&line[span.clone()]).ok()?;
    Some(FoundPiece { text_id: text_id.finish(), span, text })
}

fn says_piece(name: &[u8]) -> bool {
    let says = |word: &[u8]| name.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word));
    name.len() <= LONGEST_KIND && (says(b"delta") || says(b"chunk"))
}

/// Longer texts are no names of anything.
const LONGEST_KIND: usize = 64;

/// Goes through the strings and numbers of a line with the names of their fields.
struct Fields<'a> {
    line: &'a [u8],
    at: usize,
    name: &'a [u8],
}

impl<'a> Fields<'a> {
    fn next_scalar(&mut self, is_piece: &mut bool) -> Option<(&'a [u8], Range<usize>)> {
        loop {
            let start =
                self.at + self.line.get(self.at..)?.iter().position(|byte| *byte == b'"' || byte.is_ascii_digit())?;
            if self.line[start] != b'"' {
                let rest = &self.line[start..];
                self.at = start + rest.iter().position(|byte| b",}] \n\"".contains(byte)).unwrap_or(rest.len());
                return Some((self.name, start..self.at));
            }
            let end = string_end(self.line, start)?;
            self.at = end;
            let next = self.line[end..].iter().find(|byte| !byte.is_ascii_whitespace());
            if next != Some(&b':') {
                return Some((self.name, start..end));
            }
            self.name = &self.line[start + 1..end - 1];
            *is_piece |= says_piece(self.name);
        }
    }
}

/// The position behind the quote that ends the string beginning at `start`.
fn string_end(line: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', line.get(at..)?)?;
        if line[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

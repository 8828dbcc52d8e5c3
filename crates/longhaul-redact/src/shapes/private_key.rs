//! Private keys between `-----BEGIN` and `-----END`, PEM and PGP, whole or cut off.
//!
//! The fences are public and stay; what is between them is masked. A key without its end extends as long as lines look like
//! one. Quotes and what joins strings stay as well, so that JSON remains JSON.

use super::charset::STANDARD_BASE64;
use super::literals::Hit;
use super::text::{Reading, Text};
use crate::find::Mask;

const FENCE: &[u8] = b"-----";
const LONGEST_LABEL: usize = 80;

/// A shorter run before something else in its line may be a word.
const SHORTEST_CUT_LINE: usize = 8;

/// A shorter string of a list may be the name of the next field.
const SHORTEST_QUOTED_LINE: usize = 16;

pub(super) fn read(text: &Text<'_>, hit: Hit, masks: &mut Vec<Mask>) -> Reading {
    let is_label_byte = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
    let label = text.skip(hit.end, LONGEST_LABEL, is_label_byte);
    if text.is_open_at(label + FENCE.len() - 1) {
        return Reading::Open { from: hit.start };
    }
    let is_private = text.bytes[hit.end..label].windows(11).any(|window| window == b"PRIVATE KEY");
    if !is_private || !text.bytes[label..].starts_with(FENCE) {
        return Reading::Decided;
    }
    read_body(text, hit, label + FENCE.len(), masks)
}

enum Piece {
    /// A line such as `Proc-Type: 4,ENCRYPTED` before the key itself.
    Header,
    Key,
    /// Part of the key, but what follows is not.
    LastOfKey,
    Foreign,
}

/// Goes from piece to piece: runs of base64 are masked with the line breaks between them.
fn read_body(text: &Text<'_>, hit: Hit, from: usize, masks: &mut Vec<Mask>) -> Reading {
    let open = Reading::Open { from: hit.start };
    let (mut at, mut masked): (usize, Option<Mask>) = (from, None);
    let mut finished = Vec::new();
    loop {
        let glue = skip_glue(text, at);
        let end = text.run(glue.end, STANDARD_BASE64);
        if text.is_open_at(glue.end + FENCE.len() - 1) || text.is_open_at(end + 1) {
            return open;
        }
        if glue.has_quote {
            finished.extend(masked.take());
        }
        let is_first = masked.is_none() && finished.is_empty();
        match piece(text, &glue, end, is_first) {
            Piece::Header => {
                at = text.skip(end, usize::MAX, |byte| !matches!(byte, b'\n' | b'\r' | b'\\' | b'"'));
                continue;
            }
            Piece::Foreign => break,
            kind @ (Piece::Key | Piece::LastOfKey) => {
                let start = masked.map_or(glue.end, |mask| mask.start);
                masked = Some(Mask::shape(start, end, "private-key"));
                if matches!(kind, Piece::LastOfKey) {
                    break;
                }
            }
        }
        at = end;
    }
    // Documentation writes `XXXX` for a key.
    let is_filler = |byte: &u8| !byte.is_ascii_alphanumeric() || byte.eq_ignore_ascii_case(&b'x');
    let found = finished.into_iter().chain(masked);
    masks.extend(found.filter(|mask| !text.bytes[mask.start..mask.end].iter().all(is_filler)));
    Reading::Decided
}

fn piece(text: &Text<'_>, glue: &Glue, end: usize, is_first: bool) -> Piece {
    let run = &text.bytes[glue.end..end];
    let is_drawn = run.iter().any(|byte| !byte.is_ascii_lowercase());
    let ends_line = !matches!(text.at(end), Some(b' ' | b'.' | b':' | b'(' | b'_'));
    if is_first && is_header(text, glue.end) {
        Piece::Header
    } else if run.is_empty() || (glue.has_quote && !(is_drawn && run.len() >= SHORTEST_QUOTED_LINE)) {
        Piece::Foreign
    } else if ends_line {
        Piece::Key
    } else if is_drawn && run.len() >= SHORTEST_CUT_LINE {
        Piece::LastOfKey
    } else {
        Piece::Foreign
    }
}

fn is_header(text: &Text<'_>, at: usize) -> bool {
    let name = text.skip(at, 24, |byte| byte.is_ascii_alphabetic() || byte == b'-');
    name > at
        && text.bytes[at..name].first().is_some_and(u8::is_ascii_uppercase)
        && text.bytes[name..].starts_with(b": ")
}

struct Glue {
    end: usize,
    has_quote: bool,
}

/// Line breaks, indents, the signs of a diff or a margin, and the quotes and commas of a list of strings.
fn skip_glue(text: &Text<'_>, from: usize) -> Glue {
    let (mut end, mut has_quote) = (from, false);
    while let Some(byte) = text.at(end) {
        let next = text.at(end + 1);
        end += match (byte, next) {
            (b'+', Some(b' ' | b'"')) => 1,
            (b'\n' | b'\r' | b' ' | b'\t' | b'|' | b'>' | b'#' | b'*' | b'\\' | 0x80.., _) => 1,
            (b'-', Some(after)) if after != b'-' => 1,
            (b'"' | b'\'' | b',' | b';', _) => {
                has_quote = true;
                1
            }
            _ => break,
        };
    }
    Glue { end, has_quote }
}

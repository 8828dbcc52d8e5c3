//! Tokens that start with their own prefix: the prefix, then a run of the format's characters.
//!
//! There is no trailing boundary and no greatest length. A telling prefix needs eight characters that look random; a common one
//! the format's full length.

use super::charset::{ALNUM, BASE64};
use super::literals::Hit;
use super::run::{Lengths, Run};
use super::table::{Before, Format, Prefix};
use super::text::{Reading, Text, has_both_cases, looks_drawn};
use super::words::is_words;
use crate::find::Mask;

/// From here on a run gives something away.
const SHORTEST_RUN: usize = 8;

/// A prefix inside so long a run of base64 is chance, not a token.
const SHORTEST_BLOB: usize = 48;

/// Longer than the lines that base64 is written in.
const LONGEST_BLOB_LINE: usize = 128;

/// As before, for prefixes that chance brings about more easily.
const SHORTEST_LIKELY_BLOB: usize = 16;

pub(super) fn read(text: &Text<'_>, hit: Hit, format: &'static Format, masks: &mut Vec<Mask>) -> Reading {
    if !may_begin(text, hit, format) {
        return Reading::Decided;
    }
    let run = Run::of(text, hit.start..hit.end, format.charset, Lengths { least: format.least, usual: format.usual });
    if run.is_open() {
        return Reading::Open { from: hit.start };
    }
    let dots = run.trailing_dots();
    let is_glued = format.before == Before::NoBlob && !text.is_word_start(hit.start);
    if is_glued && matches!(text.at(run.end), Some(b'/' | b'+')) {
        return Reading::Decided;
    }
    if is_token(&run.characters[..run.characters.len() - dots], format, is_glued) {
        masks.push(Mask::shape(hit.start, run.end - dots, format.name));
    }
    Reading::Decided
}

fn may_begin(text: &Text<'_>, hit: Hit, format: &Format) -> bool {
    let before = text.before(hit.start);
    let allowed = match format.before {
        Before::Anything => true,
        Before::NoEnglish => !before.is_some_and(|byte| b"aeiouAEIOU".contains(&byte)) || is_long_mixed(text, hit),
        Before::NoUpper => !before.is_some_and(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()),
        Before::NoBlob => !is_inside_blob(text, hit, SHORTEST_LIKELY_BLOB) && !is_in_lines_of_blob(text, hit),
    };
    allowed && !is_inside_blob(text, hit, SHORTEST_BLOB)
}

/// No English word is followed by so long a run with letters of both cases and digits.
fn is_long_mixed(text: &Text<'_>, hit: Hit) -> bool {
    let run = &text.bytes[hit.end..text.run(hit.end, ALNUM)];
    run.len() >= 20
        && run.iter().any(u8::is_ascii_digit)
        && run.iter().any(u8::is_ascii_uppercase)
        && run.iter().any(u8::is_ascii_lowercase)
}

fn is_inside_blob(text: &Text<'_>, hit: Hit, shortest: usize) -> bool {
    let is_plain = text.bytes[hit.start..hit.end].iter().all(u8::is_ascii_alphanumeric);
    is_plain && hit.start - text.run_back(hit.start, BASE64, shortest) >= shortest - 1
}

/// Whether the two lines before are part of a blob that continues here; one alone may be another token.
fn is_in_lines_of_blob(text: &Text<'_>, hit: Hit) -> bool {
    let mut line = text.run_back(hit.start, BASE64, SHORTEST_BLOB);
    !text.is_word_start(hit.start)
        && (0..2).all(|_| {
            let end = text.bytes[..line].strip_suffix(b"\n").map_or(0, <[u8]>::len);
            line = text.run_back(end, BASE64, LONGEST_BLOB_LINE);
            end - line >= SHORTEST_BLOB
        })
}

fn is_token(run: &[u8], format: &Format, is_glued: bool) -> bool {
    let length = run.len();
    let is_digest = matches!(length, 40 | 64) && run.iter().all(u8::is_ascii_hexdigit);
    if !format.inner.iter().all(|(at, separator)| run.get(*at) == Some(separator)) {
        return false;
    }
    match format.prefix {
        Prefix::Telling => length >= format.least || (length >= SHORTEST_RUN && looks_drawn(run)),
        Prefix::Exact => length >= format.least && has_many_letters(run),
        Prefix::Common if is_glued => length >= format.least && looks_mixed(run),
        Prefix::Common => length >= format.least && looks_drawn(run) && !is_digest,
    }
}

/// Letters of both cases that make no words, and no letter that makes up a third of it, as zeros in base64 do.
fn looks_mixed(run: &[u8]) -> bool {
    let beginning = &run[..run.len().min(SHORTEST_BLOB)];
    let zeros = beginning.iter().filter(|byte| **byte == b'A').count();
    zeros * 3 < beginning.len() && has_both_cases(run) && !is_words(run)
}

/// Genes are written with four letters.
fn has_many_letters(run: &[u8]) -> bool {
    let mut letters = run.to_vec();
    letters.sort_unstable();
    letters.dedup();
    letters.len() > 5
}

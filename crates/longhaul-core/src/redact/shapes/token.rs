//! Tokens that begin with a prefix of their own: the prefix, then a run of the format's characters.
//!
//! There is no trailing boundary and no greatest length. A telling prefix needs eight characters that look drawn at random; a
//! common one the format's full length. A run cut by a line break before its usual length goes on in the next line.

use super::charset::{ALNUM, BASE64, Charset};
use super::find::Mask;
use super::literals::Hit;
use super::table::{Before, Format, Prefix};
use super::text::{Reading, Text};

/// From here on a run gives something away.
const SHORTEST_RUN: usize = 8;

/// A prefix inside so long a run of base64 is chance, not a token.
const SHORTEST_BLOB: usize = 48;

/// How long wrapped lines are.
const FULL_LINE: std::ops::Range<usize> = 72..133;

pub(super) fn read(text: &Text<'_>, hit: Hit, format: &'static Format, masks: &mut Vec<Mask>) -> Reading {
    if !may_begin(text, hit, format) {
        return Reading::Decided;
    }
    let run = Run::of(text, hit.end, format.charset, format.usual);
    if run.is_open(text) {
        return Reading::Open { from: hit.start };
    }
    let dots = run.trailing_dots();
    let end = run.end - dots;
    if is_token(&run.characters[..run.characters.len() - dots], format) {
        masks.push(Mask { start: hit.start, end, rule: format.name, from: 0 });
    }
    Reading::Decided
}

/// A run, over line breaks that cut it.
pub(super) struct Run {
    pub(super) end: usize,
    /// Without the line breaks.
    pub(super) characters: Vec<u8>,
}

impl Run {
    pub(super) fn of(text: &Text<'_>, from: usize, charset: Charset, usual: usize) -> Run {
        let mut end = run_with_percent(text, from, charset);
        let mut characters = text.bytes[from..end].to_vec();
        while !characters.is_empty() && (characters.len() < usual || is_full_line(text, end)) {
            let Some(next) = after_line_break(text, end) else { break };
            let next_end = run_with_percent(text, next, charset);
            if next_end == next && !text.is_open_at(next) {
                break;
            }
            characters.extend_from_slice(&text.bytes[next..next_end]);
            end = next_end;
        }
        Run { end, characters }
    }

    /// How many dots of a sentence stand at the end.
    pub(super) fn trailing_dots(&self) -> usize {
        self.characters.iter().rev().take_while(|byte| **byte == b'.').count()
    }

    /// Whether it may go on with text that has not arrived.
    pub(super) fn is_open(&self, text: &Text<'_>) -> bool {
        text.is_open_at(self.end) || may_become_line_break(text, self.end)
    }
}

/// Whether the line that ends here was wrapped, as terminals and mails do.
fn is_full_line(text: &Text<'_>, end: usize) -> bool {
    let line = text.bytes[..end].iter().rev().take(FULL_LINE.end).take_while(|byte| **byte != b'\n').count();
    FULL_LINE.contains(&line)
}

/// Base64 in a URL has `%2B` for `+` and the like.
fn run_with_percent(text: &Text<'_>, from: usize, charset: Charset) -> usize {
    let mut end = text.run(from, charset);
    while charset == BASE64 && text.at(end) == Some(b'%') {
        let digits = text.bytes.get(end + 1..end + 3);
        if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            break;
        }
        end = text.run(end + 3, charset);
    }
    end
}

/// As they are and as escapes.
const LINE_BREAKS: [&[u8]; 4] = [b"\r\n", b"\n", b"\\r\\n", b"\\n"];

/// The position behind a line break at `at`.
fn after_line_break(text: &Text<'_>, at: usize) -> Option<usize> {
    let rest = text.bytes.get(at..)?;
    LINE_BREAKS.iter().find(|it| rest.starts_with(it)).map(|it| at + it.len())
}

fn may_become_line_break(text: &Text<'_>, at: usize) -> bool {
    let rest = &text.bytes[at..];
    text.is_open_at(text.bytes.len()) && LINE_BREAKS.iter().any(|it| it.len() > rest.len() && it.starts_with(rest))
}

fn may_begin(text: &Text<'_>, hit: Hit, format: &Format) -> bool {
    let before = if text.ends_escape(hit.start) { None } else { text.before(hit.start) };
    let allowed = match format.before {
        Before::Anything => true,
        Before::NoEnglish => !before.is_some_and(|byte| b"aeiouAEIOU".contains(&byte)) || is_long_mixed(text, hit),
        Before::NoUpper => !before.is_some_and(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()),
        Before::NoWord => !before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
    };
    allowed && !is_inside_blob(text, hit)
}

/// No English word is followed by so long a run with letters of both cases and digits.
fn is_long_mixed(text: &Text<'_>, hit: Hit) -> bool {
    let run = &text.bytes[hit.end..text.run(hit.end, ALNUM)];
    run.len() >= 20
        && run.iter().any(u8::is_ascii_digit)
        && run.iter().any(u8::is_ascii_uppercase)
        && run.iter().any(u8::is_ascii_lowercase)
}

fn is_inside_blob(text: &Text<'_>, hit: Hit) -> bool {
    let is_plain = text.bytes[hit.start..hit.end].iter().all(u8::is_ascii_alphanumeric);
    is_plain && hit.start - text.run_back(hit.start, BASE64, SHORTEST_BLOB) >= SHORTEST_BLOB - 1
}

fn is_token(run: &[u8], format: &Format) -> bool {
    let looks_drawn = run.iter().any(u8::is_ascii_digit) || has_both_cases(run);
    let length = run.len();
    let is_digest = matches!(run.len(), 40 | 64) && run.iter().all(u8::is_ascii_hexdigit);
    if !format.inner.iter().all(|(at, separator)| run.get(*at) == Some(separator)) {
        return false;
    }
    match format.prefix {
        Prefix::Telling => length >= format.least || (length >= SHORTEST_RUN && looks_drawn),
        Prefix::Exact => length >= format.least,
        Prefix::Common => length >= format.least && looks_drawn && !is_digest,
    }
}

fn has_both_cases(run: &[u8]) -> bool {
    run.iter().filter(|byte| byte.is_ascii_uppercase()).count() >= 2 && run.iter().any(u8::is_ascii_lowercase)
}

//! `scheme://user:password@host`: the password, or a long user name without a password, as tokens are used.
//! Called by `find` at `://`; what documentation writes for a password stays.

use super::charset::USERINFO;
use super::literals::Hit;
use super::text::{Reading, Text};
use super::value::{is_one_character, is_reference};
use super::words::is_dictionary_words;
use crate::find::Mask;

/// Longer than any user and password.
const LONGEST_USERINFO: usize = 1024;

/// A user name alone counts as a token only from this length on; shorter ones are people and services.
const SHORTEST_TOKEN_USER: usize = 16;

/// Shorter passwords are those of examples.
const SHORTEST_PASSWORD: usize = 4;

pub(super) fn read(text: &Text<'_>, hit: Hit, masks: &mut Vec<Mask>) -> Reading {
    if !text.before(hit.start).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return Reading::Decided;
    }
    let user_end = text.skip(hit.end, LONGEST_USERINFO, |byte| USERINFO.has(byte) && byte != b':');
    let (start, end) = match text.at(user_end) {
        Some(b':') => (user_end + 1, password_end(text, user_end + 1)),
        _ => (hit.end, user_end),
    };
    if text.is_open_at(end) && end - start < LONGEST_USERINFO {
        return Reading::Open { from: hit.start };
    }
    let part = &text.bytes[start..end];
    if text.at(end) == Some(b'@') && if start > hit.end { is_password(part) } else { is_token(part) } {
        masks.push(Mask::shape(start, end, "url-password"));
    }
    Reading::Decided
}

/// Where the `@` before the host is. A password may have `/`, `@` and the like in it, escaped or not; a port may not.
fn password_end(text: &Text<'_>, start: usize) -> usize {
    let digits = text.skip(start, 6, |byte| byte.is_ascii_digit());
    let is_port = matches!(text.at(digits), Some(b'/' | b'?' | b'#'));
    let is_part = |byte: u8| USERINFO.has(byte) || (b"/#".contains(&byte) && !is_port);
    let mut end = text.skip(start, LONGEST_USERINFO, is_part);
    loop {
        // Between this and a later one could be the host, or more of the password.
        let next = text.skip(end + 1, LONGEST_USERINFO, |byte| USERINFO.has(byte) && !b"?:,".contains(&byte));
        if text.at(end) != Some(b'@') || text.at(next) != Some(b'@') {
            return if text.is_open_at(next) { next } else { end };
        }
        end = next;
    }
}

fn is_password(part: &[u8]) -> bool {
    part.len() >= SHORTEST_PASSWORD && part[0] != b'/' && !is_example(part)
}

fn is_token(part: &[u8]) -> bool {
    part.len() >= SHORTEST_TOKEN_USER && !is_example(part) && part.iter().any(u8::is_ascii_digit)
}

/// What documentation and tests write for a password, and what programs put one in place of.
pub(super) fn is_example(part: &[u8]) -> bool {
    part[0] == b'$'
        || part.iter().any(|byte| b"[](|".contains(byte))
        || is_one_character(part)
        || is_dictionary_words(part)
        || is_reference(part)
}

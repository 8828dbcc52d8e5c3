//! `scheme://user:password@host`: the password, or a long user name that stands alone, as tokens do.
//! Called by `find` at `://`; what documentation writes for a password stays.

use super::charset::USERINFO;
use super::literals::Hit;
use super::text::{Reading, Text};
use crate::redact::find::Mask;

/// Longer than any user and password.
const LONGEST_USERINFO: usize = 1024;

/// A user name alone counts as a token only from this length on; shorter ones are people and services.
const SHORTEST_TOKEN_USER: usize = 16;

/// Shorter passwords are those of examples.
const SHORTEST_PASSWORD: usize = 3;

pub(super) fn read(text: &Text<'_>, hit: Hit, masks: &mut Vec<Mask>) -> Reading {
    if !text.before(hit.start).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return Reading::Decided;
    }
    let at_sign = text.run(hit.end, USERINFO);
    if at_sign - hit.end > LONGEST_USERINFO {
        return Reading::Decided;
    }
    if text.is_open_at(at_sign) {
        return Reading::Open { from: hit.start };
    }
    if text.at(at_sign) == Some(b'@') {
        let userinfo = &text.bytes[hit.end..at_sign];
        let colon = userinfo.iter().position(|byte| *byte == b':');
        let start = colon.map_or(hit.end, |colon| hit.end + colon + 1);
        if is_secret(&text.bytes[start..at_sign], colon) {
            masks.push(Mask::shape(start, at_sign, "url-password"));
        }
    }
    Reading::Decided
}

fn is_secret(part: &[u8], colon: Option<usize>) -> bool {
    let is_placeholder = part.iter().any(|byte| b"$[](|*".contains(byte)) || is_example(part);
    match colon {
        Some(_) => part.len() >= SHORTEST_PASSWORD && !is_placeholder,
        None => part.len() >= SHORTEST_TOKEN_USER && !is_placeholder && part.iter().any(u8::is_ascii_digit),
    }
}

/// What documentation writes for a password.
pub(super) fn is_example(part: &[u8]) -> bool {
    let known: [&[u8]; 9] =
        [b"password", b"pass", b"passwd", b"pwd", b"secret", b"token", b"xxx", b"redacted", b"port"];
    known.iter().any(|word| part.eq_ignore_ascii_case(word)) || part.iter().all(|byte| *byte == part[0])
}

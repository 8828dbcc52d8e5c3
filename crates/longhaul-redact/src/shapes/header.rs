//! Headers of HTTP as people and programs print them: Authorization and Proxy-Authorization, bearer tokens, cookies. An
//! `x-api-key` is an assignment.

use super::charset::VALUE;
use super::literals::Hit;
use super::run::Run;
use super::text::{Reading, Text};
use super::url::is_example;
use super::value::{SHORTEST_VALUE, decoded_text, is_reference};
use super::words::is_words;
use crate::find::Mask;

const SCHEMES: [&[u8]; 7] = [b"Bearer", b"Basic", b"Token", b"Digest", b"Negotiate", b"ApiKey", b"AWS4-HMAC-SHA256"];

/// A bearer token outside a header may be a word about bearer tokens.
const SHORTEST_BEARER: usize = 16;

/// What a cookie says about itself.
const COOKIE_ATTRIBUTES: [&[u8]; 6] = [b"path", b"domain", b"expires", b"max-age", b"samesite", b"priority"];

pub(super) fn read_authorization(text: &Text<'_>, hit: Hit, masks: &mut Vec<Mask>) -> Reading {
    let open = Reading::Open { from: hit.start };
    let Some(start) = value_start(text, hit) else {
        return if text.is_open_at(hit.end + 16) && is_all_signs(text, hit.end) { open } else { Reading::Decided };
    };
    let after_scheme = after_scheme(text, start);
    let (start, has_scheme) = (after_scheme, after_scheme > start);
    let run = Run::of_value(text, start..text.run(start, VALUE), None);
    if run.is_open() || text.is_open_at(run.end + 1) {
        return open;
    }
    let end = run.end;
    // Without a scheme it may be a variable, and the name a part of another.
    let is_header = text.is_word_start(hit.start) && run.characters.iter().any(u8::is_ascii_digit);
    let is_drawn = has_scheme || (is_header && !is_reference(&run.characters) && !is_words(&run.characters));
    if is_drawn && !is_example_login(&run.characters) && is_credential(&run.characters) && !text.is_code_at(end) {
        masks.push(Mask::shape(start, end, "authorization"));
    }
    Reading::Decided
}

pub(super) fn read_bearer(text: &Text<'_>, hit: Hit, masks: &mut Vec<Mask>) -> Reading {
    let start = text.skip_blanks(hit.end);
    let run = Run::of_value(text, start..text.run(start, VALUE), None);
    if run.is_open() {
        return Reading::Open { from: hit.start };
    }
    let (end, value) = (run.end, run.characters.as_slice());
    if start > hit.end && value.len() >= SHORTEST_BEARER && value.iter().any(u8::is_ascii_digit) && is_credential(value)
    {
        masks.push(Mask::shape(start, end, "authorization"));
    }
    Reading::Decided
}

/// The value of each `name=value` of the header.
pub(super) fn read_cookies(text: &Text<'_>, hit: Hit, masks: &mut Vec<Mask>) -> Reading {
    let open = Reading::Open { from: hit.start };
    let Some(mut at) = value_start(text, hit) else {
        return if text.is_open_at(hit.end + 16) && is_all_signs(text, hit.end) { open } else { Reading::Decided };
    };
    loop {
        let run = Run::of_value(text, at..text.run(at, VALUE), None);
        if run.is_open() || text.is_open_at(run.end + 1) {
            return open;
        }
        let (name_end, pair) = (run.end, &run.characters);
        if let Some(equals) = pair.iter().position(|byte| *byte == b'=') {
            let (name, value) = (&pair[..equals], &pair[equals + 1..]);
            let is_attribute = COOKIE_ATTRIBUTES.iter().any(|known| name.eq_ignore_ascii_case(known));
            if !is_attribute && value.len() >= SHORTEST_VALUE && !is_words(value) {
                masks.push(Mask::shape(at + equals + 1, name_end, "cookie"));
            }
        }
        if text.at(name_end) != Some(b';') {
            return Reading::Decided;
        }
        at = text.skip_blanks(name_end + 1);
    }
}

/// Where the value begins: behind a colon or `=`, with quotes around name or value.
fn value_start(text: &Text<'_>, hit: Hit) -> Option<usize> {
    let (name_end, _) = text.skip_quote(hit.end);
    let sign = text.skip_blanks(name_end);
    let value = text.skip_blanks(sign + 1);
    text.at(value)?;
    let (start, quote) = text.skip_quote(value);
    match text.at(sign)? {
        b':' | b'=' => Some(start),
        // As arguments of a call.
        b',' if quote.is_some() => Some(start),
        _ => None,
    }
}

fn is_all_signs(text: &Text<'_>, from: usize) -> bool {
    text.bytes[from..].iter().all(|byte| b"\"'` \t=:,".contains(byte))
}

fn after_scheme(text: &Text<'_>, start: usize) -> usize {
    let rest = &text.bytes[start..];
    let scheme = SCHEMES.iter().find(|scheme| {
        rest.len() > scheme.len() && rest[..scheme.len()].eq_ignore_ascii_case(scheme) && rest[scheme.len()] == b' '
    });
    scheme.map_or(start, |scheme| text.skip_blanks(start + scheme.len()))
}

/// `user:password` of an example, in base64.
fn is_example_login(value: &[u8]) -> bool {
    decoded_text(value).is_some_and(|login| {
        let colon = login.iter().position(|byte| *byte == b':').unwrap_or(login.len());
        let password = &login[login.len().min(colon + 1)..];
        password.is_empty() || is_example(password)
    })
}

/// Words are no credentials.
fn is_credential(value: &[u8]) -> bool {
    value.len() >= SHORTEST_VALUE
        && !matches!(value[0], b'$' | b'%' | b'*' | b':' | b'.')
        && value.iter().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase() || *byte == b'=')
        && !value[1..].iter().all(|byte| byte.is_ascii_lowercase() || b".=".contains(byte))
        && !value.windows(2).any(|pair| pair == b"::" || pair == b"//")
}

//! The data of a Kubernetes Secret, as YAML or JSON: the base64 values behind `data:` where `kind: Secret` or `apiVersion` stands
//! close before. Values of other objects in the same place are masked only when they are base64 with padding or of both cases.

use super::charset::{DOTTED, STANDARD_BASE64};
use super::literals::Hit;
use super::text::{Reading, Text};
use crate::find::Mask;

const NEAR: usize = 256;
const SHORTEST_DATA: usize = 8;

pub(super) fn read(text: &Text<'_>, hit: Hit, masks: &mut Vec<Mask>) -> Reading {
    if !is_data_of_secret(text, hit) {
        return Reading::Decided;
    }
    let open = Reading::Open { from: hit.start };
    let (colon, _) = text.skip_quote(hit.end);
    if text.is_open_at(colon) {
        return open;
    }
    if text.at(colon) != Some(b':') {
        return Reading::Decided;
    }
    let mut found = Vec::new();
    let mut at = colon + 1;
    loop {
        let name = skip_between(text, at);
        let name_end = text.run(name, DOTTED);
        let (sign, _) = text.skip_quote(name_end);
        let (value, _) = text.skip_quote(text.skip_blanks(sign + 1));
        let end = text.run(value, STANDARD_BASE64);
        if text.is_open_at(end) {
            return open;
        }
        if name_end == name || text.at(sign) != Some(b':') || end == value {
            break;
        }
        if is_encoded(&text.bytes[value..end]) {
            found.push(Mask::shape(value, end, "kubernetes-secret"));
        }
        at = end;
    }
    masks.append(&mut found);
    Reading::Decided
}

fn is_data_of_secret(text: &Text<'_>, hit: Hit) -> bool {
    let is_name = text.is_word_start(hit.start);
    is_name
        && (text.has_before(hit.start, NEAR, b"kind: Secret")
            || text.has_before(hit.start, NEAR, b"kind\":\"Secret")
            || text.has_before(hit.start, NEAR, b"kind\": \"Secret")
            || text.has_before(hit.start, 32, b"apiVersion"))
}

/// Line breaks, indents, quotes, braces and commas.
fn skip_between(text: &Text<'_>, from: usize) -> usize {
    text.skip(from, usize::MAX, |byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'"' | b'{' | b',' | b'\\'))
}

fn is_encoded(value: &[u8]) -> bool {
    let has = |wanted: fn(&u8) -> bool| value.iter().any(wanted);
    value.len() >= SHORTEST_DATA
        && value.len().is_multiple_of(4)
        && (value.ends_with(b"=") || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)))
}

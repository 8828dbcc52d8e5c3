//! The spellings in which one secret may turn up: raw, JSON-escaped, URL-encoded, hex and base64.
//!
//! `Secrets` asks for them when its automaton is built. Longer forms than `LONGEST_FORM` are matched by their beginning and
//! the rest of that line is masked. Re-encodings by the agent itself (reversed, encrypted, spelled out) are out of reach.

use std::collections::BTreeSet;

use super::secrets::SHORTEST_SECRET;

/// Longest text that is matched in full; it bounds what a stream must hold back.
pub(super) const LONGEST_FORM: usize = 64 * 1024;

/// Characters that the usual URL encoders leave alone; a kept blank becomes `+`.
const URL_ENCODERS_KEEP: [&str; 5] = ["-_.~", "-_.~!*'()", "-_.~/", " *-._", " -_.~"];

const BASE64_STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Line lengths at which base64 is commonly wrapped: MIME and the `base64` program, and PEM.
const BASE64_LINE_LENGTHS: [usize; 2] = [76, 64];

const HEX_LOWER: &[u8; 16] = b"0123456789abcdef";
const HEX_UPPER: &[u8; 16] = b"0123456789ABCDEF";

/// One spelling of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) text: String,
    pub(super) reach: Reach,
}

/// How far a match of a form masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Exactly the form.
    Form,
    /// On to the end of the line, because the form was cut.
    EndOfLine,
}

/// All spellings of `value` and, when it has several lines, of each line.
pub(super) fn forms_of(value: &str) -> Vec<Form> {
    let mut texts = BTreeSet::new();
    add_encodings(value, &mut texts);
    add_wrapped_base64(value, &mut texts);
    if value.contains(['\n', '\r']) {
        for line in lines_worth_hiding(value) {
            add_encodings(line, &mut texts);
        }
    }
    texts.into_iter().map(cut_to_limit).collect()
}

fn add_encodings(value: &str, texts: &mut BTreeSet<String>) {
    texts.insert(value.to_owned());
    for style in [JsonStyle::Plain, JsonStyle::Ascii, JsonStyle::HtmlSafe, JsonStyle::Slashes] {
        let once = json_escaped(value, style);
        // Agents print tool output as a string inside JSON that is itself inside a JSON string.
        texts.extend([json_escaped(&once, JsonStyle::Plain), once]);
    }
    for kept in URL_ENCODERS_KEEP {
        texts.extend([HEX_UPPER, HEX_LOWER].map(|digits| percent_encoded(value, kept, digits)));
    }
    texts.extend([HEX_UPPER, HEX_LOWER].map(|digits| hex(value, digits)));
    for alphabet in [BASE64_STANDARD, BASE64_URL_SAFE] {
        texts.extend((0..3).map(|offset| base64_stable_part(value, offset, alphabet)));
        texts.insert(base64_padded(value, alphabet));
    }
}

fn add_wrapped_base64(value: &str, texts: &mut BTreeSet<String>) {
    let encoded = base64_stable_part(value, 0, BASE64_STANDARD);
    for length in BASE64_LINE_LENGTHS.into_iter().filter(|length| *length < encoded.len()) {
        let lines = encoded.as_bytes().chunks(length).filter(|line| line.len() >= SHORTEST_SECRET);
        texts.extend(lines.map(ascii));
    }
}

/// Lines that would give something away; the fences of a PEM block are public.
fn lines_worth_hiding(value: &str) -> impl Iterator<Item = &str> {
    value
        .split(['\n', '\r'])
        .map(str::trim)
        .filter(|line| line.chars().count() >= SHORTEST_SECRET)
        .filter(|line| !line.starts_with("-----BEGIN ") && !line.starts_with("-----END "))
}

fn cut_to_limit(mut text: String) -> Form {
    if text.len() <= LONGEST_FORM {
        return Form { text, reach: Reach::Form };
    }
    text.truncate(text.floor_char_boundary(LONGEST_FORM));
    Form { text, reach: Reach::EndOfLine }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonStyle {
    /// Only what JSON demands.
    Plain,
    /// Everything beyond ASCII as `\uXXXX`.
    Ascii,
    /// Also `<`, `>`, `&` and the two Unicode line ends.
    HtmlSafe,
    /// As `Ascii`, and `/` as `\/`.
    Slashes,
}

fn json_escaped(text: &str, style: JsonStyle) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '\u{8}' => escaped.push_str("\\b"),
            '\u{c}' => escaped.push_str("\\f"),
            '/' if style == JsonStyle::Slashes => escaped.push_str("\\/"),
            c if c < ' ' || style.escapes_by_number(c) => {
                let mut units = [0; 2];
                escaped.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

impl JsonStyle {
    fn escapes_by_number(self, c: char) -> bool {
        match self {
            Self::Plain => false,
            Self::Ascii | Self::Slashes => !c.is_ascii(),
            Self::HtmlSafe => "<>&\u{2028}\u{2029}".contains(c),
        }
    }
}

fn percent_encoded(text: &str, kept: &str, digits: &[u8; 16]) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if c == ' ' && kept.contains(' ') {
            encoded.push('+');
        } else if c.is_ascii_alphanumeric() || (c.is_ascii() && kept.contains(c)) {
            encoded.push(c);
        } else {
            encoded.push('%');
            push_hex(&mut encoded, byte, digits);
        }
    }
    encoded
}

fn hex(text: &str, digits: &[u8; 16]) -> String {
    let mut encoded = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        push_hex(&mut encoded, byte, digits);
    }
    encoded
}

fn push_hex(encoded: &mut String, byte: u8, digits: &[u8; 16]) {
    encoded.push(char::from(digits[usize::from(byte >> 4)]));
    encoded.push(char::from(digits[usize::from(byte & 15)]));
}

/// The base64 characters that `text` alone decides when `offset` unknown bytes stand before it in its group of three.
fn base64_stable_part(text: &str, offset: usize, alphabet: &[u8; 64]) -> String {
    let mut bytes = vec![0; offset];
    bytes.extend_from_slice(text.as_bytes());
    let first = (offset * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    ascii(&base64(&bytes, alphabet)[first..end])
}

fn base64_padded(text: &str, alphabet: &[u8; 64]) -> String {
    let mut encoded = base64(text.as_bytes(), alphabet);
    encoded.resize(encoded.len().next_multiple_of(4), b'=');
    ascii(&encoded)
}

fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |index: usize| group.get(index).copied().map_or(0, u32::from);
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        let characters = [18, 12, 6, 0].map(|shift| alphabet[(bits >> shift & 63) as usize]);
        encoded.extend_from_slice(&characters[..=group.len()]);
    }
    encoded
}

fn ascii(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

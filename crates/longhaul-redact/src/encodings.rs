//! The encodings in which a known secret may turn up: as it is, in hex and in base64.
//!
//! `values` asks for them once for each secret. Escapes need no encoding here: the view has decoded them. What an agent makes up
//! itself (reversed, encrypted, spelled out) is out of reach.

use std::collections::BTreeSet;

use super::secrets::SHORTEST_SECRET;
use super::view::{More, View};

pub(super) const BASE64_STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// All encodings of `value` and, when it has several lines, of each line.
pub(super) fn encodings_of(value: &str) -> BTreeSet<Vec<u8>> {
    let mut texts = BTreeSet::new();
    add_encodings(value, &mut texts);
    if value.contains(['\n', '\r']) {
        lines_worth_hiding(value).for_each(|line| add_encodings(line, &mut texts));
    }
    texts
}

fn add_encodings(value: &str, texts: &mut BTreeSet<Vec<u8>>) {
    let bytes = value.as_bytes();
    // What looks like an escape in the value itself is decoded where it is printed as it is, and stays where it was escaped.
    texts.extend([bytes.to_vec(), View::of(bytes, More::Never).bytes.into_owned()]);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    texts.extend([hex.to_ascii_uppercase().into_bytes(), hex.into_bytes()]);
    for alphabet in [BASE64_STANDARD, BASE64_URL_SAFE] {
        texts.extend((0..3).map(|offset| base64_stable_part(bytes, offset, alphabet)));
        texts.insert(base64_padded(bytes, alphabet));
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

/// The base64 characters that `text` alone decides when `offset` unknown bytes are before it in its group of three.
fn base64_stable_part(text: &[u8], offset: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let bytes = [&[0; 2][..offset], text].concat();
    let first = (offset * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    base64(&bytes, alphabet)[first..end].to_vec()
}

fn base64_padded(text: &[u8], alphabet: &[u8; 64]) -> Vec<u8> {
    let mut encoded = base64(text, alphabet);
    encoded.resize(encoded.len().next_multiple_of(4), b'=');
    encoded
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

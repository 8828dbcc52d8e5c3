//! The encodings in which a known secret may turn up: as it is, in hex and in base64.
//!
//! `values` asks for them once for each secret. Escapes need no encoding here: the view has decoded them. What an agent makes up
//! itself (reversed, encrypted, spelled out) is out of reach.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD, URL_SAFE};

use super::secrets::SHORTEST_SECRET;
use super::view::{More, View};

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
    for engine in [STANDARD, URL_SAFE] {
        texts.extend((0..3).map(|offset| base64_stable_part(bytes, offset, &engine)));
        texts.insert(engine.encode(bytes).into_bytes());
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
fn base64_stable_part(text: &[u8], offset: usize, engine: &GeneralPurpose) -> Vec<u8> {
    let bytes = [&[0; 2][..offset], text].concat();
    let first = (offset * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    engine.encode(&bytes).into_bytes()[first..end].to_vec()
}

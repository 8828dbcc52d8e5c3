//! JSON web tokens: base64 of a JSON header, a dot, base64 of JSON claims, a dot, a signature. Those wrapped in base64 once more
//! are a format of the table.

use super::charset::DOTTED;
use super::literals::Hit;
use super::run::{Lengths, Run};
use super::text::{Reading, Text};
use crate::find::Mask;

/// A header is a short list of names; anything longer before the first dot is something else.
const LONGEST_HEADER: usize = 4096;
const SHORTEST_HEADER: usize = 12;
const SHORTEST_CLAIMS: usize = 8;

pub(super) fn read(text: &Text<'_>, hit: Hit, masks: &mut Vec<Mask>) -> Reading {
    let run = Run::of(text, hit.start..hit.start, DOTTED, Lengths { least: SHORTEST_HEADER, usual: 0 });
    let mut parts = run.characters.split(|byte| *byte == b'.');
    let (header, claims) = (parts.next().unwrap_or_default(), parts.next());
    if header.len() > LONGEST_HEADER {
        return Reading::Decided;
    }
    if run.is_open() {
        return Reading::Open { from: hit.start };
    }
    let is_json = |part: &[u8]| part.starts_with(b"ey") || part.starts_with(b"ew");
    let has_claims = claims.is_some_and(|claims| claims.len() >= SHORTEST_CLAIMS && is_json(claims));
    if header.len() >= SHORTEST_HEADER && has_claims {
        masks.push(Mask::shape(hit.start, run.end - run.trailing_dots(), "jwt"));
    }
    Reading::Decided
}

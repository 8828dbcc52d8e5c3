//! Made-up tokens of every format in every context, cut everywhere; a scanner that knows nothing of the rules looks for leaks.
//!
//! `formats` is written from what issuers document, apart from the table the redactor uses. Nothing here is a real secret.

mod contexts;
mod deltas;
mod false_alarms;
mod formats;
mod structures;
mod tokens;

use std::sync::Arc;

use super::{Redactor, Secrets};

/// What a redactor with a key but no known value makes of writes.
fn redacted(writes: &[&[u8]]) -> Vec<u8> {
    let mut redactor = Redactor::new(Arc::new(Secrets::new([3; 32])));
    let mut out = Vec::new();
    for write in writes {
        redactor.push(write, &mut out);
    }
    redactor.finish(&mut out);
    out
}

/// Whether eight characters of the secret that follow each other are there.
fn leaks(secret: &[u8], output: &[u8]) -> bool {
    let visible: Vec<u8> = output.iter().copied().filter(|byte| !b"\r\n".contains(byte)).collect();
    secret.windows(8).any(|part| [output, &visible].iter().any(|text| text.windows(8).any(|window| window == part)))
}

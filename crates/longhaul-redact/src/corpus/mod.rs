//! Made-up tokens of every format in every context, cut everywhere; a scanner that knows nothing of the rules looks for leaks.
//!
//! `formats` is written from what issuers document, apart from the table the redactor uses. Nothing here is a real secret.

mod contexts;
mod dialects;
mod false_hits;
mod formats;
mod matrix;
mod random;

#[cfg(test)]
mod false_alarms;
#[cfg(test)]
mod look_alikes;
#[cfg(test)]
mod pieces;
#[cfg(test)]
mod spellings;
#[cfg(test)]
mod structures;
#[cfg(test)]
mod tokens;

use std::sync::Arc;

pub use false_hits::false_hits;
pub use matrix::{Tally, run_matrix};
pub use random::Random;

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

/// Where the random tokens and cuts begin; printed, so that a failure can be run again.
#[cfg(test)]
fn seed() -> u64 {
    let seed = std::env::var("LONGHAUL_CORPUS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(12);
    println!("LONGHAUL_CORPUS_SEED={seed}");
    seed
}

/// Whether eight characters of the secret that follow each other are there, with or without colours and line breaks.
fn leaks(secret: &[u8], output: &[u8]) -> bool {
    let visible = without_colours(output);
    let seen: std::collections::HashSet<&[u8]> = visible.windows(8).chain(output.windows(8)).collect();
    secret.windows(8).any(|part| seen.contains(part))
}

fn without_colours(text: &[u8]) -> Vec<u8> {
    let (mut visible, mut rest) = (Vec::new(), text);
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == 0x1b {
            let end = rest.iter().position(u8::is_ascii_alphabetic).map_or(rest.len(), |end| end + 1);
            rest = &rest[end..];
        } else if !b"\r\n".contains(first) {
            visible.push(*first);
        }
    }
    visible
}

//! The text that replaces a secret: `[redacted:<rule>:<tag>]`, with a tag keyed by the home.
//!
//! The same secret has the same tag everywhere in one home; without the key nobody can test a guess. Neither part ever needs
//! escaping, so that a mask inside a string of JSON leaves it a string.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Writes replacements; without a key they carry no tag, because an unkeyed hash would let a reader test guesses.
#[derive(Clone, Copy, Default)]
pub(super) struct Tags {
    key: Option<[u8; 32]>,
}

impl Tags {
    pub(super) fn new(key: [u8; 32]) -> Tags {
        Tags { key: Some(key) }
    }

    pub(super) fn replacement(&self, rule: &str, secret: &[u8]) -> String {
        match &self.key {
            Some(key) => format!("[redacted:{rule}:{}]", tag(key, secret)),
            None => format!("[redacted:{rule}]"),
        }
    }
}

impl std::fmt::Debug for Tags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.key.is_some() { "keyed" } else { "without key" })
    }
}

/// The first four bytes of the HMAC-SHA256.
fn tag(key: &[u8; 32], secret: &[u8]) -> String {
    let digest = hmac(key, secret);
    digest[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hmac(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let hmac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    hmac.chain_update(message).finalize().into_bytes().into()
}
#[cfg(test)]
mod tests {
    use super::hmac;

    #[test]
    fn the_hash_is_hmac_sha256() {
        let digest = hmac(&[0x0b; 32], b"Hi There");
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "198a607eb44bfbc69903a0f1cf2bbdc5ba0aa3f3d9ae3c1c7a3b1696a0b68cf7");
    }
}

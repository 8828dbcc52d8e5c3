//! SHA-256 of files and texts in lower-case hex, as evidence and plan revisions keep it.
//! Used by effects and front ends; nothing here decides what equal or different means.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// The fingerprint of bytes in memory.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    hex(Sha256::new_with_prefix(bytes))
}

/// The fingerprint of all that can be read, in bounded memory.
pub fn of_reader(mut source: impl Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match source.read(&mut buffer)? {
            0 => return Ok(hex(digest)),
            count => digest.update(&buffer[..count]),
        }
    }
}

/// A finished digest as text.
pub(crate) fn hex(digest: Sha256) -> String {
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

//! SHA-256 fingerprints as lower-case hex, as evidence and plan revisions store them.
//! Used wherever content is compared over time. What equal or different means is decided by the caller.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// The fingerprint of bytes in memory.
pub fn of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The fingerprint of everything a reader yields, in bounded memory. The caller opened it; this crate opens nothing.
pub fn of_reader(mut source: impl Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match source.read(&mut buffer)? {
            0 => return Ok(hex(&digest.finalize())),
            count => digest.update(&buffer[..count]),
        }
    }
}

/// Bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

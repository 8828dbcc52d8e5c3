//! The streaming redactor: bytes in, masked bytes out, however the writes are cut.
//!
//! One per output stream; the keeper owns it. `records` takes the pieces of texts out of JSON records, scanners find what is
//! secret in the stream and in each text, and `records` puts the lines together again. It keeps no time.

use std::sync::Arc;

use super::Secrets;
use super::records::Records;

/// Masks the secrets of one stream.
#[derive(Debug)]
pub struct Redactor {
    secrets: Arc<Secrets>,
    records: Records,
}

impl Redactor {
    /// Makes a redactor at the beginning of a stream.
    pub fn new(secrets: Arc<Secrets>) -> Self {
        Self { secrets, records: Records::default() }
    }

    /// Takes the next bytes and appends to `out` whatever can be shown now.
    pub fn push(&mut self, input: &[u8], out: &mut Vec<u8>) {
        self.records.push(&self.secrets, input, out);
    }

    /// Ends the stream: appends what was held back. The beginning of a secret that was cut off by the end is masked like
    /// the whole of it, from 8 bytes on.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.records.finish(&self.secrets, out);
    }

    /// How many secrets were masked so far.
    pub fn hits(&self) -> usize {
        self.records.masks()
    }
}

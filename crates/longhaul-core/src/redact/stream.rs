//! The streaming redactor: bytes in, masked bytes out, however the writes are cut.
//!
//! One per output stream; the keeper owns it. Known values leave first, then shapes, then what records of JSON cut into
//! pieces; each stage holds back only what is undecided. It keeps no time.

use std::sync::Arc;

use super::Secrets;
use super::deltas::Deltas;
use super::shapes::ShapeScan;
use super::values::Scan;

/// Masks the secrets of one stream.
#[derive(Debug)]
pub struct Redactor {
    secrets: Arc<Secrets>,
    values: Scan,
    shapes: ShapeScan,
    deltas: Deltas,
    without_values: Vec<u8>,
    without_shapes: Vec<u8>,
}

impl Redactor {
    /// Makes a redactor at the beginning of a stream.
    pub fn new(secrets: Arc<Secrets>) -> Self {
        Self {
            secrets,
            values: Scan::default(),
            shapes: ShapeScan::default(),
            deltas: Deltas::default(),
            without_values: Vec::new(),
            without_shapes: Vec::new(),
        }
    }

    /// Takes the next bytes and appends to `out` whatever can be shown now.
    pub fn push(&mut self, input: &[u8], out: &mut Vec<u8>) {
        self.without_values.clear();
        self.without_shapes.clear();
        self.values.push(&self.secrets, input, &mut self.without_values);
        self.shapes.push(self.secrets.tags(), &self.without_values, &mut self.without_shapes);
        self.deltas.push(&self.secrets, &self.without_shapes, out);
    }

    /// Ends the stream: appends what was held back. The beginning of a secret that was cut off by the end is masked like
    /// the whole of it, from 8 bytes on.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.without_values.clear();
        self.without_shapes.clear();
        self.values.finish(&self.secrets, &mut self.without_values);
        self.shapes.push(self.secrets.tags(), &self.without_values, &mut self.without_shapes);
        self.shapes.finish(self.secrets.tags(), &mut self.without_shapes);
        self.deltas.push(&self.secrets, &self.without_shapes, out);
        self.deltas.finish(&self.secrets, out);
    }

    /// How many secrets were masked so far.
    pub fn hits(&self) -> usize {
        self.values.pending.replaced() + self.shapes.replaced() + self.deltas.replaced()
    }
}

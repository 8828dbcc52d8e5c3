//! The streaming redactor: bytes in, masked bytes out, however the writes are cut.
//!
//! One per output stream; the keeper owns it. It holds back only an open candidate (at most `LONGEST_FORM` bytes) and shows
//! everything before it at once. It keeps no time: an open candidate waits for the next byte or the end of the stream.

use std::sync::Arc;

use aho_corasick::automaton::StateID;

use super::forms::Reach;
use super::matcher::{Found, Matcher};
use super::pending::Pending;
use super::secrets::{SHORTEST_SECRET, Secrets};

/// Masks the secrets of one stream.
#[derive(Debug)]
pub struct Redactor {
    secrets: Arc<Secrets>,
    scan: Scan,
}

impl Redactor {
    /// Makes a redactor at the beginning of a stream.
    pub fn new(secrets: Arc<Secrets>) -> Self {
        Self { secrets, scan: Scan::default() }
    }

    /// Takes the next bytes and appends to `out` whatever can be shown now.
    pub fn push(&mut self, input: &[u8], out: &mut Vec<u8>) {
        self.scan.push(&self.secrets, input, out);
    }

    /// Ends the stream: appends what was held back. The beginning of a secret that was cut off by the end is masked like
    /// the whole of it, from 8 bytes on.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.scan.finish(&self.secrets, out);
    }

    /// How many secrets were masked so far.
    pub fn hits(&self) -> usize {
        self.scan.pending.replaced()
    }
}

/// Where a stream stands; the secrets are the caller's and must stay the same.
#[derive(Debug)]
pub(super) struct Scan {
    state: Option<StateID>,
    reach: Reach,
    pub(super) pending: Pending,
}

impl Default for Scan {
    fn default() -> Self {
        Self { state: None, reach: Reach::Form, pending: Pending::default() }
    }
}

impl Scan {
    pub(super) fn push(&mut self, secrets: &Secrets, input: &[u8], out: &mut Vec<u8>) {
        if secrets.is_empty() {
            out.extend_from_slice(input);
            return;
        }
        let matcher = secrets.matcher();
        let safe = self.mark(matcher, input);
        self.pending.release(safe, |secret| matcher.replacement(secret), out);
    }

    pub(super) fn finish(&mut self, secrets: &Secrets, out: &mut Vec<u8>) {
        let Some(state) = self.state.take() else { return };
        let matcher = secrets.matcher();
        let end = self.pending.len();
        if let Some(open) = matcher.open_candidate(state).filter(|open| open.length >= SHORTEST_SECRET) {
            self.pending.mask(end - open.length, end, open.secret);
        }
        self.pending.release(end, |secret| matcher.replacement(secret), out);
        self.reach = Reach::Form;
    }

    /// Marks what the new bytes complete; returns the position before which no match can begin any more.
    fn mark(&mut self, matcher: &Matcher, input: &[u8]) -> usize {
        let mut state = self.state.unwrap_or_else(|| matcher.start());
        let mut position = self.pending.len();
        self.pending.extend(input);
        for &byte in input {
            state = matcher.step(state, byte);
            if self.reach == Reach::EndOfLine {
                self.mask_until_line_end(position, byte);
            }
            position += 1;
            if let Some(Found { length, secret, reach }) = matcher.longest_match(state) {
                self.pending.mask(position - length, position, secret);
                self.reach = self.reach.max(reach);
            }
        }
        self.state = Some(state);
        position - matcher.open_candidate(state).map_or(0, |open| open.length)
    }

    fn mask_until_line_end(&mut self, position: usize, byte: u8) {
        if byte == b'\n' {
            self.reach = Reach::Form;
        } else {
            self.pending.mask_on(position);
        }
    }
}

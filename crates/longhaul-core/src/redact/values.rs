//! The stream of values: bytes in, bytes without known secrets out, however the writes are cut.
//!
//! The first stage of a redactor. It holds back only an open candidate (at most `LONGEST_FORM` bytes) and shows everything
//! before it at once. It keeps no time: an open candidate waits for the next byte or the end of the stream.

use std::ops::Range;

use aho_corasick::automaton::StateID;

use super::forms::Reach;
use super::matcher::{Found, Matcher};
use super::pending::Pending;
use super::secrets::{SHORTEST_SECRET, Secrets};

/// What was found in a text that is there as a whole.
#[derive(Debug, Default)]
pub(super) struct FoundValues {
    /// Parts to mask and what to put there, without overlaps.
    pub(super) masks: Vec<(Range<usize>, String)>,
    /// Where an open candidate begins.
    pub(super) open: Option<usize>,
}

/// Finds known secrets that begin at `from` or later.
pub(super) fn find_values(secrets: &Secrets, text: &[u8], from: usize) -> FoundValues {
    let mut found = FoundValues::default();
    if secrets.is_empty() {
        return found;
    }
    let matcher = secrets.matcher();
    let mut state = matcher.start();
    for (position, byte) in text.iter().enumerate().skip(from) {
        state = matcher.step(state, *byte);
        if let Some(Found { length, secret, reach: _ }) = matcher.longest_match(state) {
            let start = position + 1 - length;
            found.masks.retain(|(span, _)| span.end <= start);
            found.masks.push((start..position + 1, matcher.replacement(secret).to_owned()));
        }
    }
    found.open = matcher.open_candidate(state).map(|open| text.len() - open.length);
    found
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
        let mut index = 0;
        while index < input.len() {
            if state == matcher.start() && self.reach == Reach::Form {
                let skipped = matcher.next_beginning(&input[index..]);
                index += skipped;
                position += skipped;
                if index == input.len() {
                    break;
                }
            }
            let byte = input[index];
            index += 1;
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

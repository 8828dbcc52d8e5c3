//! The stream of shapes: bytes in, masked bytes out, however the writes are cut.
//!
//! The redactor owns one behind the value layer. It holds back open candidates and the word a write ends in, at most
//! `LONGEST_CANDIDATE` bytes, and keeps a little of what it has shown as context. It keeps no time.

use super::charset::{Charset, HELD_WORD};
use super::find::{Findings, find};
use super::text::{More, Text};
use super::visible::Visible;
use crate::redact::tag::Tags;

/// What was shown stays this long as context: the name before a value, the length of a run.
const CONTEXT: usize = 512;

/// In a longer word only the end is held back: a blob of base64 must not pile up.
const LONGEST_WORD: usize = 4096;

/// Longer than every literal and every beginning of a token without one.
const HELD_END: usize = 256;

/// The tag of a longer secret is that of its beginning.
const LONGEST_TAGGED: usize = 4096;

/// Where a stream stands.
#[derive(Debug, Default)]
pub(crate) struct ShapeScan {
    held: Vec<u8>,
    shown: usize,
    swallowing: Option<Charset>,
    replaced: usize,
}

impl ShapeScan {
    pub(crate) fn push(&mut self, tags: &Tags, input: &[u8], out: &mut Vec<u8>) {
        self.held.extend_from_slice(input);
        self.show(tags, More::MayCome, out);
    }

    pub(crate) fn finish(&mut self, tags: &Tags, out: &mut Vec<u8>) {
        self.show(tags, More::Never, out);
        self.held.clear();
        self.shown = 0;
        self.swallowing = None;
    }

    /// How many replacements were written so far.
    pub(crate) fn replaced(&self) -> usize {
        self.replaced
    }

    fn show(&mut self, tags: &Tags, more: More, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        let visible = Visible::of(&held, more);
        let from = self.swallow(&visible, more);
        let findings = find(&visible.bytes, from, more);
        let safe = safe_end(&visible.bytes, from, &findings, more);
        let mut shown = if from > visible.first_from(self.shown) { visible.raw_end(from) } else { self.shown };
        for mask in findings.masks.iter().take_while(|mask| mask.start < safe) {
            out.extend_from_slice(&held[shown..visible.raw_start(mask.start)]);
            // How far a very long secret has arrived must not show in its tag.
            let tagged = mask.end.min(mask.start + LONGEST_TAGGED);
            tags.write(mask.rule, &visible.bytes[mask.start..tagged], out);
            self.replaced += 1;
            shown = visible.raw_end(mask.end);
        }
        let end = if more == More::Never { held.len() } else { visible.raw_start(safe).max(shown) };
        out.extend_from_slice(&held[shown..end]);
        if findings.swallowing.is_some() {
            self.swallowing = findings.swallowing;
        }
        drop(visible);
        self.keep(held, end);
    }

    /// Passes over what goes on behind a candidate of the greatest length; returns where to look from.
    fn swallow(&mut self, visible: &Visible<'_>, more: More) -> usize {
        let from = visible.first_from(self.shown);
        let Some(charset) = self.swallowing else { return from };
        let end = Text { bytes: &visible.bytes, more }.run(from, charset);
        if end < visible.bytes.len() {
            self.swallowing = None;
        }
        end
    }

    fn keep(&mut self, mut held: Vec<u8>, shown: usize) {
        let context = shown.saturating_sub(CONTEXT);
        held.drain(..context);
        self.shown = shown - context;
        self.held = held;
    }
}

/// The position before which nothing can change any more.
fn safe_end(bytes: &[u8], from: usize, findings: &Findings, more: More) -> usize {
    if more == More::Never || findings.swallowing.is_some() {
        return bytes.len();
    }
    let safe = findings.open.unwrap_or(bytes.len()).min(last_word(bytes)).max(from);
    findings.settled(safe)
}

/// Where the word begins that the text ends in.
fn last_word(bytes: &[u8]) -> usize {
    let longest = bytes.len().saturating_sub(LONGEST_WORD);
    let start = bytes[longest..].iter().rposition(|byte| !HELD_WORD.has(*byte)).map(|index| longest + index + 1);
    start.unwrap_or_else(|| if longest == 0 { 0 } else { bytes.len() - HELD_END })
}

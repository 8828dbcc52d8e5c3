//! One text, scanned as it arrives: bytes in, decided parts out, however the writes are cut.
//!
//! The main stream has one scanner and so has every text that records carry in pieces. It holds back open candidates and the
//! word a write ends in, at most `LONGEST_CANDIDATE` bytes, and keeps a little of what it has released as context.

use std::ops::Range;

use super::Secrets;
use super::find::{Findings, find};
use super::shapes::Text;
use super::shapes::charset::{Charset, HELD_WORD};
use super::view::{More, View};

/// What was released stays this long as context: the name before a value, the length of a run.
const CONTEXT: usize = 512;

/// In a longer word only the end is held back: a blob of base64 must not pile up.
const LONGEST_WORD: usize = 4096;

/// Longer than every literal and every beginning of a token without one.
const HELD_END: usize = 256;

/// A decided part of the text, in order and without gaps.
#[derive(Debug)]
pub(super) enum Part<'a> {
    Plain(&'a [u8]),
    /// So many raw bytes are replaced by this.
    Mask {
        length: usize,
        replacement: String,
    },
}

/// How much the scanner is asked to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// What more text may change waits for it.
    Now,
    /// More may come, but nothing may wait: the beginning of a secret is masked, and so is its rest when it comes.
    Pause,
    End,
}

/// The state of one text.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    held: Vec<u8>,
    released: usize,
    /// Where to look from: before `released` only when a candidate was open at a pause.
    look_from: usize,
    swallowing: Option<Charset>,
    ends_in_mask: bool,
    masks: usize,
}

impl Scanner {
    pub(super) fn extend(&mut self, input: &[u8]) {
        self.held.extend_from_slice(input);
    }

    /// How many secrets were masked so far.
    pub(super) fn masks(&self) -> usize {
        self.masks
    }

    /// Passes on everything that is decided.
    pub(super) fn advance(&mut self, secrets: &Secrets, until: Until, emit: &mut impl FnMut(Part<'_>)) {
        let more = if until == Until::Now { More::MayCome } else { More::Never };
        let held = std::mem::take(&mut self.held);
        let view = View::of(&held, more);
        let start = self.swallow(&view, more, emit);
        let from = view.first_from(self.look_from).min(start);
        let mut findings = find(secrets, &view.bytes, from, more);
        if until == Until::Pause {
            let undecided = find(secrets, &view.bytes, from, More::MayCome);
            findings.open = undecided.open;
            findings.mask_beginning(undecided.beginning, view.bytes.len());
        }
        let safe = safe_end(&view, start, &findings, more);
        self.release_masks(secrets, &held, &view, start..safe, &findings, emit);
        let end = if more == More::Never { held.len() } else { view.raw_start(safe).max(self.released) };
        self.release_plain(&held[self.released..end], emit);
        self.look_from = findings.open.map_or(end, |open| view.raw_start(open).min(end));
        self.swallowing = findings.swallowing.or(self.swallowing);
        drop(view);
        match until {
            Until::Now | Until::Pause => self.keep(held),
            Until::End => *self = Scanner { masks: self.masks, ..Scanner::default() },
        }
    }

    /// Passes over what continues a candidate of the greatest length; returns where undecided text begins.
    fn swallow(&mut self, view: &View<'_>, more: More, emit: &mut impl FnMut(Part<'_>)) -> usize {
        let start = view.first_from(self.released);
        let Some(charset) = self.swallowing else { return start };
        let end = Text { bytes: &view.bytes, more }.run(start, charset);
        if end < view.bytes.len() {
            self.swallowing = None;
        }
        if end > start {
            self.release_mask(view.raw_end(end), String::new(), emit);
            self.look_from = self.released;
        }
        end
    }

    fn release_masks(
        &mut self,
        secrets: &Secrets,
        held: &[u8],
        view: &View<'_>,
        undecided: Range<usize>,
        findings: &Findings,
        emit: &mut impl FnMut(Part<'_>),
    ) {
        let masks = findings.masks.iter().filter(|mask| mask.end > undecided.start);
        for mask in masks.take_while(|mask| mask.start < undecided.end) {
            let is_rest = mask.start < undecided.start && self.ends_in_mask;
            self.release_plain(&held[self.released..view.raw_start(mask.start).max(self.released)], emit);
            let replacement = if is_rest { String::new() } else { mask.replacement(secrets, &view.bytes) };
            self.release_mask(view.raw_end(mask.end), replacement, emit);
        }
    }

    fn release_plain(&mut self, bytes: &[u8], emit: &mut impl FnMut(Part<'_>)) {
        if !bytes.is_empty() {
            emit(Part::Plain(bytes));
            self.released += bytes.len();
            self.ends_in_mask = false;
        }
    }

    fn release_mask(&mut self, end: usize, replacement: String, emit: &mut impl FnMut(Part<'_>)) {
        self.masks += usize::from(!replacement.is_empty());
        emit(Part::Mask { length: end - self.released, replacement });
        self.released = end;
        self.ends_in_mask = true;
    }

    fn keep(&mut self, mut held: Vec<u8>) {
        let context = self.released.saturating_sub(CONTEXT).min(self.look_from);
        held.drain(..context);
        self.released -= context;
        self.look_from -= context;
        self.held = held;
    }
}

/// The position before which nothing can change any more.
fn safe_end(view: &View<'_>, start: usize, findings: &Findings, more: More) -> usize {
    if more == More::Never || findings.swallowing.is_some() {
        return view.bytes.len();
    }
    let word = last_word(&view.bytes);
    // An escape before the word may be a backslash and the first letter of a token.
    let word = if view.is_escape_before(word) { word - 1 } else { word };
    let safe = findings.open.unwrap_or(usize::MAX).min(word).max(start);
    findings.settled(safe).max(start)
}

/// Where the word begins that the text ends in.
fn last_word(bytes: &[u8]) -> usize {
    let longest = bytes.len().saturating_sub(LONGEST_WORD);
    let start = bytes[longest..].iter().rposition(|byte| !HELD_WORD.has(*byte)).map(|index| longest + index + 1);
    start.unwrap_or_else(|| if longest == 0 { 0 } else { bytes.len() - HELD_END })
}

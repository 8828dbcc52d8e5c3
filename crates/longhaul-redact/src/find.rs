//! Everything secret in a text: known values and shapes, brought into one order.
//!
//! Called by the scanner with the view of what it holds. What it answers for a part of a text never contradicts what it answers
//! for more of it.

use super::shapes::charset::Charset;
use super::view::More;
use super::{Secrets, shapes};

/// The greatest length of a candidate; one that is still open then is masked whole.
pub(super) const LONGEST_CANDIDATE: usize = 16 * 1024;

/// The tag of a longer secret is that of its beginning: how far it has arrived must not show.
const LONGEST_TAGGED: usize = 4096;

/// A part of the text to mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mask {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) name: MaskName,
    /// Where the literal begins that led here; it must be seen again to find the mask again.
    pub(super) from: usize,
}

/// What a mask is named after; of two that begin together the known value wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MaskName {
    /// The number of a known value.
    Value(usize),
    /// A rule.
    Shape(&'static str),
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// In order, without overlaps.
    pub(super) masks: Vec<Mask>,
    /// Where the first open candidate begins.
    pub(super) open: Option<usize>,
    /// An open candidate that is all secret so far: where it begins, and its rule.
    pub(super) beginning: Option<(usize, &'static str)>,
    /// The end of the text was reached while masking the rest of a candidate of the greatest length.
    pub(super) swallowing: Option<Charset>,
}

impl Mask {
    pub(super) fn shape(start: usize, end: usize, rule: &'static str) -> Mask {
        Mask { start, end, name: MaskName::Shape(rule), from: start }
    }

    /// The text that takes its place.
    pub(super) fn replacement(&self, secrets: &Secrets, text: &[u8]) -> String {
        match self.name {
            MaskName::Value(secret) => secrets.replacement(secret),
            MaskName::Shape(rule) => {
                let end = self.end.min(self.start + LONGEST_TAGGED);
                secrets.tags().replacement(rule, &text[self.start..end])
            }
        }
    }
}

impl Findings {
    pub(super) fn note_open(&mut self, from: usize) {
        self.open = Some(self.open.map_or(from, |open| open.min(from)));
    }

    /// The greatest position up to `safe` that cuts nothing which is still to be found again.
    pub(super) fn settled(&self, mut safe: usize) -> usize {
        while let Some(mask) = self.masks.iter().find(|mask| mask.end > safe && mask.from < safe) {
            safe = mask.from;
        }
        safe
    }

    /// Masks the beginning of a secret that the text ends in, unless it is masked already.
    pub(super) fn mask_beginning(&mut self, beginning: Option<(usize, &'static str)>, end: usize) {
        let is_masked = self.masks.last().is_some_and(|mask| mask.end == end);
        if let Some((start, rule)) = beginning.filter(|_| !is_masked) {
            self.masks.push(Mask::shape(start, end, rule));
            in_order(&mut self.masks);
        }
    }
}

/// Looks at everything that begins at `from` or later; what is before is context.
pub(super) fn find(secrets: &Secrets, text: &[u8], from: usize, more: More) -> Findings {
    let mut findings = Findings::default();
    shapes::find(text, from, more, &mut findings);
    secrets.values().find(text, from, more, &mut findings);
    in_order(&mut findings.masks);
    findings
}

fn in_order(masks: &mut Vec<Mask>) {
    masks.sort_by_key(|mask| (mask.start, mask.name, usize::MAX - mask.end));
    masks.dedup_by(|later, earlier| {
        let overlap = later.start < earlier.end;
        if overlap {
            earlier.end = earlier.end.max(later.end);
            earlier.from = earlier.from.min(later.from);
        }
        overlap
    });
}

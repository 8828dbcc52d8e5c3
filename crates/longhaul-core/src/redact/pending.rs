//! Text that was read but not shown yet, with the spans in it that must be masked.
//!
//! The redactor marks spans and says up to where nothing new can begin; everything before that leaves. What leaves depends
//! on the text alone, never on how it was cut into writes.

use std::collections::VecDeque;

/// Bytes held back and the spans to mask; positions count from the first held byte.
#[derive(Debug, Default)]
pub(super) struct Pending {
    bytes: Vec<u8>,
    spans: VecDeque<Span>,
    replaced: usize,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    secret: usize,
    replacement: Replacement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Replacement {
    Due,
    Written,
}

impl Pending {
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// How many replacements were written so far.
    pub(super) fn replaced(&self) -> usize {
        self.replaced
    }

    /// Masks `start..end`, where `end` lies behind all earlier ends. Overlapping spans become one, named after the secret
    /// that begins first, the longer one when two begin together.
    pub(super) fn mask(&mut self, start: usize, end: usize, secret: usize) {
        let mut span = Span { start, end, secret, replacement: Replacement::Due };
        while let Some(last) = self.spans.pop_back_if(|last| last.end > start) {
            if last.start < span.start || last.replacement == Replacement::Written {
                span = Span { end, ..last };
            }
        }
        self.spans.push_back(span);
    }

    /// Masks one more byte behind a span that ended just before it, whether or not that span has left already.
    pub(super) fn mask_on(&mut self, position: usize) {
        match self.spans.back_mut() {
            Some(last) if last.end == position => last.end += 1,
            Some(_) | None => {
                let replacement = Replacement::Written;
                self.spans.push_back(Span { start: position, end: position + 1, secret: 0, replacement });
            }
        }
    }

    /// Moves everything before `safe` to `out`.
    pub(super) fn release<'a>(&mut self, safe: usize, replacement: impl Fn(usize) -> &'a str, out: &mut Vec<u8>) {
        let mut shown = 0;
        while let Some(span) = self.spans.front_mut().filter(|span| span.start < safe) {
            out.extend_from_slice(&self.bytes[shown..span.start]);
            if span.replacement == Replacement::Due {
                out.extend_from_slice(replacement(span.secret).as_bytes());
                span.replacement = Replacement::Written;
                self.replaced += 1;
            }
            shown = span.end.min(safe);
            if span.end > safe {
                span.start = safe;
                break;
            }
            self.spans.pop_front();
        }
        out.extend_from_slice(&self.bytes[shown..safe]);
        self.bytes.drain(..safe);
        for span in &mut self.spans {
            span.start -= safe;
            span.end -= safe;
        }
    }
}

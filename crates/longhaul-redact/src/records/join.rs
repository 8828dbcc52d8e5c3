//! Takes the pieces of texts out of a stream, gives every text a scanner, and puts the lines together again.
//!
//! A line that may be a record waits for its end; a piece that ends inside a word or a candidate waits for the next piece of its
//! text, and what is behind it waits too, at most `MOST_WAITING` bytes. A record that is no piece ends the waiting, so that
//! nothing an agent reports is late.

use std::collections::{HashMap, VecDeque};

use super::piece::Waiting;
use super::record::{FoundPiece, piece_of};
use crate::Secrets;
use crate::scan::{Scanner, Until};

/// A longer line is no piece of text.
const LONGEST_LINE: usize = 64 * 1024;
const MOST_WAITING: usize = 256 * 1024;
const MOST_TEXTS: usize = 64;

/// The beginning of a line of server-sent events.
const EVENT_DATA: &[u8] = b"data:";

/// One stream and the texts in it.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// The beginning of a line that may be a record.
    line: Vec<u8>,
    /// The current line is no record.
    is_passing: bool,
    /// The stream without pieces, and how much of it there was so far.
    stream: Scanner,
    stream_length: usize,
    texts: HashMap<u64, JoinedText>,
    waiting: Waiting,
    masks_in_texts: usize,
}

/// A text that arrives in pieces.
#[derive(Debug, Default)]
struct JoinedText {
    scanner: Scanner,
    /// The numbers of its pieces that are not decided.
    pieces: VecDeque<usize>,
}

impl Records {
    pub(crate) fn push(&mut self, secrets: &Secrets, input: &[u8], out: &mut Vec<u8>) {
        let mut rest = input;
        while !rest.is_empty() {
            let taken = if self.line.is_empty() { self.pass_quiet_lines(secrets, rest) } else { 0 };
            rest = &rest[taken..];
            let end = memchr::memchr(b'\n', rest).map(|end| end + 1);
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            if end.is_some() && self.line.is_empty() {
                self.take_line(secrets, part);
            } else {
                self.take_part_of_line(secrets, part, end.is_some());
            }
            rest = after;
        }
        self.advance(secrets, Until::Now, out);
    }

    pub(crate) fn finish(&mut self, secrets: &Secrets, out: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        self.take_line(secrets, &line);
        self.decide_texts(secrets, Until::End);
        self.forget_texts();
        self.advance(secrets, Until::End, out);
        self.is_passing = false;
    }

    /// How many secrets were masked so far.
    pub(crate) fn masks(&self) -> usize {
        let in_texts: usize = self.texts.values().map(|text| text.scanner.masks()).sum();
        self.stream.masks() + self.masks_in_texts + in_texts
    }

    /// Passes on everything before the first line that may carry a piece; returns how much that was.
    fn pass_quiet_lines(&mut self, secrets: &Secrets, input: &[u8]) -> usize {
        let loud = first_sign_of_pieces(input).unwrap_or(input.len());
        let line_start = memchr::memrchr(b'\n', &input[..loud]).map(|at| at + 1);
        let quiet = match line_start {
            None if self.is_passing => memchr::memchr(b'\n', input).map_or(input.len(), |at| at + 1),
            Some(_) | None => line_start.unwrap_or(0),
        };
        if quiet > 0 {
            self.is_passing = self.is_passing && line_start.is_none() && input[quiet - 1] != b'\n';
            self.pass(secrets, &input[..quiet]);
        }
        quiet
    }

    fn take_part_of_line(&mut self, secrets: &Secrets, part: &[u8], is_end: bool) {
        self.line.extend_from_slice(part);
        let may_be_record = may_begin_record(&self.line) && self.line.len() <= LONGEST_LINE;
        if may_be_record && !is_end {
            return;
        }
        let line = std::mem::take(&mut self.line);
        if may_be_record {
            self.take_line(secrets, &line);
        } else {
            self.pass(secrets, &line);
            self.is_passing = !is_end;
        }
    }

    fn take_line(&mut self, secrets: &Secrets, line: &[u8]) {
        let piece = if may_begin_record(line) && line.len() <= LONGEST_LINE { piece_of(line) } else { None };
        let Some(FoundPiece { text_id, span, text }) = piece else {
            self.pass(secrets, line);
            return;
        };
        let inner = span.start + 1..span.end - 1;
        self.extend_stream(&line[..inner.start]);
        let joined = self.texts.entry(text_id).or_default();
        joined.scanner.extend(text.as_bytes());
        let is_empty = text.is_empty();
        let number = self.waiting.add(&line[inner.clone()], text, self.stream_length);
        joined.pieces.extend((!is_empty).then_some(number));
        joined.decide(secrets, Until::Now, &mut self.waiting);
        self.extend_stream(&line[inner.end..]);
        if self.texts.len() > MOST_TEXTS || self.waiting.len() > MOST_WAITING {
            self.decide_texts(secrets, Until::Pause);
            self.forget_texts();
        }
    }

    /// Takes a part of the stream that is no piece. Blank lines and the names of events come between pieces.
    fn pass(&mut self, secrets: &Secrets, bytes: &[u8]) {
        let is_event_name = bytes.starts_with(b"event:") && memchr::memchr(b'\n', bytes) == Some(bytes.len() - 1);
        let is_between = is_event_name || bytes.iter().all(u8::is_ascii_whitespace);
        if !self.waiting.is_empty() && !is_between {
            self.decide_texts(secrets, Until::Pause);
        }
        self.extend_stream(bytes);
    }

    fn extend_stream(&mut self, bytes: &[u8]) {
        self.stream.extend(bytes);
        self.stream_length += bytes.len();
    }

    fn decide_texts(&mut self, secrets: &Secrets, until: Until) {
        for text in self.texts.values_mut().filter(|text| !text.pieces.is_empty()) {
            text.decide(secrets, until, &mut self.waiting);
        }
    }

    fn forget_texts(&mut self) {
        self.masks_in_texts += self.texts.drain().map(|(_, text)| text.scanner.masks()).sum::<usize>();
    }

    fn advance(&mut self, secrets: &Secrets, until: Until, out: &mut Vec<u8>) {
        let waiting = &mut self.waiting;
        self.stream.advance(secrets, until, &mut |part| waiting.take(&part, out));
        self.waiting.release(out);
    }
}

impl JoinedText {
    fn decide(&mut self, secrets: &Secrets, until: Until, waiting: &mut Waiting) {
        let pieces = &mut self.pieces;
        self.scanner.advance(secrets, until, &mut |part| waiting.take_of_text(pieces, &part));
    }
}

/// Whether a line with this beginning may be a record, bare or in an event.
fn may_begin_record(line: &[u8]) -> bool {
    line.starts_with(b"{") || line.starts_with(EVENT_DATA) || EVENT_DATA.starts_with(line)
}

/// Records that carry pieces are named for it: `delta`, `textDelta`, `message_chunk`, as the whole or the end of a string.
fn first_sign_of_pieces(input: &[u8]) -> Option<usize> {
    let delta = memchr::memmem::find(input, b"elta\"");
    let chunk = memchr::memmem::find(&input[..delta.unwrap_or(input.len())], b"hunk\"");
    chunk.or(delta)
}

//! Pieces that wait until it is decided what of them may be shown, and the output that waits behind them.
//! Filled by `join`; everything leaves in the order it came.

use std::collections::VecDeque;

use crate::scan::Part;

/// One piece of a text.
#[derive(Debug)]
pub(super) struct Piece {
    /// The string of the record without its quotes, as it is and without escapes.
    raw: Vec<u8>,
    text: Vec<u8>,
    /// How much of `text` is decided, and what is shown of it.
    decided: usize,
    shown: Vec<u8>,
    is_changed: bool,
    /// Where it belongs: first in the stream without pieces, then in the output that waits.
    place: Place,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Stream(usize),
    Output(usize),
}

/// All pieces that wait, and the output around them.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pieces: VecDeque<Piece>,
    /// The number of the first piece that waits.
    first: usize,
    output: Vec<u8>,
    /// How many bytes of the stream without pieces have been decided.
    decided: usize,
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// How many bytes wait.
    pub(super) fn len(&self) -> usize {
        self.output.len() + self.pieces.iter().map(|piece| piece.raw.len() + piece.text.len()).sum::<usize>()
    }

    /// Adds a piece that belongs at `position` of the stream without pieces; returns its number.
    pub(super) fn add(&mut self, raw: &[u8], text: String, position: usize) -> usize {
        let text = text.into_bytes();
        let piece = Piece {
            raw: raw.to_vec(),
            text,
            decided: 0,
            shown: Vec::new(),
            is_changed: false,
            place: Place::Stream(position),
        };
        self.pieces.push_back(piece);
        self.first + self.pieces.len() - 1
    }

    /// Takes a decided part of the stream. Without pieces it goes straight to `out`.
    pub(super) fn take(&mut self, part: &Part<'_>, out: &mut Vec<u8>) {
        let output = if self.pieces.is_empty() { out } else { &mut self.output };
        let (length, bytes) = match part {
            Part::Plain(bytes) => (bytes.len(), *bytes),
            Part::Mask { length, replacement } => (*length, replacement.as_bytes()),
        };
        let (begin, mut written) = (self.decided, 0);
        self.decided += length;
        for piece in &mut self.pieces {
            let Place::Stream(position) = piece.place else { continue };
            if position > self.decided {
                break;
            }
            // A mask is written whole before a piece inside it.
            let end = if matches!(part, Part::Plain(_)) { position - begin } else { bytes.len() };
            output.extend_from_slice(&bytes[written..end]);
            written = end;
            piece.place = Place::Output(output.len());
        }
        output.extend_from_slice(&bytes[written..]);
    }

    /// Takes a decided part of the text whose undecided pieces have these numbers.
    pub(super) fn take_of_text(&mut self, numbers: &mut VecDeque<usize>, part: &Part<'_>) {
        let (mut rest, bytes, is_mask) = match part {
            Part::Plain(bytes) => (bytes.len(), *bytes, false),
            Part::Mask { length, replacement } => (*length, replacement.as_bytes(), true),
        };
        let mut shown = bytes;
        while let Some(number) = numbers.front() {
            let piece = &mut self.pieces[number - self.first];
            let length = rest.min(piece.text.len() - piece.decided);
            let (now, later) =
                shown.split_at(if is_mask && length > 0 { shown.len() } else { length.min(shown.len()) });
            piece.shown.extend_from_slice(now);
            piece.decided += length;
            piece.is_changed |= is_mask && length > 0;
            (rest, shown) = (rest - length, later);
            if piece.decided < piece.text.len() {
                return;
            }
            numbers.pop_front();
        }
    }

    /// Writes everything up to the first piece that is not decided.
    pub(super) fn release(&mut self, out: &mut Vec<u8>) {
        let mut written = 0;
        while let Some(Place::Output(position)) = self.pieces.front().map(|piece| piece.place) {
            out.extend_from_slice(&self.output[written..position]);
            written = position;
            let Some(piece) = self.pieces.pop_front_if(|piece| piece.decided == piece.text.len()) else { break };
            self.first += 1;
            piece.write(out);
        }
        if !self.pieces.front().is_some_and(|piece| matches!(piece.place, Place::Output(_))) {
            out.extend_from_slice(&self.output[written..]);
            written = self.output.len();
        }
        self.output.drain(..written);
        for piece in &mut self.pieces {
            if let Place::Output(position) = &mut piece.place {
                *position -= written;
            }
        }
    }
}

impl Piece {
    fn write(&self, out: &mut Vec<u8>) {
        if self.is_changed {
            let quoted = serde_json::Value::from(String::from_utf8_lossy(&self.shown)).to_string();
            out.extend_from_slice(&quoted.as_bytes()[1..quoted.len() - 1]);
        } else {
            out.extend_from_slice(&self.raw);
        }
    }
}

//! Splits one stream of a session into lines as it grows, from an exact byte, so that the next reader continues where the last one was.
//!
//! Workers read agents with it and the command line shows logs with it. A long line comes in parts, so memory stays bounded.

use std::io;

use longhaul_core::task::Offset;

use crate::layout::SessionDir;
use crate::log::index::Stream;
use crate::log::reader::{LogReader, Piece};

/// A longer line comes in parts of about this size.
pub const LINE_CAP: usize = 1 << 20;

/// What comes next in a log.
#[derive(Debug, PartialEq, Eq)]
pub enum LogLine {
    /// A line, or a part of one.
    Text {
        /// Without the line's end.
        bytes: Vec<u8>,
        /// The line's beginning is in it.
        begins: bool,
        /// The line's end is in it.
        ends: bool,
    },
    /// Output is missing here. The lines on either side of it are torn.
    Gap {
        /// How much; 0 if unknown.
        bytes: u64,
    },
}

/// One stream of a session, line by line.
#[derive(Debug)]
pub struct LogLines {
    reader: LogReader,
    consumed: Offset,
    /// Read and not yet handed out.
    pending: Vec<u8>,
    /// `pending` begins a line.
    begins: bool,
}

impl LogLines {
    /// The lines after `from`; the log need not exist yet.
    pub fn new(directory: &SessionDir, stream: Stream, from: Offset) -> LogLines {
        let reader = LogReader::new(directory, stream, from);
        LogLines { reader, consumed: from, pending: Vec::new(), begins: true }
    }

    /// The place after the last whole line.
    pub fn offset(&self) -> Offset {
        self.consumed
    }

    /// Whether a reader that starts at [`LogLines::offset`] sees the same lines from here on: no part of the next one was handed out.
    pub fn is_between_lines(&self) -> bool {
        self.begins
    }

    /// The lines that end in the next stretch before `end`, at most one chunk; none at the end of what exists now.
    pub fn next_before(&mut self, end: Offset) -> io::Result<Option<Vec<LogLine>>> {
        Ok(self.reader.next_piece_before(end)?.map(|piece| match piece {
            Piece::Bytes(bytes) => self.split(&bytes),
            Piece::Gap { bytes } => self.tear(bytes),
        }))
    }

    /// The rest of the last line, once no more will come.
    pub fn last(&mut self) -> Option<LogLine> {
        self.consumed = self.reader.offset();
        (!self.pending.is_empty() || !self.begins).then(|| self.cut(true))
    }

    fn split(&mut self, bytes: &[u8]) -> Vec<LogLine> {
        let end = self.reader.offset();
        let mut rest = bytes.len() as u64;
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            rest -= piece.len() as u64;
            self.pending.extend_from_slice(piece);
            if self.pending.pop_if(|last| *last == b'\n').is_some() {
                self.consumed = Offset { byte: end.byte - rest, ..end };
                lines.push(self.cut(true));
            } else if self.pending.len() > LINE_CAP {
                lines.push(self.cut(false));
            }
        }
        lines
    }

    fn tear(&mut self, missing: u64) -> Vec<LogLine> {
        self.consumed = self.reader.offset();
        let torn = (!self.pending.is_empty()).then(|| self.cut(false));
        self.begins = false;
        torn.into_iter().chain([LogLine::Gap { bytes: missing }]).collect()
    }

    fn cut(&mut self, ends: bool) -> LogLine {
        while ends && self.pending.pop_if(|last| *last == b'\r').is_some() {}
        let begins = std::mem::replace(&mut self.begins, ends);
        LogLine::Text { bytes: std::mem::take(&mut self.pending), begins, ends }
    }
}

/// What people read where output is missing.
pub fn gap_note(bytes: u64) -> String {
    format!("=== {bytes} bytes of output are missing here ===")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_comes_in_parts_and_memory_stays_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0190c5a4-7d4e-7c3a-8f00-0123456789ab");
        std::fs::create_dir(&path).unwrap();
        let session = SessionDir::at(&path).unwrap();
        let long = "x".repeat(5 * LINE_CAP);
        std::fs::write(session.out_log(), format!("{long}\r\nnext\n")).unwrap();
        let mut lines = LogLines::new(&session, Stream::Out, Offset::default());
        let (mut parts, mut ends_seen) = (Vec::new(), Vec::new());
        while let Some(next) = lines.next_before(Offset::END).unwrap() {
            assert!(lines.pending.len() <= LINE_CAP);
            for line in next {
                let LogLine::Text { bytes, begins, ends } = line else { panic!("{line:?}") };
                assert_eq!(
                    begins,
                    ends_seen.last().is_none_or(|ended| *ended),
                    "a line begins where the last one ended"
                );
                assert!(bytes.len() < 2 * LINE_CAP);
                parts.push(bytes);
                ends_seen.push(ends);
            }
        }
        assert_eq!(parts.pop().unwrap(), b"next");
        assert_eq!(parts.concat(), long.as_bytes());
        assert_eq!(ends_seen.iter().filter(|ends| **ends).count(), 2);
        assert_eq!((lines.last(), lines.offset().byte), (None, long.len() as u64 + 7));
    }
}

//! Reads a session's growing log line by line from an exact byte, so that an adopting worker goes on where the last one was.
//!
//! Used by the attend effect. Knows nothing of what the lines mean, and never writes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use longhaul_core::task::Offset;

/// A line longer than this is not parsed; it stays whole in the log.
const LINE_CAP: usize = 1 << 20;
const CHUNK: usize = 64 << 10;

/// One log, read as it grows.
pub(crate) struct Tail {
    path: PathBuf,
    file: Option<File>,
    /// The byte after the last whole line.
    consumed: u64,
    partial: Vec<u8>,
    /// Bytes of the unfinished line that were dropped because it is too long.
    skipped: u64,
}

/// One line of output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Without its newline.
    Whole(Vec<u8>),
    /// Too long to parse.
    Oversize,
}

impl Tail {
    pub(crate) fn new(path: PathBuf, from: Offset) -> Tail {
        Tail { path, file: None, consumed: from.byte, partial: Vec::new(), skipped: 0 }
    }

    /// The place after the last whole line.
    pub(crate) fn offset(&self) -> Offset {
        Offset { segment: 0, byte: self.consumed }
    }

    /// The lines of the next stretch, at most one chunk; `None` at the end of what is there now.
    pub(crate) fn next(&mut self) -> io::Result<Option<Vec<Line>>> {
        let Some(file) = self.open()? else { return Ok(None) };
        let mut chunk = vec![0; CHUNK];
        let read = file.read(&mut chunk)?;
        if read == 0 {
            return Ok(None);
        }
        chunk.truncate(read);
        Ok(Some(self.split(&chunk)))
    }

    /// The unfinished last line, once no more will come.
    pub(crate) fn last(&mut self) -> Option<Line> {
        if self.partial.is_empty() && self.skipped == 0 {
            return None;
        }
        self.consumed += self.skipped + self.partial.len() as u64;
        Some(self.finish_line())
    }

    fn open(&mut self) -> io::Result<Option<&mut File>> {
        if self.file.is_none() {
            let mut file = match File::open(&self.path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
            file.seek(SeekFrom::Start(self.consumed))?;
            self.file = Some(file);
        }
        Ok(self.file.as_mut())
    }

    fn split(&mut self, chunk: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if self.partial.len() > LINE_CAP {
                self.skipped += self.partial.len() as u64;
                self.partial.clear();
            }
            if piece.ends_with(b"\n") {
                self.consumed += self.skipped + self.partial.len() as u64;
                lines.push(self.finish_line());
            }
        }
        lines
    }

    fn finish_line(&mut self) -> Line {
        let oversize = std::mem::take(&mut self.skipped) > 0;
        let mut line = std::mem::take(&mut self.partial);
        while matches!(line.last(), Some(b'\n' | b'\r')) {
            line.pop();
        }
        if oversize { Line::Oversize } else { Line::Whole(line) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn goes_on_at_the_exact_byte_over_torn_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.log");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"one\r\ntw").unwrap();
        let mut tail = Tail::new(path.clone(), Offset::default());
        assert_eq!(tail.next().unwrap().unwrap(), [whole("one")]);
        assert_eq!(tail.offset().byte, 5);
        file.write_all(b"o\nthree").unwrap();
        let mut adopted = Tail::new(path, tail.offset());
        assert_eq!(adopted.next().unwrap().unwrap(), [whole("two")]);
        assert!(adopted.next().unwrap().is_none());
        assert_eq!(adopted.last(), Some(whole("three")));
        assert_eq!(adopted.offset().byte, 14);
        assert_eq!(adopted.last(), None);
    }

    #[test]
    fn a_line_over_the_cap_is_one_oversize_line_and_the_next_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.log");
        let long = vec![b'x'; 3 * LINE_CAP];
        std::fs::write(&path, [&long[..], b"\nnext\n"].concat()).unwrap();
        let mut tail = Tail::new(path, Offset::default());
        let mut lines = Vec::new();
        while let Some(more) = tail.next().unwrap() {
            lines.extend(more);
        }
        assert_eq!(lines, [Line::Oversize, whole("next")]);
        assert_eq!(tail.offset().byte, 3 * LINE_CAP as u64 + 6);
    }

    #[test]
    fn a_log_that_is_not_there_yet_has_no_lines() {
        let mut tail = Tail::new("/nonexistent/out.log".into(), Offset::default());
        assert!(tail.next().unwrap().is_none());
    }
}

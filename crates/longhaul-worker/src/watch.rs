//! Reads a session's growing log line by line from an exact byte, so that an adopting worker goes on where the last one was.
//!
//! Used by the attend effect. Knows nothing of what the lines mean, and never writes.

use std::io;

use longhaul_core::fingerprint;
use longhaul_core::task::Offset;
use longhaul_keeper::{LogReader, Piece, SessionDir, Stream};
use sha2::{Digest, Sha256};

/// A line longer than this is not parsed; it stays whole in the log.
const LINE_CAP: usize = 1 << 20;

/// One stream of a session, read as it grows.
pub(crate) struct Tail {
    reader: LogReader,
    /// The place after the last whole line.
    consumed: Offset,
    line: Unfinished,
}

/// One line of output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Without its end.
    Whole(Vec<u8>),
    /// Too long to parse.
    Oversize {
        /// How long, without its newline.
        length: u64,
        /// SHA-256 of all that, in hexadecimal.
        hash: String,
    },
    /// No line: output is missing here. What the hole tore on either side is left out.
    Gap {
        /// How much; 0 if nobody knows.
        bytes: u64,
    },
}

impl Line {
    /// Adds it to a text for people.
    pub(crate) fn show(&self, text: &mut Vec<u8>) {
        match self {
            Line::Whole(line) => text.extend_from_slice(line),
            Line::Oversize { length, hash } => {
                text.extend_from_slice(format!("=== a line of {length} bytes, SHA-256 {hash} ===").as_bytes());
            }
            Line::Gap { bytes } => {
                text.extend_from_slice(format!("=== {bytes} bytes of output are missing here ===").as_bytes());
            }
        }
        text.push(b'\n');
    }
}

/// What is known of the line that has not ended yet.
enum Unfinished {
    Short(Vec<u8>),
    Long {
        length: u64,
        hash: Box<Sha256>,
    },
    /// Its beginning is missing.
    Torn,
}

impl Tail {
    pub(crate) fn new(session: &SessionDir, stream: Stream, from: Offset) -> Tail {
        let reader = LogReader::new(session, stream, from);
        Tail { reader, consumed: from, line: Unfinished::Short(Vec::new()) }
    }

    /// The place after the last whole line.
    pub(crate) fn offset(&self) -> Offset {
        self.consumed
    }

    /// The lines of the next stretch, at most one chunk; `None` at the end of what is there now.
    pub(crate) fn next(&mut self) -> io::Result<Option<Vec<Line>>> {
        Ok(match self.reader.next_piece()? {
            None => None,
            Some(Piece::Bytes(bytes)) => Some(self.split(&bytes)),
            Some(Piece::Gap { bytes }) => {
                self.line = Unfinished::Torn;
                self.consumed = self.reader.offset();
                Some(vec![Line::Gap { bytes }])
            }
        })
    }

    /// The unfinished last line, once no more will come.
    pub(crate) fn last(&mut self) -> Option<Line> {
        self.consumed = self.reader.offset();
        match std::mem::replace(&mut self.line, Unfinished::Short(Vec::new())) {
            Unfinished::Short(line) if line.is_empty() => None,
            unfinished @ (Unfinished::Short(_) | Unfinished::Long { .. } | Unfinished::Torn) => unfinished.finish(),
        }
    }

    fn split(&mut self, bytes: &[u8]) -> Vec<Line> {
        let end = self.reader.offset();
        let mut rest = bytes.len() as u64;
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            rest -= piece.len() as u64;
            let Some(last) = piece.strip_suffix(b"\n") else {
                self.line.extend(piece);
                continue;
            };
            self.line.extend(last);
            self.consumed = Offset { byte: end.byte - rest, ..end };
            lines.extend(std::mem::replace(&mut self.line, Unfinished::Short(Vec::new())).finish());
        }
        lines
    }
}

impl Unfinished {
    fn extend(&mut self, bytes: &[u8]) {
        match self {
            Unfinished::Torn => {}
            Unfinished::Long { length, hash } => {
                *length += bytes.len() as u64;
                hash.update(bytes);
            }
            Unfinished::Short(line) => {
                line.extend_from_slice(bytes);
                if line.len() > LINE_CAP {
                    let hash = Box::new(Sha256::new_with_prefix(&*line));
                    *self = Unfinished::Long { length: line.len() as u64, hash };
                }
            }
        }
    }

    fn finish(self) -> Option<Line> {
        match self {
            Unfinished::Torn => None,
            Unfinished::Long { length, hash } => {
                Some(Line::Oversize { length, hash: fingerprint::hex(&hash.finalize()) })
            }
            Unfinished::Short(mut line) => {
                line.truncate(line.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1));
                Some(Line::Whole(line))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use longhaul_core::time::Time;
    use longhaul_keeper::{EntryKind, IndexEntry};

    use super::*;

    struct Scene {
        _dir: tempfile::TempDir,
        session: SessionDir,
    }

    impl Scene {
        fn new() -> Scene {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("0190c5a4-7d4e-7c3a-8f00-0123456789ab");
            std::fs::create_dir(&path).unwrap();
            Scene { session: SessionDir::at(&path).unwrap(), _dir: dir }
        }

        fn segment(&self, number: u32, bytes: &[u8]) -> File {
            let mut file = File::create(self.session.segment(Stream::Out, number)).unwrap();
            file.write_all(bytes).unwrap();
            file
        }

        fn tail(&self, from: Offset) -> Tail {
            Tail::new(&self.session, Stream::Out, from)
        }
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    fn all(tail: &mut Tail) -> Vec<Line> {
        std::iter::from_fn(|| tail.next().unwrap()).flatten().collect()
    }

    #[test]
    fn goes_on_at_the_exact_byte_over_torn_lines() {
        let scene = Scene::new();
        let mut file = scene.segment(0, b"one\r\ntw");
        let mut tail = scene.tail(Offset::default());
        assert_eq!(tail.next().unwrap().unwrap(), [whole("one")]);
        assert_eq!(tail.offset().byte, 5);
        file.write_all(b"o\nthree").unwrap();
        let mut adopted = scene.tail(tail.offset());
        assert_eq!(adopted.next().unwrap().unwrap(), [whole("two")]);
        assert!(adopted.next().unwrap().is_none());
        assert_eq!(adopted.last(), Some(whole("three")));
        assert_eq!(adopted.offset().byte, 14);
        assert_eq!(adopted.last(), None);
    }

    #[test]
    fn a_line_over_two_segments_is_one_line_and_can_be_read_again() {
        let scene = Scene::new();
        scene.segment(0, b"one\ntw");
        let mut tail = scene.tail(Offset::default());
        assert_eq!(all(&mut tail), [whole("one")]);
        scene.segment(1, b"o\nthree\n");
        let mut adopted = scene.tail(tail.offset());
        for tail in [&mut tail, &mut adopted] {
            assert_eq!(all(tail), [whole("two"), whole("three")]);
            assert_eq!(tail.offset(), Offset { segment: 1, byte: 8 });
        }
    }

    #[test]
    fn a_gap_is_told_and_what_it_tore_is_left_out() {
        let scene = Scene::new();
        scene.segment(0, b"one\n{\"torn\":");
        scene.segment(3, b"rest}\nnext\n");
        let gap = |segment, length| IndexEntry {
            time: Time(0),
            segment,
            offset: 0,
            length,
            stream: Stream::Out,
            kind: EntryKind::Gap,
        };
        let records = [gap(1, 100), gap(2, 20), IndexEntry { stream: Stream::Err, ..gap(1, 7) }];
        std::fs::write(scene.session.index(), records.map(IndexEntry::to_bytes).concat()).unwrap();
        let mut tail = scene.tail(Offset::default());
        assert_eq!(all(&mut tail), [whole("one"), Line::Gap { bytes: 120 }, whole("next")]);
        let mut inside = scene.tail(Offset { segment: 1, byte: 30 });
        assert_eq!(all(&mut inside), [Line::Gap { bytes: 90 }, whole("next")]);
    }

    #[test]
    fn a_line_over_the_cap_is_one_oversize_line_and_the_next_is_read() {
        let scene = Scene::new();
        let long = vec![b'x'; 3 * LINE_CAP];
        scene.segment(0, &[&long[..], b"\nnext\n"].concat());
        let mut tail = scene.tail(Offset::default());
        let hash = fingerprint::of_bytes(&long);
        assert_eq!(all(&mut tail), [Line::Oversize { length: long.len() as u64, hash }, whole("next")]);
        assert_eq!(tail.offset().byte, 3 * LINE_CAP as u64 + 6);
    }

    #[test]
    fn garbage_is_kept_and_the_next_line_is_read() {
        let scene = Scene::new();
        scene.segment(0, b"\xef\xbb\xbfbom\n\0\xff\xfe\n\r\n\nfine\n");
        let lines = [b"\xef\xbb\xbfbom".to_vec(), b"\0\xff\xfe".to_vec(), vec![], vec![], b"fine".to_vec()];
        assert_eq!(all(&mut scene.tail(Offset::default())), lines.map(Line::Whole));
    }

    #[test]
    fn a_log_that_is_not_there_yet_has_no_lines() {
        let scene = Scene::new();
        assert!(scene.tail(Offset::default()).next().unwrap().is_none());
    }
}

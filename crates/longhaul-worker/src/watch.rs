//! Reads a session's growing log for its agent: whole lines to parse, and a hash of each line that is too long for that.
//!
//! Used by the attend effect. Knows nothing of what the lines mean, and never writes.

use std::io;

use longhaul_core::fingerprint;
use longhaul_core::task::Offset;
use longhaul_keeper::{LogLine, LogLines, SessionDir, Stream, gap_note};
use sha2::{Digest, Sha256};

/// One stream of a session, read as it grows.
pub(crate) struct Tail {
    lines: LogLines,
    /// The line that is too long to parse and has not ended yet.
    long: Option<(u64, Sha256)>,
}

/// One line of output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Without its end.
    Whole(Vec<u8>),
    /// Too long to parse; it stays whole in the log.
    Oversize {
        /// How long, without its end.
        length: u64,
        /// SHA-256 of all that, in hexadecimal.
        hash: String,
    },
    /// No line: output is missing here. What the hole tore on either side is left out.
    Gap {
        /// How much; 0 if unknown.
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
            Line::Gap { bytes } => text.extend_from_slice(gap_note(*bytes).as_bytes()),
        }
        text.push(b'\n');
    }
}

impl Tail {
    pub(crate) fn new(session: &SessionDir, stream: Stream, from: Offset) -> Tail {
        Tail { lines: LogLines::new(session, stream, from), long: None }
    }

    /// The place after the last whole line.
    pub(crate) fn offset(&self) -> Offset {
        self.lines.offset()
    }

    /// The lines of the next stretch, at most one chunk; `None` at the end of what exists now.
    pub(crate) fn next(&mut self) -> io::Result<Option<Vec<Line>>> {
        let lines = self.lines.next_before(Offset::END)?;
        Ok(lines.map(|lines| lines.into_iter().filter_map(|line| self.join(line)).collect()))
    }

    /// The unfinished last line, once no more will come.
    pub(crate) fn last(&mut self) -> Option<Line> {
        self.lines.last().and_then(|line| self.join(line))
    }

    fn join(&mut self, line: LogLine) -> Option<Line> {
        match line {
            LogLine::Gap { bytes } => {
                self.long = None;
                Some(Line::Gap { bytes })
            }
            LogLine::Text { bytes, begins: true, ends: true } => Some(Line::Whole(bytes)),
            LogLine::Text { bytes, begins, ends } => {
                // A part that follows none is the torn end of a line.
                let (length, hash) = if begins { (0, Sha256::new()) } else { self.long.take()? };
                let (length, hash) = (length + bytes.len() as u64, hash.chain_update(&bytes));
                if ends {
                    return Some(Line::Oversize { length, hash: fingerprint::hex(&hash.finalize()) });
                }
                self.long = Some((length, hash));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use longhaul_core::time::Time;
    use longhaul_keeper::{EntryKind, IndexEntry, LINE_CAP};

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

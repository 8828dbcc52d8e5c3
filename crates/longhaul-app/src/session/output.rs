//! What one session printed, both streams in the order of the keeper's index, line by line as it grows.
//! Used by `logs`. It only reads the keeper's files, and knows nothing of what the lines mean.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;

use longhaul_core::task::Offset;
use longhaul_core::time::Time;
use longhaul_keeper::{INDEX_RECORD, LogLine, LogLines, SessionDir, Stream, gap_note, read_index};

/// At most so much of the index is read at once.
const CHUNK: usize = 64 << 10;

/// A line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputLine {
    /// When it was printed, if the index has a time.
    pub(crate) at: Option<Time>,
    /// Where it was printed.
    pub(crate) stream: Stream,
    /// Without its end. A very long line comes in parts.
    pub(crate) bytes: Vec<u8>,
}

/// How far the output of a session was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OutputPlace {
    /// Records of the index whose output was read.
    pub(crate) records: u64,
    pub(crate) out: Offset,
    pub(crate) err: Offset,
}

/// The output of one session, read as it grows.
pub(crate) struct SessionOutput {
    index: Index,
    out: LogLines,
    err: LogLines,
    /// What the index says was printed and is not read yet.
    entries: VecDeque<(Option<Time>, Stream, Offset)>,
    /// Records of the index whose output was read.
    records: u64,
    /// What is being read.
    stretch: Option<(Option<Time>, Stream, Offset)>,
    ended: bool,
    /// Streams whose rest is still to be read after the end.
    unread: VecDeque<Stream>,
}

impl SessionOutput {
    /// The output of the session in this directory from a place on; nothing needs to be there yet.
    pub(crate) fn new(session: &SessionDir, OutputPlace { records, out, err }: OutputPlace) -> SessionOutput {
        let read_to = records.saturating_mul(INDEX_RECORD as u64);
        let index = Index { session: session.clone(), file: None, read_to, pending: Vec::new() };
        let (out, err) = (LogLines::new(session, Stream::Out, out), LogLines::new(session, Stream::Err, err));
        let (entries, unread) = (VecDeque::new(), VecDeque::new());
        SessionOutput { index, out, err, entries, records, stretch: None, ended: false, unread }
    }

    /// Where another reader would continue with the same lines; none in the middle of a very long line.
    pub(crate) fn place(&self) -> Option<OutputPlace> {
        let (out, err) = (&self.out, &self.err);
        let is_whole = out.is_between_lines() && err.is_between_lines();
        is_whole.then(|| OutputPlace { records: self.records, out: out.offset(), err: err.offset() })
    }

    /// The next lines, as many as one chunk has, maybe none; nothing at the end of what was printed so far.
    pub(crate) fn more(&mut self) -> Option<Vec<OutputLine>> {
        loop {
            if let Some((at, stream, end)) = self.stretch {
                // A log that cannot be read has nothing to show.
                if let Ok(Some(lines)) = self.log(stream).next_before(end) {
                    return Some(lines.into_iter().map(|line| shown(line, at, stream)).collect());
                }
                self.stretch = None;
                if end == Offset::END {
                    let last = self.log(stream).last().map(|line| shown(line, at, stream));
                    return Some(last.into_iter().filter(|line| !line.bytes.is_empty()).collect());
                }
                self.records += 1;
            }
            self.stretch = Some(self.next_stretch()?);
        }
    }

    /// No more will come: after what the index knows, the rest of both streams follows, also last lines without an end.
    pub(crate) fn end(&mut self) {
        if !self.ended {
            self.ended = true;
            self.unread.extend([Stream::Out, Stream::Err]);
        }
    }

    /// What is to be read next, and how far.
    fn next_stretch(&mut self) -> Option<(Option<Time>, Stream, Offset)> {
        while self.entries.is_empty() {
            match self.index.next() {
                Some(records) => {
                    let entries = read_index(&records);
                    self.entries.extend(entries.iter().map(|entry| (Some(entry.time), entry.stream, entry.end())));
                }
                None => return self.unread.pop_front().map(|stream| (None, stream, Offset::END)),
            }
        }
        self.entries.pop_front()
    }

    fn log(&mut self, stream: Stream) -> &mut LogLines {
        match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        }
    }
}

fn shown(line: LogLine, at: Option<Time>, stream: Stream) -> OutputLine {
    let bytes = match line {
        LogLine::Text { bytes, .. } => bytes,
        LogLine::Gap { bytes } => gap_note(bytes).into_bytes(),
    };
    OutputLine { at, stream, bytes }
}

/// The growing index.
struct Index {
    session: SessionDir,
    file: Option<File>,
    read_to: u64,
    /// A record that is not whole yet.
    pending: Vec<u8>,
}

impl Index {
    /// The next whole records; none at the end of what is there now. A file that is not there is empty.
    fn next(&mut self) -> Option<Vec<u8>> {
        if self.file.is_none() {
            self.file = File::open(self.session.index()).ok();
        }
        let mut chunk = vec![0; CHUNK];
        let read = self.file.as_ref()?.read_at(&mut chunk, self.read_to).ok()?;
        self.read_to += read as u64;
        self.pending.extend_from_slice(&chunk[..read]);
        let whole = self.pending.len() / INDEX_RECORD * INDEX_RECORD;
        (read > 0).then(|| self.pending.drain(..whole).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::path::Path;

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

        /// As the keeper does: first the output, then its record.
        fn print(&self, stream: Stream, text: &str) {
            let log = if stream == Stream::Out { self.session.out_log() } else { self.session.err_log() };
            let offset = append(&log, text.as_bytes());
            let mut record = [0; INDEX_RECORD];
            record[8..16].copy_from_slice(&offset.to_le_bytes());
            record[16..20].copy_from_slice(&u32::try_from(text.len()).unwrap().to_le_bytes());
            record[20] = u8::from(stream == Stream::Err);
            append(&self.session.index(), &record);
        }
    }

    fn append(path: &Path, bytes: &[u8]) -> u64 {
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(bytes).unwrap();
        file.metadata().unwrap().len() - bytes.len() as u64
    }

    fn lines(output: &mut SessionOutput) -> Vec<String> {
        std::iter::from_fn(|| output.more()).flatten().map(spelled).collect()
    }

    fn spelled(line: OutputLine) -> String {
        let mark = if line.stream == Stream::Out { "1" } else { "2" };
        format!("{mark}:{}", String::from_utf8(line.bytes).unwrap())
    }

    fn rest(output: &mut SessionOutput) -> Vec<String> {
        output.end();
        lines(output)
    }

    #[test]
    fn both_streams_come_in_the_order_in_which_they_were_printed() {
        let scene = Scene::new();
        let mut output = SessionOutput::new(&scene.session, OutputPlace::default());
        assert!(lines(&mut output).is_empty(), "nothing is there yet");
        scene.print(Stream::Out, "one\nto");
        scene.print(Stream::Err, "oops\r\n");
        assert_eq!(lines(&mut output), ["1:one", "2:oops"]);
        scene.print(Stream::Out, "rn\n");
        scene.print(Stream::Err, "again\n");
        assert_eq!(lines(&mut output), ["1:torn", "2:again"]);
        let mut late = SessionOutput::new(&scene.session, OutputPlace::default());
        assert_eq!(rest(&mut late), ["1:one", "2:oops", "1:torn", "2:again"], "late or early alike");
        assert!(rest(&mut output).is_empty(), "nothing comes twice");
    }

    #[test]
    fn the_rest_is_what_no_record_tells_of_and_lines_without_an_end() {
        let scene = Scene::new();
        scene.print(Stream::Out, "one\ntwo");
        append(&scene.session.err_log(), b"unrecorded\nlast");
        let mut output = SessionOutput::new(&scene.session, OutputPlace::default());
        assert_eq!(lines(&mut output), ["1:one"]);
        assert_eq!(rest(&mut output), ["1:two", "2:unrecorded", "2:last"]);
    }

    #[test]
    fn output_goes_on_in_the_next_segment_and_a_missing_one_is_told() {
        let scene = Scene::new();
        scene.print(Stream::Out, "one\n");
        append(&scene.session.segment(Stream::Out, 1), b"two\nto");
        append(&scene.session.segment(Stream::Out, 3), b"rn\nfour\n");
        let mut output = SessionOutput::new(&scene.session, OutputPlace::default());
        let expected = ["1:one", "1:two", "1:to", "1:=== 0 bytes of output are missing here ===", "1:rn", "1:four"];
        assert_eq!(rest(&mut output), expected);
    }

    /// Whoever has listed an old directory once must list it again behind the next gap.
    #[test]
    fn several_missing_segments_are_passed() {
        let scene = Scene::new();
        scene.print(Stream::Out, "one\n");
        append(&scene.session.segment(Stream::Out, 2), b"two\n");
        append(&scene.session.segment(Stream::Out, 4), b"three\n");
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
        std::fs::File::open(scene.session.path()).unwrap().set_modified(long_ago).unwrap();
        let mut output = SessionOutput::new(&scene.session, OutputPlace::default());
        let gap = "1:=== 0 bytes of output are missing here ===";
        assert_eq!(rest(&mut output), ["1:one", gap, "1:two", gap, "1:three"]);
    }

    #[test]
    fn an_endless_line_is_handed_on_in_pieces() {
        let scene = Scene::new();
        scene.print(Stream::Out, &"x".repeat(5 << 20));
        let mut output = SessionOutput::new(&scene.session, OutputPlace::default());
        assert!(lines(&mut output).iter().all(|line| line.len() < 2 << 20));
    }

    #[test]
    fn another_reader_continues_at_every_place_with_the_lines_that_follow() {
        let scene = Scene::new();
        for number in 0..4 {
            scene.print(Stream::Out, &format!("whole {number}\nbroken "));
            scene.print(Stream::Err, &format!("oops {number}\n"));
        }
        scene.print(Stream::Out, &format!("{}\nlast\n", "x".repeat(5 << 18)));
        scene.print(Stream::Err, "no end");
        // Where the parts of the long line begin depends on the reader.
        let text = |lines: &[String]| lines.concat().replace("1:", "");
        let whole = rest(&mut SessionOutput::new(&scene.session, OutputPlace::default()));
        let mut output = SessionOutput::new(&scene.session, OutputPlace::default());
        output.end();
        let (mut seen, mut places) = (Vec::new(), 0);
        loop {
            if let Some(place) = output.place() {
                places += 1;
                let follows = rest(&mut SessionOutput::new(&scene.session, place));
                assert_eq!(text(&seen) + &text(&follows), text(&whole), "{place:?}");
            }
            let Some(lines) = output.more() else { break };
            seen.extend(lines.into_iter().map(spelled));
        }
        assert!(places > 10, "{places}");
    }
}

//! What one session printed, both streams in the order of the keeper's index, line by line as it grows.
//! Used by `logs`. It only reads the keeper's files, and knows nothing of what the lines mean.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use longhaul_keeper::{INDEX_RECORD, SessionDir, Stream, read_index};

/// At most so much is read at once.
const CHUNK: usize = 64 << 10;

/// A line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutputLine {
    /// Where it was printed.
    pub(super) stream: Stream,
    /// Without its end.
    pub(super) bytes: Vec<u8>,
}

/// The output of one session, read as it grows.
pub(super) struct SessionOutput {
    index: Log,
    out: Log,
    err: Log,
}

impl SessionOutput {
    /// The output of the session in this directory; nothing needs to be there yet.
    pub(super) fn new(session: &SessionDir) -> SessionOutput {
        SessionOutput {
            index: Log::new(&session.index()),
            out: Log::new(&session.out_log()),
            err: Log::new(&session.err_log()),
        }
    }

    /// Hands on every whole line that came since the last call.
    pub(super) fn whole_lines(&mut self, print: &mut dyn FnMut(OutputLine)) {
        while let Some(chunk) = self.index.next(u64::MAX) {
            self.index.pending.extend(chunk);
        }
        let whole = self.index.pending.len() / INDEX_RECORD * INDEX_RECORD;
        let records: Vec<u8> = self.index.pending.drain(..whole).collect();
        for entry in read_index(&records) {
            let end = entry.offset.saturating_add(entry.length.into());
            self.lines_up_to(entry.stream, end, print);
        }
    }

    /// Hands on everything that is left, once no more will come: also what the index missed, and last lines without an end.
    pub(super) fn rest(&mut self, print: &mut dyn FnMut(OutputLine)) {
        self.whole_lines(print);
        for stream in [Stream::Out, Stream::Err] {
            self.lines_up_to(stream, u64::MAX, print);
            let bytes = std::mem::take(&mut self.log(stream).pending);
            if !bytes.is_empty() {
                print(OutputLine { stream, bytes });
            }
        }
    }

    fn lines_up_to(&mut self, stream: Stream, end: u64, print: &mut dyn FnMut(OutputLine)) {
        let log = self.log(stream);
        while let Some(chunk) = log.next(end) {
            for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
                log.pending.extend_from_slice(piece);
                if piece.ends_with(b"\n") {
                    let mut bytes = std::mem::take(&mut log.pending);
                    bytes.truncate(bytes.trim_ascii_end().len());
                    print(OutputLine { stream, bytes });
                }
            }
        }
    }

    fn log(&mut self, stream: Stream) -> &mut Log {
        match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        }
    }
}

/// One growing file.
struct Log {
    path: PathBuf,
    file: Option<File>,
    read_to: u64,
    /// Read and not yet handed on.
    pending: Vec<u8>,
}

impl Log {
    fn new(path: &Path) -> Log {
        Log { path: path.to_owned(), file: None, read_to: 0, pending: Vec::new() }
    }

    /// The next piece, at most to this byte; none at the end of what is there now. A file that is not there is empty.
    fn next(&mut self, end: u64) -> Option<Vec<u8>> {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok();
        }
        let wanted = usize::try_from(end.saturating_sub(self.read_to)).unwrap_or(CHUNK).min(CHUNK);
        let mut chunk = vec![0; wanted];
        let read = self.file.as_ref()?.read_at(&mut chunk, self.read_to).ok()?;
        self.read_to += read as u64;
        chunk.truncate(read);
        (read > 0).then_some(chunk)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

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

    fn lines(read: impl FnOnce(&mut dyn FnMut(OutputLine))) -> Vec<String> {
        let mut lines = Vec::new();
        read(&mut |line| {
            let mark = if line.stream == Stream::Out { "1" } else { "2" };
            lines.push(format!("{mark}:{}", String::from_utf8(line.bytes).unwrap()));
        });
        lines
    }

    #[test]
    fn both_streams_come_in_the_order_in_which_they_were_printed() {
        let scene = Scene::new();
        let mut output = SessionOutput::new(&scene.session);
        assert!(lines(|print| output.whole_lines(print)).is_empty(), "nothing is there yet");
        scene.print(Stream::Out, "one\nto");
        scene.print(Stream::Err, "oops\r\n");
        assert_eq!(lines(|print| output.whole_lines(print)), ["1:one", "2:oops"]);
        scene.print(Stream::Out, "rn\n");
        scene.print(Stream::Err, "again\n");
        assert_eq!(lines(|print| output.whole_lines(print)), ["1:torn", "2:again"]);
        let mut late = SessionOutput::new(&scene.session);
        assert_eq!(lines(|print| late.rest(print)), ["1:one", "2:oops", "1:torn", "2:again"], "late or early alike");
        assert!(lines(|print| output.rest(print)).is_empty(), "nothing comes twice");
    }

    #[test]
    fn the_rest_is_what_no_record_tells_of_and_lines_without_an_end() {
        let scene = Scene::new();
        scene.print(Stream::Out, "one\ntwo");
        append(&scene.session.err_log(), b"unrecorded\nlast");
        let mut output = SessionOutput::new(&scene.session);
        assert_eq!(lines(|print| output.whole_lines(print)), ["1:one"]);
        assert_eq!(lines(|print| output.rest(print)), ["1:two", "2:unrecorded", "2:last"]);
    }
}

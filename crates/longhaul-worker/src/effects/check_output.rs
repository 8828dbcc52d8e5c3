//! What a check printed, read back from its log once it has ended: how much, its hash, and the last of it for people and prompts.
//! Called by the attend effect; reads the redacted log only, so evidence can never hold a secret.

use std::io;

use longhaul_core::task::{CheckOutput, Offset};
use longhaul_core::{fingerprint, test_summary};
use longhaul_keeper::{LogReader, Piece, SessionDir, Stream};
use sha2::{Digest, Sha256};

const TAIL: usize = 4096;
const SUMMARY: usize = 64 * 1024;

/// Both streams of a session, one after the other.
pub(super) fn read(session: &SessionDir) -> CheckOutput {
    let mut whole = Whole::default();
    let mut read = |stream| whole.read(LogReader::new(session, stream, Offset::default()));
    let (Ok(out), Ok(err)) = (read(Stream::Out), read(Stream::Err)) else { return CheckOutput::default() };
    let summary = test_summary::read([&out, &err]);
    CheckOutput {
        bytes: whole.bytes,
        tail: last(&[out, err].concat(), TAIL).to_owned(),
        nothing_run: summary.nothing_ran,
        up_to_date: summary.up_to_date,
        sha256: Some(fingerprint::hex(&whole.hash.finalize())),
    }
}

#[derive(Default)]
struct Whole {
    hash: Sha256,
    bytes: u64,
}

impl Whole {
    /// Reads one stream and returns the last of it: a long one must not push the other's summary out of sight.
    fn read(&mut self, mut log: LogReader) -> io::Result<String> {
        let mut end = Vec::new();
        while let Some(piece) = log.next_piece()? {
            let bytes = match piece {
                Piece::Bytes(bytes) => bytes,
                // What was dropped is not part of the evidence; the session's end reports that it was.
                Piece::Gap { .. } => continue,
            };
            self.hash.update(&bytes);
            self.bytes += bytes.len() as u64;
            end.extend_from_slice(&bytes);
            let surplus = end.len().saturating_sub(SUMMARY);
            end.drain(..surplus);
        }
        Ok(String::from_utf8_lossy(&end).into_owned())
    }
}

/// The end of a text, at most so many bytes, from the start of a line where there is one.
fn last(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let tail = &text[from..];
    match tail.find('\n') {
        Some(line) if from > 0 && line + 1 < tail.len() => &tail[line + 1..],
        Some(_) | None => tail,
    }
}

#[cfg(test)]
mod tests {
    use longhaul_keeper::{SessionDir, Stream};

    use super::{last, read};
    use longhaul_app::mint_session;

    #[test]
    fn both_streams_are_evidence_and_only_the_end_is_quoted() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(mint_session().to_string());
        std::fs::create_dir(&path).unwrap();
        let dir = SessionDir::at(&path).unwrap();
        std::fs::write(dir.segment(Stream::Out, 0), "a\n".repeat(10_000)).unwrap();
        std::fs::write(dir.segment(Stream::Err, 0), "Ran 0 tests in 0.1s\n").unwrap();
        let seen = read(&dir);
        assert_eq!((seen.bytes, seen.nothing_run), (20_020, true));
        assert!(seen.tail.ends_with("Ran 0 tests in 0.1s\n") && seen.tail.len() <= 4096);
        assert!(seen.sha256.is_some());
    }

    #[test]
    fn a_flood_on_one_stream_hides_no_summary_on_the_other() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(mint_session().to_string());
        std::fs::create_dir(&path).unwrap();
        let dir = SessionDir::at(&path).unwrap();
        std::fs::write(dir.segment(Stream::Out, 0), "0 examples, 0 failures\n").unwrap();
        std::fs::write(dir.segment(Stream::Err, 0), "noise\n".repeat(30_000)).unwrap();
        assert!(read(&dir).nothing_run);
    }

    #[test]
    fn a_tail_begins_with_a_line_and_never_inside_a_character() {
        assert_eq!(last("one\ntwo\nthree", 8), "three");
        assert_eq!(last("ééé", 3), "é");
        assert_eq!(last("short", 80), "short");
    }
}

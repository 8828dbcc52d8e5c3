//! The logs of one session: redacted output of both streams, and an index of when each piece came.
//!
//! The pump writes them; workers read the files. A log that can not be written never stops the agent: the pipe is
//! drained on, the loss is counted and the first failure is kept for the end record.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use longhaul_core::time::Time;

use crate::clock::now;
use crate::fail_point::reach;
use crate::layout::SessionDir;

/// The size of one index record: time, offset, length, stream and padding, little-endian.
pub const INDEX_RECORD: usize = 24;

/// At most this much time passes before written output is on disk.
const SYNC_EVERY: Duration = Duration::from_millis(100);

/// Which of the two streams of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output, `out.log`.
    Out,
    /// Standard error, `err.log`.
    Err,
}

/// One piece of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexEntry {
    /// When it was written.
    pub time: Time,
    /// Where it begins in its log.
    pub offset: u64,
    /// How long it is.
    pub length: u32,
    /// Whose log.
    pub stream: Stream,
}

/// Reads an index; a torn last record, as a crash leaves it, is left out.
pub fn read_index(bytes: &[u8]) -> Vec<IndexEntry> {
    let (records, _torn) = bytes.as_chunks::<INDEX_RECORD>();
    records.iter().map(IndexEntry::from_bytes).collect()
}

impl IndexEntry {
    fn from_bytes(record: &[u8; INDEX_RECORD]) -> IndexEntry {
        let [t0, t1, t2, t3, t4, t5, t6, t7, o0, o1, o2, o3, o4, o5, o6, o7, l0, l1, l2, l3, stream, ..] = *record;
        IndexEntry {
            time: Time(i64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7])),
            offset: u64::from_le_bytes([o0, o1, o2, o3, o4, o5, o6, o7]),
            length: u32::from_le_bytes([l0, l1, l2, l3]),
            stream: if stream == 0 { Stream::Out } else { Stream::Err },
        }
    }

    fn to_bytes(self) -> [u8; INDEX_RECORD] {
        let mut record = [0; INDEX_RECORD];
        record[..8].copy_from_slice(&self.time.0.to_le_bytes());
        record[8..16].copy_from_slice(&self.offset.to_le_bytes());
        record[16..20].copy_from_slice(&self.length.to_le_bytes());
        record[20] = u8::from(self.stream == Stream::Err);
        record
    }
}

/// What output passes before it reaches any disk; one per stream, made at the first byte.
pub(crate) trait Filter {
    /// Takes a piece and adds to `out` what may be shown by now.
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>);
    /// Adds to `out` what was held back.
    fn finish(&mut self, out: &mut Vec<u8>);
}

/// Makes filters when they are needed.
pub(crate) type MakeFilter = Box<dyn FnMut() -> Box<dyn Filter>>;

/// The three open log files.
pub(crate) struct Logs {
    out: Log,
    err: Log,
    index: File,
    index_len: u64,
    make_filter: MakeFilter,
    passed: Vec<u8>,
    gap_bytes: u64,
    error: Option<String>,
    dirty_since: Option<Instant>,
}

struct Log {
    file: File,
    len: u64,
    filter: Option<Box<dyn Filter>>,
}

/// Lengths and losses, for the end record.
#[derive(Debug, Clone)]
pub(crate) struct LogTotals {
    pub(crate) out_len: u64,
    pub(crate) err_len: u64,
    pub(crate) index_len: u64,
    pub(crate) gap_bytes: u64,
    pub(crate) error: Option<String>,
}

impl Logs {
    /// Makes the files; a session is run once, so none may be there.
    pub(crate) fn create(directory: &SessionDir, make_filter: MakeFilter) -> io::Result<Logs> {
        Ok(Logs {
            out: Log { file: create(&directory.out_log())?, len: 0, filter: None },
            err: Log { file: create(&directory.err_log())?, len: 0, filter: None },
            index: create(&directory.index())?,
            index_len: 0,
            make_filter,
            passed: Vec::new(),
            gap_bytes: 0,
            error: None,
            dirty_since: None,
        })
    }

    /// Takes raw output.
    pub(crate) fn take(&mut self, stream: Stream, bytes: &[u8]) {
        let mut passed = std::mem::take(&mut self.passed);
        let log = if stream == Stream::Out { &mut self.out } else { &mut self.err };
        log.filter.get_or_insert_with(&mut self.make_filter).push(bytes, &mut passed);
        self.write(stream, &passed);
        passed.clear();
        self.passed = passed;
    }

    /// Writes what the filters still hold back and syncs everything.
    pub(crate) fn finish(&mut self) -> LogTotals {
        for stream in [Stream::Out, Stream::Err] {
            let mut rest = Vec::new();
            let log = if stream == Stream::Out { &mut self.out } else { &mut self.err };
            if let Some(mut filter) = log.filter.take() {
                filter.finish(&mut rest);
            }
            self.write(stream, &rest);
        }
        self.sync();
        LogTotals {
            out_len: self.out.len,
            err_len: self.err.len,
            index_len: self.index_len,
            gap_bytes: self.gap_bytes,
            error: self.error.clone(),
        }
    }

    /// When written output must be synced.
    pub(crate) fn sync_at(&self) -> Option<Instant> {
        self.dirty_since?.checked_add(SYNC_EVERY)
    }

    /// Syncs if that is due.
    pub(crate) fn sync_if_due(&mut self, now: Instant) {
        if self.sync_at().is_some_and(|at| at <= now) {
            self.sync();
        }
    }

    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.dirty_since.get_or_insert_with(Instant::now);
        let log = if stream == Stream::Out { &mut self.out } else { &mut self.err };
        let offset = log.len;
        let result = append(&mut log.file, bytes);
        let written = match &result {
            Ok(()) => bytes.len(),
            Err((written, _)) => *written,
        };
        log.len += written as u64;
        self.gap_bytes += (bytes.len() - written) as u64;
        if let Err((_, error)) = result {
            self.note(&error);
        }
        if written > 0 {
            let length = u32::try_from(written).unwrap_or(u32::MAX);
            self.write_index(IndexEntry { time: now(), offset, length, stream });
        }
        reach("keeper.output");
    }

    fn write_index(&mut self, entry: IndexEntry) {
        match append(&mut self.index, &entry.to_bytes()) {
            Ok(()) => self.index_len += INDEX_RECORD as u64,
            Err((_, error)) => {
                // Half a record in the middle would shift all that follow.
                if let Err(error) = self.index.set_len(self.index_len) {
                    self.note(&error);
                }
                self.note(&error);
            }
        }
    }

    fn sync(&mut self) {
        if self.dirty_since.take().is_none() {
            return;
        }
        for result in [self.out.file.sync_data(), self.err.file.sync_data(), self.index.sync_data()] {
            if let Err(error) = result {
                self.note(&error);
            }
        }
    }

    fn note(&mut self, error: &io::Error) {
        self.error.get_or_insert_with(|| error.to_string());
    }
}

fn create(path: &std::path::Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

fn append(file: &mut File, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return Err((written, io::Error::from(io::ErrorKind::WriteZero))),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((written, error)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_reads_back_and_a_torn_record_is_left_out() {
        let first = IndexEntry { time: Time(-5), offset: 1 << 40, length: 7, stream: Stream::Err };
        let second = IndexEntry { time: Time(9), offset: 3, length: u32::MAX, stream: Stream::Out };
        let mut bytes = [first.to_bytes(), second.to_bytes()].concat();
        assert_eq!(read_index(&bytes), [first, second]);
        bytes.pop();
        assert_eq!(read_index(&bytes), [first]);
        assert_eq!(read_index(&[]), []);
    }
}

//! The logs of one session: redacted output of both streams in segments, and an index of when each piece came.
//!
//! The pump writes them; workers read the files. Where there is no room the rest waits here, and the pump reads no more, so
//! the program waits too; only a stop turns the wait into a counted loss. A log that fails in another way never stops the
//! program: its loss is counted and the first failure is kept for the end record.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use longhaul_redact::Redactor;

use crate::clock::now;
use crate::contract::Caps;
use crate::fail_point::reach;
use crate::fault;
use crate::files::{open_directory, wants_room};
use crate::layout::SessionDir;
use crate::log::index::{EntryKind, INDEX_RECORD, IndexEntry, Stream};
use crate::log::reserve::Reserve;
use crate::log::segments::{Segments, create, write_all};

/// At most this much time passes before written output is on disk.
const SYNC_EVERY: Duration = Duration::from_millis(100);
/// Between two tries at a full disk, at first and at most.
const FIRST_TRY_AGAIN: Duration = Duration::from_millis(10);
const LAST_TRY_AGAIN: Duration = Duration::from_secs(1);
/// From this size on the index gets its records only with each sync, neighbours made one.
const LARGE_INDEX: u64 = 4 << 20;

/// Makes what output passes before it reaches any disk; one per stream, made at the first byte.
pub(crate) type MakeFilter = Box<dyn FnMut() -> Redactor>;

/// The logs and their index, open.
pub(crate) struct Logs {
    directory: File,
    out: Log,
    err: Log,
    index: Index,
    make_filter: MakeFilter,
    passed: Vec<u8>,
    /// Filtered output there was no room for.
    backlog: VecDeque<(Stream, Vec<u8>)>,
    stall: Option<Stall>,
    /// What there is no room for waits for it; once somebody wants the program to end, it is lost.
    waits: bool,
    reserve: Reserve,
    error: Option<String>,
    sync_failed: bool,
    dirty_since: Option<Instant>,
}

struct Log {
    segments: Segments,
    filter: Option<Redactor>,
    /// It failed for good; what comes is counted.
    is_dead: bool,
}

struct Index {
    file: File,
    len: u64,
    waiting: Vec<IndexEntry>,
}

#[derive(Debug, Clone, Copy)]
struct Stall {
    try_at: Instant,
    pause: Duration,
}

/// Lengths and losses, for the end record.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogTotals {
    pub(crate) out_len: u64,
    pub(crate) err_len: u64,
    pub(crate) index_len: u64,
    pub(crate) gap_bytes: u64,
    pub(crate) error: Option<String>,
    pub(crate) sync_failed: bool,
}

impl Logs {
    /// Makes the files; a session is run once, so none may be there.
    pub(crate) fn create(directory: &SessionDir, caps: &Caps, make_filter: MakeFilter) -> io::Result<Logs> {
        let log = |stream| -> io::Result<Log> {
            Ok(Log { segments: Segments::create(directory, stream, caps)?, filter: None, is_dead: false })
        };
        Ok(Logs {
            directory: open_directory(directory.path())?,
            out: log(Stream::Out)?,
            err: log(Stream::Err)?,
            index: Index { file: create(&directory.index())?, len: 0, waiting: Vec::new() },
            make_filter,
            passed: Vec::new(),
            backlog: VecDeque::new(),
            stall: None,
            waits: true,
            reserve: Reserve::create(directory)?,
            error: None,
            sync_failed: false,
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

    /// Writes what the filters still hold back; afterwards there may be a stall to wait for.
    pub(crate) fn close(&mut self) {
        for stream in [Stream::Out, Stream::Err] {
            let mut rest = Vec::new();
            if let Some(mut filter) = self.log(stream).filter.take() {
                filter.finish(&mut rest);
            }
            self.write(stream, &rest);
        }
    }

    /// Syncs everything and returns the result.
    pub(crate) fn finish(&mut self) -> LogTotals {
        let mut entries = Vec::new();
        for log in [&mut self.out, &mut self.err] {
            log.segments.tell_losses(&mut entries);
        }
        self.record(entries);
        self.sync();
        LogTotals {
            out_len: self.out.segments.kept(),
            err_len: self.err.segments.kept(),
            index_len: self.index.len,
            gap_bytes: self.out.segments.gap_bytes() + self.err.segments.gap_bytes(),
            error: self.error.clone(),
            sync_failed: self.sync_failed,
        }
    }

    /// What is kept for bad times.
    pub(crate) fn reserve(&mut self) -> &mut Reserve {
        &mut self.reserve
    }

    /// When to try again, while there is no room; meanwhile nothing may be taken.
    pub(crate) fn stalled_until(&self) -> Option<Instant> {
        self.stall.map(|stall| stall.try_at)
    }

    /// Tries again if that is due.
    pub(crate) fn retry_if_due(&mut self, now: Instant) {
        let Some(stall) = self.stall.filter(|stall| stall.try_at <= now) else { return };
        self.write_backlog();
        if self.backlog.is_empty() && self.index.waiting.is_empty() {
            self.stall = None;
            self.reserve.untell();
        } else {
            let pause = (stall.pause * 2).min(LAST_TRY_AGAIN);
            self.stall = Some(Stall { try_at: now + pause, pause });
        }
    }

    /// From now on what there is no room for is counted as lost: somebody wants the program to end.
    pub(crate) fn wait_no_more(&mut self) {
        self.waits = false;
        if self.stall.take().is_some() {
            self.write_backlog();
            self.reserve.untell();
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

    fn log(&mut self, stream: Stream) -> &mut Log {
        match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        }
    }

    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.stall.is_some() {
            self.backlog.push_back((stream, bytes.to_vec()));
        } else if let Some(rest) = self.put(stream, bytes) {
            self.backlog.push_front((stream, rest));
        }
        reach("keeper.output");
    }

    fn write_backlog(&mut self) {
        while let Some((stream, bytes)) = self.backlog.pop_front() {
            if let Some(rest) = self.put(stream, &bytes) {
                self.backlog.push_front((stream, rest));
                return;
            }
        }
        self.flush_index();
    }

    /// Writes to one log; what has to wait for room comes back.
    fn put(&mut self, stream: Stream, bytes: &[u8]) -> Option<Vec<u8>> {
        self.dirty_since.get_or_insert_with(Instant::now);
        let waits = self.waits;
        let log = self.log(stream);
        let mut entries = Vec::new();
        let result = if log.is_dead {
            Err((0, None))
        } else {
            log.segments.append(bytes, &mut entries).map_err(|(written, error)| (written, Some(error)))
        };
        let mut rest = None;
        match result {
            Ok(()) => {}
            Err((written, Some(error))) if wants_room(&error) && waits => {
                rest = Some(bytes[written..].to_vec());
                self.stall(&error);
            }
            Err((written, error)) => {
                log.segments.lose(bytes.len() - written);
                // Also where there may be room again: it is an end by now, and its records need that room more.
                log.is_dead = true;
                error.iter().for_each(|error| self.note(error));
            }
        }
        self.record(entries);
        rest
    }

    fn stall(&mut self, error: &io::Error) {
        if self.stall.is_none() {
            self.stall = Some(Stall { try_at: Instant::now() + FIRST_TRY_AGAIN, pause: FIRST_TRY_AGAIN });
            self.reserve.tell(error, now());
            reach("keeper.stalled");
        }
    }

    /// Gives records to the index, and then drops what they mark as dropped.
    fn record(&mut self, entries: Vec<IndexEntry>) {
        if !entries.is_empty() {
            self.dirty_since.get_or_insert_with(Instant::now);
        }
        for entry in entries {
            self.index.add(entry);
        }
        let drops = self.out.segments.has_dropped() || self.err.segments.has_dropped();
        if self.index.len < LARGE_INDEX || drops {
            self.flush_index();
        }
        if drops {
            self.sync_index();
            reach("keeper.gap_recorded");
            self.out.segments.unlink_dropped();
            self.err.segments.unlink_dropped();
            reach("keeper.segment_dropped");
        }
    }

    fn flush_index(&mut self) {
        match self.index.flush() {
            Ok(()) => {}
            Err(error) if wants_room(&error) && self.waits => self.stall(&error),
            // The logs are given up, so no more records come; these are tried once more at the end.
            Err(error) if wants_room(&error) => self.note(&error),
            Err(error) => {
                self.index.waiting.clear();
                self.note(&error);
            }
        }
    }

    fn sync(&mut self) {
        if self.dirty_since.take().is_none() {
            return;
        }
        let mut entries = Vec::new();
        for log in [&mut self.out, &mut self.err] {
            // One that can not even be looked at fails its sync just below.
            let _seen = log.segments.verify(&mut entries);
        }
        self.record(entries);
        self.flush_index();
        if self.sync_failed {
            return;
        }
        let synced = fault::strike("keeper.sync")
            .and_then(|()| self.out.segments.sync(&self.directory))
            .and_then(|()| self.err.segments.sync(&self.directory));
        if let Err(error) = synced {
            self.fail_sync(&error);
        }
        self.sync_index();
    }

    fn sync_index(&mut self) {
        if !self.sync_failed
            && let Err(error) = self.index.file.sync_data()
        {
            self.fail_sync(&error);
        }
    }

    /// After a failed sync the kernel may have thrown the bytes away and would call the next sync a success.
    fn fail_sync(&mut self, error: &io::Error) {
        self.sync_failed = true;
        self.note(error);
    }

    fn note(&mut self, error: &io::Error) {
        self.error.get_or_insert_with(|| error.to_string());
    }
}

impl Index {
    /// Adds a record; a piece that starts where the last one of its stream ended is joined with it.
    fn add(&mut self, entry: IndexEntry) {
        let last = self.waiting.iter_mut().rev().find(|last| last.stream == entry.stream);
        if let Some(last) = last
            && (last.kind, entry.kind) == (EntryKind::Piece, EntryKind::Piece)
            && (last.segment, last.end().byte) == (entry.segment, entry.offset)
            && let Some(length) = last.length.checked_add(entry.length)
        {
            last.length = length;
            return;
        }
        self.waiting.push(entry);
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let bytes: Vec<u8> = self.waiting.iter().flat_map(|entry| entry.to_bytes()).collect();
        let (written, failure) = write_all(&mut self.file, &bytes);
        let whole = written / INDEX_RECORD;
        self.len += (whole * INDEX_RECORD) as u64;
        self.waiting.drain(..whole);
        let Some(error) = failure else { return Ok(()) };
        if written % INDEX_RECORD > 0 {
            // Half a record in the middle would shift all that follow.
            self.file.set_len(self.len)?;
        }
        Err(error)
    }
}

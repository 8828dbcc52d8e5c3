//! Reading one stream of a session as it grows, across segments and over what is missing.
//!
//! The one reader of logs: workers follow with it and the command line shows with it. It never writes, and a segment that
//! is dropped while it is read is read to its end.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, SystemTime};

use longhaul_core::task::Offset;

use crate::files::if_exists;
use crate::layout::SessionDir;
use crate::log::index::{EntryKind, Stream, read_index};

const CHUNK: usize = 64 << 10;
/// Times of files are at least so exact.
const SETTLED: Duration = Duration::from_millis(100);

/// What comes next in a log.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// Output, all of it in one segment.
    Bytes(Vec<u8>),
    /// Output that is missing here.
    Gap {
        /// How much; 0 if unknown.
        bytes: u64,
    },
}

/// One stream's log, read from a place on.
#[derive(Debug)]
pub struct LogReader {
    directory: SessionDir,
    stream: Stream,
    at: Offset,
    file: Option<File>,
    /// When the directory had last changed as it was listed and had no later segment.
    listed: Option<SystemTime>,
}

impl LogReader {
    /// A reader that starts at `from`; nothing needs to exist yet.
    pub fn new(directory: &SessionDir, stream: Stream, from: Offset) -> LogReader {
        LogReader { directory: directory.clone(), stream, at: from, file: None, listed: None }
    }

    /// The place after the last piece.
    pub fn offset(&self) -> Offset {
        self.at
    }

    /// The next piece; none at the end of what exists now.
    pub fn next_piece(&mut self) -> io::Result<Option<Piece>> {
        self.next_piece_before(Offset::END)
    }

    /// The next piece that begins before `end` and does not reach beyond it.
    pub fn next_piece_before(&mut self, end: Offset) -> io::Result<Option<Piece>> {
        while self.at < end {
            if let Some(bytes) = self.read(end)? {
                return Ok(Some(Piece::Bytes(bytes)));
            }
            let Some(next) = self.following()?.filter(|next| *next <= end.segment) else { return Ok(None) };
            // A segment is complete before the next one is made, so what came late can be seen by now.
            if let Some(bytes) = self.read(end)? {
                return Ok(Some(Piece::Bytes(bytes)));
            }
            let missing = self.missing_before(next)?;
            let is_next = next == self.at.segment + 1;
            self.at = Offset { segment: next, byte: 0 };
            self.file = None;
            if missing > 0 || !is_next {
                return Ok(Some(Piece::Gap { bytes: missing }));
            }
        }
        Ok(None)
    }

    fn read(&mut self, end: Offset) -> io::Result<Option<Vec<u8>>> {
        let limit = if end.segment == self.at.segment { end.byte } else { u64::MAX };
        let wanted = usize::try_from(limit.saturating_sub(self.at.byte)).unwrap_or(CHUNK).min(CHUNK);
        if self.file.is_none() {
            self.file = if_exists(File::open(self.directory.segment(self.stream, self.at.segment)))?;
        }
        let Some(file) = &self.file else { return Ok(None) };
        let mut chunk = vec![0; wanted];
        let count = file.read_at(&mut chunk, self.at.byte)?;
        chunk.truncate(count);
        self.at.byte += count as u64;
        Ok((count > 0).then_some(chunk))
    }

    /// The first segment there is after this one. The directory is listed only where the next one is missing and the directory has
    /// changed since the last listing.
    fn following(&mut self) -> io::Result<Option<u32>> {
        let next = self.at.segment.saturating_add(1);
        if self.directory.segment(self.stream, next).symlink_metadata().is_ok() {
            return Ok(Some(next));
        }
        let changed = self.directory.path().symlink_metadata().and_then(|meta| meta.modified()).ok();
        if changed.is_some() && changed == self.listed {
            return Ok(None);
        }
        let found = self.directory.segments(self.stream)?.into_iter().find(|number| *number > self.at.segment);
        // A file made a moment after the listing may leave the same time, so a young one is not trusted.
        let settled = changed.filter(|at| at.elapsed().is_ok_and(|age| age > SETTLED));
        self.listed = settled.filter(|_| found.is_none());
        Ok(found)
    }

    fn missing_before(&self, next: u32) -> io::Result<u64> {
        let index = if_exists(std::fs::read(self.directory.index()))?.unwrap_or_default();
        let passed = read_index(&index).into_iter().filter(|entry| {
            entry.kind == EntryKind::Gap
                && entry.stream == self.stream
                && (self.at.segment..next).contains(&entry.segment)
        });
        Ok(passed
            .map(|entry| {
                let read_to = if entry.segment == self.at.segment { self.at.byte } else { 0 };
                entry.end().byte.saturating_sub(read_to.max(entry.offset))
            })
            .sum())
    }
}

/// Reads the last bytes of a log, at most so many.
pub fn read_tail(directory: &SessionDir, stream: Stream, most: usize) -> io::Result<Vec<u8>> {
    let mut tail = Vec::new();
    for number in directory.segments(stream)?.into_iter().rev() {
        let Some(file) = if_exists(File::open(directory.segment(stream, number)))? else { continue };
        let wanted = (most - tail.len()) as u64;
        let length = file.metadata()?.len();
        let mut piece = vec![0; usize::try_from(length.min(wanted)).unwrap_or(most)];
        let count = file.read_at(&mut piece, length.saturating_sub(wanted))?;
        piece.truncate(count);
        piece.append(&mut tail);
        tail = piece;
        if tail.len() >= most {
            break;
        }
    }
    Ok(tail)
}

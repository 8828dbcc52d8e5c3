//! One stream's log as a row of files: segments that are filled one after the other, the middle ones dropped for the cap.
//!
//! The logs write through it. Head and tail stay; what is dropped, cut off by somebody or never written is recorded as a gap.
//! A segment is unlinked by its exact name.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::clock::now;
use crate::contract::Caps;
use crate::fault;
use crate::files::is_at;
use crate::layout::SessionDir;
use crate::log::index::{EntryKind, IndexEntry, LAST_SEGMENT, Stream};

/// The segments of one stream; the last one is open.
#[derive(Debug)]
pub(crate) struct Segments {
    directory: SessionDir,
    stream: Stream,
    segment_bytes: u64,
    log_bytes: u64,
    number: u32,
    file: File,
    len: u64,
    /// The next byte begins a new segment, because something is missing before it.
    broken: bool,
    /// Bytes in the closed segments that always stay.
    head: u64,
    head_is_full: bool,
    /// Closed segments after the head, oldest first, with their lengths.
    tail: VecDeque<(u32, u64)>,
    /// Dropped for the cap, still to be unlinked.
    doomed: Vec<u32>,
    /// Bytes that never reached the disk since the last one that did.
    lost_here: u64,
    gap_bytes: u64,
    /// Something was written to the open segment since the last sync.
    dirty: bool,
    /// Closed since the last sync.
    closed: Vec<(u32, File)>,
}

impl Segments {
    /// Makes the first segment; a session is run once, so it may not be there.
    pub(crate) fn create(directory: &SessionDir, stream: Stream, caps: &Caps) -> io::Result<Segments> {
        Ok(Segments {
            file: create(&directory.segment(stream, 0))?,
            directory: directory.clone(),
            stream,
            segment_bytes: caps.segment_bytes.min(caps.log_bytes / 4).max(1),
            log_bytes: caps.log_bytes,
            number: 0,
            len: 0,
            broken: false,
            head: 0,
            head_is_full: false,
            tail: VecDeque::new(),
            doomed: Vec::new(),
            lost_here: 0,
            gap_bytes: 0,
            dirty: false,
            closed: Vec::new(),
        })
    }

    /// Appends; adds what the index has to say of it to `entries`. An error tells how much was written.
    pub(crate) fn append(&mut self, bytes: &[u8], entries: &mut Vec<IndexEntry>) -> Result<(), (usize, io::Error)> {
        let mut done = 0;
        while done < bytes.len() {
            if self.broken || self.len >= self.segment_bytes {
                self.begin_next(entries).map_err(|error| (done, error))?;
            }
            let piece = self.fitting(&bytes[done..]);
            if piece.is_empty() {
                self.begin_next(entries).map_err(|error| (done, error))?;
                continue;
            }
            fault::strike("keeper.append").map_err(|error| (done, error))?;
            let (written, failure) = write_all(&mut self.file, piece);
            self.add(written, entries);
            done += written;
            if let Some(error) = failure {
                return Err((done, error));
            }
        }
        Ok(())
    }

    /// Counts bytes that will never be written.
    pub(crate) fn lose(&mut self, count: usize) {
        self.lost_here += count as u64;
        self.gap_bytes += count as u64;
        self.broken = true;
    }

    /// Records losses that no later byte has recorded.
    pub(crate) fn tell_losses(&mut self, entries: &mut Vec<IndexEntry>) {
        let lost = std::mem::take(&mut self.lost_here);
        self.tell_gap(self.number, self.len, lost, entries);
    }

    /// Looks whether the open segment is still ours and as long as we made it; if not, the next byte begins a new one.
    pub(crate) fn verify(&mut self, entries: &mut Vec<IndexEntry>) -> io::Result<()> {
        let in_place = is_at(&self.file, &self.directory.segment(self.stream, self.number));
        let left = if in_place { self.file.metadata()?.len() } else { 0 };
        if left != self.len || !in_place {
            let lost = self.len.saturating_sub(left);
            self.broken = true;
            self.len = self.len.min(left);
            self.gap_bytes += lost;
            self.tell_gap(self.number, self.len, lost, entries);
        }
        Ok(())
    }

    /// Unlinks what was dropped; call it once the index records the gap.
    pub(crate) fn unlink_dropped(&mut self) {
        for number in self.doomed.drain(..) {
            // One that is gone already is as good as dropped.
            let _gone = std::fs::remove_file(self.directory.segment(self.stream, number));
        }
    }

    /// Whether something was dropped and not yet unlinked.
    pub(crate) fn has_dropped(&self) -> bool {
        !self.doomed.is_empty()
    }

    /// Syncs every segment that was written to since the last time, and `directory` if it has a new one.
    pub(crate) fn sync(&mut self, directory: &File) -> io::Result<()> {
        if !self.closed.is_empty() {
            directory.sync_all()?;
        }
        for (_, file) in self.closed.drain(..) {
            file.sync_data()?;
        }
        if std::mem::take(&mut self.dirty) { self.file.sync_data() } else { Ok(()) }
    }

    /// Bytes on disk in all segments.
    pub(crate) fn kept(&self) -> u64 {
        self.head + self.tail.iter().map(|(_, len)| len).sum::<u64>() + self.len
    }

    /// Bytes that are missing.
    pub(crate) fn gap_bytes(&self) -> u64 {
        self.gap_bytes
    }

    /// The part of `bytes` that goes into the open segment: to its limit, or to the last line end before it.
    fn fitting<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let room = usize::try_from(self.segment_bytes - self.len).unwrap_or(usize::MAX);
        if bytes.len() <= room {
            return bytes;
        }
        match bytes[..room].iter().rposition(|&byte| byte == b'\n') {
            Some(end) => &bytes[..=end],
            // A line that would fit into its own segment need not be split.
            None if self.len > 0 && self.has_line_for_a_segment(bytes) => &[],
            None => &bytes[..room],
        }
    }

    fn has_line_for_a_segment(&self, bytes: &[u8]) -> bool {
        let longest = usize::try_from(self.segment_bytes).unwrap_or(usize::MAX);
        bytes.iter().take(longest).any(|&byte| byte == b'\n')
    }

    fn add(&mut self, written: usize, entries: &mut Vec<IndexEntry>) {
        if written == 0 {
            return;
        }
        let length = u32::try_from(written).unwrap_or(u32::MAX);
        entries.push(self.entry(EntryKind::Piece, self.number, self.len, length));
        self.len += written as u64;
        self.dirty = true;
    }

    fn begin_next(&mut self, entries: &mut Vec<IndexEntry>) -> io::Result<()> {
        let number = self.number + 1;
        if number > LAST_SEGMENT {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        let file = create(&self.directory.segment(self.stream, number))?;
        self.tell_losses(entries);
        self.close();
        self.closed.push((self.number, std::mem::replace(&mut self.file, file)));
        self.number = number;
        self.len = 0;
        self.broken = false;
        self.drop_for_cap(entries);
        crate::fail_point::reach("keeper.segment");
        Ok(())
    }

    fn close(&mut self) {
        // Nothing of ours is in it any more; a file of its name may be somebody else's.
        if self.len == 0 {
            return;
        }
        self.head_is_full |= self.head + self.len > self.log_bytes / 2;
        if self.head_is_full {
            self.tail.push_back((self.number, self.len));
        } else {
            self.head += self.len;
        }
    }

    fn drop_for_cap(&mut self, entries: &mut Vec<IndexEntry>) {
        while self.kept() + self.segment_bytes > self.log_bytes
            && let Some((number, len)) = self.tail.pop_front()
        {
            self.gap_bytes += len;
            self.tell_gap(number, 0, len, entries);
            self.closed.retain(|(closed, _)| *closed != number);
            self.doomed.push(number);
        }
    }

    fn tell_gap(&self, number: u32, offset: u64, mut missing: u64, entries: &mut Vec<IndexEntry>) {
        let mut offset = offset;
        while missing > 0 {
            let length = u32::try_from(missing).unwrap_or(u32::MAX);
            entries.push(self.entry(EntryKind::Gap, number, offset, length));
            missing -= u64::from(length);
            offset += u64::from(length);
        }
    }

    fn entry(&self, kind: EntryKind, segment: u32, offset: u64, length: u32) -> IndexEntry {
        IndexEntry { time: now(), segment, offset, length, stream: self.stream, kind }
    }
}

/// Makes a file that was not there, to be appended to.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

/// Writes as much as can be written; tells how much, and what stopped it.
pub(crate) fn write_all(file: &mut File, bytes: &[u8]) -> (usize, Option<io::Error>) {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return (written, Some(io::Error::from(io::ErrorKind::WriteZero))),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Some(error)),
        }
    }
    (written, None)
}

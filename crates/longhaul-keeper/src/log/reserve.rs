//! Room kept for bad times: a ballast that is given up so that the last records fit on a full disk, and a small file, full
//! of blanks, in which the keeper can say that it waits for room.
//!
//! The logs hold it. Both files are created at the start, when there is room, and removed at the end.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use longhaul_core::time::Time;

use crate::contract::{CONTRACT_VERSION, Stalled, record_bytes};
use crate::layout::{BALLAST, STALLED, SessionDir};
use crate::log::segments::create;

const BALLAST_BYTES: usize = 16 << 10;
const STALLED_BYTES: usize = 512;

/// The two files.
#[derive(Debug)]
pub(crate) struct Reserve {
    directory: SessionDir,
    stalled: File,
    has_ballast: bool,
}

impl Reserve {
    /// Makes both; their bytes are real ones, so that the room is taken.
    pub(crate) fn create(directory: &SessionDir) -> io::Result<Reserve> {
        create(&directory.path().join(BALLAST))?.write_all(&[0xb5; BALLAST_BYTES])?;
        let path = directory.path().join(STALLED);
        create(&path)?.write_all(&[b' '; STALLED_BYTES])?;
        let stalled = std::fs::OpenOptions::new().write(true).open(path)?;
        Ok(Reserve { directory: directory.clone(), stalled, has_ballast: true })
    }

    /// Says that the keeper waits for room.
    pub(crate) fn tell(&self, cause: &io::Error, since: Time) {
        let record = Stalled { version: CONTRACT_VERSION, cause: cause.to_string(), since };
        let mut bytes = record_bytes(&record).unwrap_or_default();
        bytes.resize(bytes.len().max(STALLED_BYTES), b' ');
        // Where even this can not be written (read-only), the silence of the log has to do.
        let _best_effort = self.stalled.write_all_at(&bytes, 0);
    }

    /// Takes it back.
    pub(crate) fn untell(&self) {
        let _best_effort = self.stalled.write_all_at(&[b' '; STALLED_BYTES], 0);
    }

    /// Gives the ballast up; false if that was done before.
    pub(crate) fn free_ballast(&mut self) -> bool {
        std::mem::take(&mut self.has_ballast) && std::fs::remove_file(self.directory.path().join(BALLAST)).is_ok()
    }

    /// Takes both files away.
    pub(crate) fn remove(&mut self) {
        self.free_ballast();
        let _best_effort = std::fs::remove_file(self.directory.path().join(STALLED));
    }
}

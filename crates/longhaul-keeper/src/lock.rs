//! A worker's lock: held as long as it lives, so that anyone can tell a dead owner from a slow one.
//!
//! The worker takes it before its first claim; everybody else only asks `is_dead`. The text inside is for people;
//! nobody decides by it.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use longhaul_core::ids::WorkerId;
use rustix::fs::{AtFlags, renameat, unlinkat};

use crate::files::open_directory;
use crate::process::{boot_id, own_identity};

/// The lock of the calling worker, released by the kernel when the process ends in whatever way.
#[derive(Debug)]
pub struct WorkerLock {
    _held: File,
    path: PathBuf,
}

impl WorkerLock {
    /// Makes and takes `<workers>/<id>.lock`; worker ids are never used twice.
    ///
    /// The file is locked before it gets its name, so nobody can ever see it unlocked while this worker lives.
    pub fn take(workers: &Path, id: WorkerId) -> io::Result<WorkerLock> {
        let directory = open_directory(workers)?;
        let name = format!("{id}.lock");
        let temporary = format!(".{id}.lock.tmp");
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(workers.join(&temporary))?;
        file.lock()?;
        let own = own_identity()?;
        let about = serde_json::json!({ "pid": own.pid, "start": own.start, "boot": boot_id()? });
        file.write_all(format!("{about}\n").as_bytes())?;
        file.sync_all()?;
        renameat(&directory, &temporary, &directory, &name)?;
        directory.sync_all()?;
        Ok(WorkerLock { _held: file, path: workers.join(name) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the file away on an orderly leave; a missing lock means a dead worker, like a free one.
    pub fn retire(self) -> io::Result<()> {
        let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name()) else { return Ok(()) };
        let directory = open_directory(parent)?;
        Ok(unlinkat(directory.as_fd(), OsStr::new(name), AtFlags::empty())?)
    }

    /// Whether the worker with this lock file is dead. Asking disturbs nobody, not even others who ask.
    pub fn is_dead(path: &Path) -> io::Result<bool> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

//! A worker's lock: held as long as it lives, so that anyone can tell a dead owner from a slow one.
//!
//! The worker takes it before its first claim; everybody else asks `is_dead`. The text inside names the process for people; only its PID
//! namespace is read by us, to find out whether a caller can be judged.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use longhaul_core::ids::WorkerId;
use rustix::fs::{AtFlags, renameat, unlinkat};

use crate::files::{create_private_dir, if_exists, is_at, open_directory};
use crate::os;
use crate::tree::process::{boot_id, own_identity};

/// The lock of the calling worker, released by the kernel when the process ends in whatever way.
#[derive(Debug)]
pub struct WorkerLock {
    held: Mutex<File>,
    path: PathBuf,
    id: WorkerId,
}

impl WorkerLock {
    /// Makes and takes `<workers>/<id>.lock`; worker ids are never used twice.
    ///
    /// The file is locked before it gets its name, so nobody can ever see it unlocked while this worker lives.
    pub fn take(workers: &Path, id: WorkerId) -> io::Result<WorkerLock> {
        let held = Mutex::new(make(workers, id)?);
        Ok(WorkerLock { held, path: workers.join(format!("{id}.lock")), id })
    }

    /// Puts the file back where somebody removed or replaced it: without it everybody takes this worker for dead. Says whether it was
    /// gone.
    pub fn keep(&self) -> io::Result<bool> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if is_at(&held, &self.path) {
            return Ok(false);
        }
        let workers = self.path.parent().unwrap_or(Path::new("."));
        create_private_dir(workers).map_err(io::Error::other)?;
        *held = make(workers, self.id)?;
        Ok(true)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the file away on an orderly leave; a missing lock means a dead worker, like a free one.
    pub fn retire(self) -> io::Result<()> {
        let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name()) else { return Ok(()) };
        let directory = open_directory(parent)?;
        if_exists(unlinkat(directory.as_fd(), OsStr::new(name), AtFlags::empty())).map(drop)
    }

    /// Whether the worker with this lock file is dead. Asking disturbs nobody, not even others who ask.
    pub fn is_dead(path: &Path) -> io::Result<bool> {
        let Some(file) = if_exists(File::open(path))? else { return Ok(true) };
        match file.try_lock_shared() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whether a worker lives in another PID namespace than this one. A lock that cannot be read, or names none, proves nothing.
    pub(crate) fn lives_elsewhere(workers: &Path, namespace: Option<u64>) -> bool {
        let locks = std::fs::read_dir(workers).into_iter().flatten().flatten().map(|entry| entry.path());
        let elsewhere = |lock: &PathBuf| namespace_in(lock).is_some_and(|recorded| Some(recorded) != namespace);
        locks.filter(elsewhere).any(|lock| !WorkerLock::is_dead(&lock).unwrap_or(true))
    }
}

fn namespace_in(lock: &Path) -> Option<u64> {
    let about: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(lock).ok()?).ok()?;
    about["pid_namespace"].as_u64()
}

/// Makes the file under its name, locked from before it has one.
fn make(workers: &Path, id: WorkerId) -> io::Result<File> {
    let directory = open_directory(workers)?;
    let name = format!("{id}.lock");
    let temporary = format!(".{id}.lock.tmp");
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(workers.join(&temporary))?;
    file.lock()?;
    let own = own_identity()?;
    let namespace = os::pid_namespace(os::own_number());
    let about =
        serde_json::json!({ "pid": own.pid, "start": own.start, "boot": boot_id()?, "pid_namespace": namespace });
    file.write_all(format!("{about}\n").as_bytes())?;
    file.sync_all()?;
    renameat(&directory, &temporary, &directory, &name)?;
    directory.sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_was_removed_or_replaced_is_put_back_and_held() {
        let dir = tempfile::tempdir().unwrap();
        let workers = dir.path().join("workers");
        std::fs::create_dir(&workers).unwrap();
        let lock = WorkerLock::take(&workers, "01a1ecc0-18d0-7817-bb13-5afd151367e7".parse().unwrap()).unwrap();
        assert!(!lock.keep().unwrap(), "it is in place");
        let removals: [fn(&Path); 3] = [
            |path| std::fs::remove_file(path).unwrap(),
            |path| std::fs::rename(path, path.with_extension("old")).and_then(|()| std::fs::write(path, "")).unwrap(),
            |path| std::fs::remove_dir_all(path.parent().unwrap()).unwrap(),
        ];
        for remove in removals {
            remove(lock.path());
            assert!(WorkerLock::is_dead(lock.path()).unwrap(), "the control: everybody takes it for dead");
            assert!(lock.keep().unwrap());
            assert!(!WorkerLock::is_dead(lock.path()).unwrap());
        }
        lock.retire().unwrap();
    }
}

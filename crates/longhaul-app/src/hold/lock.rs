//! The lock of a hold: `holds/<task>.lock`, taken whole by whoever takes a task over, and shared by those who only look.
//! The kernel keeps it for as long as any process has the descriptor, which the agent's program inherits on purpose. Nobody ever unlocks:
//! that would free it for all who have it. The file is taken away only by someone who has it whole and finds it under its name.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use longhaul_core::ids::TaskId;
use longhaul_keeper::files::{PrivateDirError, create_private_dir, is_at};

use crate::home::Home;

/// How long someone who only looks may be in the way; their look is a matter of milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);
/// There is no event for a lock that becomes free.
const TRY_AGAIN: Duration = Duration::from_millis(5);

/// Why a hold could not be taken or looked at.
#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    /// The directory of all holds could not be made, or is not ours.
    #[error("cannot use the directory of holds")]
    Directory(#[from] PrivateDirError),
    /// The file could not be opened or locked.
    #[error("failed to lock `{path}`")]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// A task that is in this process's hands, and in those of every process that inherits the descriptor.
#[derive(Debug)]
pub struct Hold {
    held: File,
    path: PathBuf,
}

impl Hold {
    /// Takes the hold on a task; none when somebody has it.
    pub fn take(home: &Home, task: TaskId) -> Result<Option<Hold>, HoldError> {
        let path = prepared(home, task)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match lock(&path, File::try_lock).map_err(failed(&path))? {
                Tried::Got(held) => return Ok(Some(Hold { held, path })),
                Tried::Moved => {}
                Tried::Taken if Instant::now() < deadline => std::thread::sleep(TRY_AGAIN),
                Tried::Taken => return Ok(None),
            }
        }
    }

    /// Removes the file, so that a process that was left behind keeps nobody from the next hold.
    pub fn retire(self) {
        remove(&self.held, &self.path);
    }
}

impl AsFd for Hold {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.held.as_fd()
    }
}

/// A hold that nobody has, and nobody can take while this lives. Those who look do not disturb each other.
pub struct Free {
    shared: File,
    path: PathBuf,
}

impl Free {
    /// Looks at the hold on a task; none when somebody has it.
    pub fn check(home: &Home, task: TaskId) -> Result<Option<Free>, HoldError> {
        let path = prepared(home, task)?;
        loop {
            match lock(&path, File::try_lock_shared).map_err(failed(&path))? {
                Tried::Got(shared) => return Ok(Some(Free { shared, path })),
                Tried::Moved => {}
                Tried::Taken => return Ok(None),
            }
        }
    }

    /// Removes the file, if nobody else looks at it now.
    pub fn retire(self) {
        if self.shared.try_lock().is_ok() {
            remove(&self.shared, &self.path);
        }
    }
}

/// Whether nobody has the hold on a task, for readers: they create nothing, and disturb nobody who takes it.
pub(super) fn is_free(home: &Home, task: TaskId) -> bool {
    match File::open(home.hold(task)) {
        Ok(file) => file.try_lock_shared().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// The tasks there is a file for.
pub fn listed(home: &Home) -> Vec<TaskId> {
    let entries = std::fs::read_dir(home.holds()).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".lock")?.parse().ok()).collect()
}

enum Tried {
    Got(File),
    Taken,
    /// The file was taken away between opening and locking: it means nothing any more.
    Moved,
}

fn lock(path: &Path, how: fn(&File) -> Result<(), TryLockError>) -> io::Result<Tried> {
    let mut options = OpenOptions::new();
    let no_link = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).map_err(io::Error::other)?;
    let file =
        options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(no_link).open(path)?;
    match how(&file) {
        Ok(()) if is_at(&file, path) => Ok(Tried::Got(file)),
        Ok(()) => Ok(Tried::Moved),
        Err(TryLockError::WouldBlock) => Ok(Tried::Taken),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Only for someone who has the lock whole: then nobody else removes it, and the name cannot belong to another file.
fn remove(file: &File, path: &Path) {
    if is_at(file, path) {
        // What stays is taken away by the next worker that looks.
        std::fs::remove_file(path).ok();
    }
}

fn prepared(home: &Home, task: TaskId) -> Result<PathBuf, HoldError> {
    create_private_dir(&home.holds())?;
    Ok(home.hold(task))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> HoldError + use<> {
    let path = path.to_owned();
    move |source| HoldError::Io { path, source }
}

//! Lock files that a dead agent's git left in a worktree of ours. Called by the owner after the session's end, before the next one.
//! Removed are exactly two names in the worktree's private git directory, and only with proof that their maker is gone.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, OFlags, statat, unlinkat};
use rustix::io::Errno;

use super::error::{GitError, io_failed};
use super::worktree::Worktree;

const NAMES: &[&str] = &["index.lock", "HEAD.lock"];

/// What became of the lock files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockAnswer {
    /// There was none.
    NoLock,
    /// They were older than the end of the session and are gone.
    Removed {
        /// Their names.
        names: Vec<String>,
    },
    /// One is there whose maker may be alive; it was left alone.
    Kept {
        /// Its name.
        name: String,
        /// Why, for people to read.
        why: String,
    },
}

impl Worktree {
    /// Removes lock files made before `tree_ended`, the proved end of the last process of the session.
    pub fn clear_stale_lock(&self, tree_ended: SystemTime) -> Result<LockAnswer, GitError> {
        let repository = self.repository();
        let git_dir = &repository.git_dir().git_dir;
        // Our own commits take the same lock file.
        let _lock = repository.lock()?;
        repository.check()?;
        let failed = || io_failed("look for locks in", git_dir);
        let flags = i32::try_from((OFlags::DIRECTORY | OFlags::NOFOLLOW).bits()).unwrap_or_default();
        let directory = OpenOptions::new().read(true).custom_flags(flags).open(git_dir).map_err(failed())?;
        let mut removed = Vec::new();
        for name in NAMES {
            let stat = match statat(&directory, *name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(failed()(error.into())),
            };
            if let Some(why) = why_keep(&stat, tree_ended) {
                return Ok(LockAnswer::Kept { name: (*name).to_owned(), why });
            }
            unlinkat(&directory, *name, AtFlags::empty()).map_err(|error| failed()(error.into()))?;
            removed.push((*name).to_owned());
        }
        Ok(if removed.is_empty() { LockAnswer::NoLock } else { LockAnswer::Removed { names: removed } })
    }
}

fn why_keep(stat: &rustix::fs::Stat, tree_ended: SystemTime) -> Option<String> {
    if !FileType::from_raw_mode(stat.st_mode).is_file() {
        return Some("it is not a plain file".to_owned());
    }
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
    let made = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds.min(999_999_999));
    (made >= tree_ended).then(|| "it was made after the session ended".to_owned())
}

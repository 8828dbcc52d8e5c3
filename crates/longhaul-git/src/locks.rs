//! Locks: ours on repositories and worktree paths, git's own on an index, and lock files that a dead agent's git left behind.
//!
//! Ours keep our processes from writing references or worktrees at the same time; the kernel releases them with their process, and a
//! git started under one holds it until it ends. The index lock is taken the way git takes it, in worktrees of ours only. Stale lock
//! files are removed by exactly two names, and only with proof that their maker is gone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use longhaul_core::fingerprint::hex;
use longhaul_keeper::files::{if_exists, open_directory, replace};
use rustix::fs::{AtFlags, FileType, statat, unlinkat};
use sha2::{Digest, Sha256};

use super::error::{GitError, io_failed};
use super::view::{View, read_plain, set_modified};
use super::worktree::Worktree;

/// A lock, released when dropped.
pub(super) struct PathLock {
    held: Arc<File>,
}

impl PathLock {
    /// Waits for the lock of `subject`. Holders call git only, and every git has a deadline.
    pub(super) fn take(locks: &Path, subject: &Path) -> Result<PathLock, GitError> {
        let digest = Sha256::digest(subject.as_os_str().as_bytes());
        let name = hex(&digest[..16]);
        let path = locks.join(format!("{name}.lock"));
        let open = || {
            let file =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path)?;
            file.lock()?;
            Ok(file)
        };
        Ok(PathLock { held: Arc::new(open().map_err(io_failed("lock", &path))?) })
    }

    /// The locked file, which is empty: as standard input of a git it means "no input", and stays locked until that git ends.
    pub(super) fn file(&self) -> Arc<File> {
        self.held.clone()
    }
}

/// The lock file of an index, held.
pub(super) struct IndexLock {
    file: File,
    path: PathBuf,
    is_installed: bool,
}

impl IndexLock {
    /// Takes the lock, or says who is in the way.
    pub(super) fn take(git_dir: &Path) -> Result<IndexLock, GitError> {
        let path = git_dir.join("index.lock");
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => Ok(IndexLock { file, path, is_installed: false }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(GitError::IndexLocked { path }),
            Err(source) => Err(io_failed("make", &path)(source)),
        }
    }

    /// Makes the view's index the real one and releases the lock, in one rename. One that is the same already stays.
    pub(super) fn install(mut self, view: &View<'_>) -> Result<(), GitError> {
        let index = self.path.with_extension("");
        let mut install = || -> io::Result<()> {
            let from = view.index();
            let bytes = fs::read(&from)?;
            if fs::read(&index).is_ok_and(|present| present == bytes) {
                return fs::remove_file(&self.path);
            }
            self.file.write_all(&bytes)?;
            self.file.sync_all()?;
            // By the time git tells files that changed while the index was written.
            set_modified(&self.path, from.metadata()?.modified()?)?;
            fs::rename(&self.path, &index)
        };
        install().map_err(io_failed("replace", &index))?;
        self.is_installed = true;
        Ok(())
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        if !self.is_installed {
            fs::remove_file(&self.path).ok();
        }
    }
}

/// The lock file of the index of a user's checkout, with a mark in it by which its owner knows it after a kill.
pub(super) struct MarkedLock {
    path: PathBuf,
}

impl MarkedLock {
    /// Takes the lock, also if an earlier attempt with this mark left it. The caller is alone with this mark.
    pub(super) fn take(git_dir: &Path, mark: &str) -> Result<MarkedLock, GitError> {
        let path = git_dir.join("index.lock");
        if MarkedLock::exists(git_dir, mark) {
            return Ok(MarkedLock { path });
        }
        let failed = |what| io_failed(what, &path);
        // Complete before it has its name, so that a lock without a mark is never ours.
        let marked = git_dir.join("longhaul-index-mark");
        fs::write(&marked, mark).map_err(failed("mark"))?;
        let linked = fs::hard_link(&marked, &path);
        fs::remove_file(&marked).map_err(failed("mark"))?;
        match linked {
            Ok(()) => Ok(MarkedLock { path }),
            // In git's words, so that whoever waits for git waits for this too.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(GitError::IndexLocked { path }),
            Err(source) => Err(failed("make")(source)),
        }
    }

    /// Whether an earlier attempt with this mark left the lock.
    pub(super) fn exists(git_dir: &Path, mark: &str) -> bool {
        read_plain(&git_dir.join("index.lock")).is_ok_and(|found| found.is_some_and(|found| found == mark.as_bytes()))
    }

    /// Removes what an earlier attempt with this mark left.
    pub(super) fn remove(git_dir: &Path, mark: &str) -> Result<(), GitError> {
        if MarkedLock::exists(git_dir, mark) {
            let path = git_dir.join("index.lock");
            fs::remove_file(&path).map_err(io_failed("remove", &path))?;
        }
        Ok(())
    }
}

impl MarkedLock {
    /// Lets others write the index again.
    pub(super) fn release(self) {
        fs::remove_file(&self.path).ok();
    }
}

/// Gives a worktree an index that nobody else can be writing: its first, or one whose lock the caller holds.
pub(super) fn install_first(view: &View<'_>, git_dir: &Path) -> Result<(), GitError> {
    let index = git_dir.join("index");
    let install = || -> io::Result<()> {
        let from = view.index();
        replace(git_dir, "index", &fs::read(&from)?)?;
        set_modified(&index, from.metadata()?.modified()?)
    };
    install().map_err(io_failed("make", &index))
}

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
    /// The maker of one may be alive, so it was left alone.
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
        let git_dir = repository.git_dir();
        // Our own commits take the same lock file.
        let _lock = repository.lock()?;
        repository.check()?;
        let failed = || io_failed("look for locks in", git_dir);
        let directory = open_directory(git_dir).map_err(failed())?;
        let mut removed = Vec::new();
        for name in NAMES {
            let found = if_exists(statat(&directory, *name, AtFlags::SYMLINK_NOFOLLOW)).map_err(failed())?;
            let Some(stat) = found else { continue };
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
    (made >= tree_ended).then(|| "it was created after the session ended".to_owned())
}

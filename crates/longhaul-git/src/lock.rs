//! One lock per repository and one per worktree path, so that our own processes never write references or worktrees at the same time.
//! Held by create, commit, snapshot and remove; the kernel releases it with its process. Agents and people do not know of it.
//! A git that was started under it can hold it on, so that the next owner never meets a git that outlived its worker.

use std::fs::{File, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use longhaul_core::fingerprint::hex;
use sha2::{Digest, Sha256};

use super::error::{GitError, io_failed};

/// A lock, released when dropped.
pub(super) struct PathLock {
    held: Arc<File>,
}

impl PathLock {
    /// Waits for the lock that stands for `subject`. Holders call git only, and every git has a deadline.
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

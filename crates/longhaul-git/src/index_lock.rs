//! Git's own lock on an index, and putting a finished index in its place. Used on worktrees of ours only.
//! The lock is taken the way git takes it, so a git of the agent waits or refuses; dropped without a new index it changes nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use longhaul_keeper::files::replace;

use super::error::{GitError, io_failed};
use super::view::{View, set_modified};

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

    /// Makes the view's index the real one and releases the lock, in one rename.
    pub(super) fn install(mut self, view: &View<'_>) -> Result<(), GitError> {
        let index = self.path.with_extension("");
        let mut install = || -> io::Result<()> {
            let from = view.index();
            self.file.write_all(&fs::read(&from)?)?;
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

/// Gives a worktree that nobody has seen yet its first index.
pub(super) fn install_first(view: &View<'_>, git_dir: &Path) -> Result<(), GitError> {
    let index = git_dir.join("index");
    let install = || -> io::Result<()> {
        let from = view.index();
        replace(git_dir, "index", &fs::read(&from)?)?;
        set_modified(&index, from.metadata()?.modified()?)
    };
    install().map_err(io_failed("make", &index))
}

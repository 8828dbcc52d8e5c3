//! Short-lived private directories for index copies and objects that nobody else needs.
//!
//! Made and dropped by `view`; those of dead processes are swept when a `Git` is opened. A live one is known by
//! the lock its process holds on the file `hold`. Only names that we or git make there are deleted, never a tree of unknown depth.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use longhaul_keeper::files::create_private_dir;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};

use super::error::{GitError, io_failed};
use longhaul_keeper::random;

const GATE: &str = "gate";
const HOLD: &str = "hold";
/// Directories in the order in which they can be removed, besides the fan-out of the object directory.
const DIRECTORIES: &[&str] = &["objects/pack", "objects/info", "objects", "refs", "info", "aside"];

/// One private directory, gone when dropped.
pub(super) struct Scratch {
    path: PathBuf,
    _held: File,
}

impl Scratch {
    /// Makes a directory below `root`.
    pub(super) fn new(root: &Path) -> Result<Scratch, GitError> {
        let path = root.join(format!("{:032x}", u128::from_be_bytes(random())));
        let make = || {
            let _gate = gate(root)?;
            create_private_dir(&path).map_err(io::Error::other)?;
            let held = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path.join(HOLD))?;
            held.lock()?;
            Ok(held)
        };
        let held = make().map_err(io_failed("make scratch directory", &path))?;
        Ok(Scratch { path, _held: held })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left is swept by the next process.
        clear(&self.path).ok();
    }
}

/// Removes what dead processes left below `root`.
pub(super) fn sweep(root: &Path) -> io::Result<()> {
    let _gate = gate(root)?;
    for entry in std::fs::read_dir(root)? {
        let path = entry?.path();
        if path.is_dir() && is_abandoned(&path) {
            clear(&path)?;
        }
    }
    Ok(())
}

/// Held while a directory gets its lock, so that a sweeper never sees one without.
fn gate(root: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(root.join(GATE))?;
    file.lock()?;
    Ok(file)
}

fn is_abandoned(path: &Path) -> bool {
    match File::open(path.join(HOLD)) {
        Ok(file) => file.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn clear(path: &Path) -> io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let directory = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    for fan in 0..=255_u8 {
        remove_with_files(directory.as_fd(), &format!("objects/{fan:02x}"))?;
    }
    for name in DIRECTORIES {
        remove_with_files(directory.as_fd(), name)?;
    }
    // The lock file goes last: until then nobody else takes this for abandoned.
    remove_files(directory.as_fd(), |name| name != HOLD.as_bytes())?;
    remove_files(directory.as_fd(), |_| true)?;
    std::fs::remove_dir(path)
}

fn remove_with_files(parent: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = match openat(parent, name, flags, Mode::empty()) {
        Ok(directory) => directory,
        Err(rustix::io::Errno::NOENT) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    remove_files(directory.as_fd(), |_| true)?;
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

fn remove_files(directory: BorrowedFd<'_>, is_meant: impl Fn(&[u8]) -> bool) -> io::Result<()> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if ![&b"."[..], b".."].contains(&name.to_bytes()) && is_meant(name.to_bytes()) {
            unlinkat(directory, name, AtFlags::empty())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(path: &Path) {
        std::fs::create_dir_all(path.join("objects/4b")).unwrap();
        std::fs::create_dir_all(path.join("objects/pack")).unwrap();
        std::fs::create_dir_all(path.join("info")).unwrap();
        std::fs::write(path.join("objects/4b/825d"), "x").unwrap();
        std::fs::write(path.join("index"), "x").unwrap();
        std::os::unix::fs::symlink("/", path.join("info/link")).unwrap();
    }

    #[test]
    fn a_dropped_directory_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(root.path()).unwrap();
        let path = scratch.path().to_owned();
        fill(&path);
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn the_dead_are_swept_and_the_living_are_not() {
        let root = tempfile::tempdir().unwrap();
        let living = Scratch::new(root.path()).unwrap();
        fill(living.path());
        let dead = root.path().join("dead");
        std::fs::create_dir(&dead).unwrap();
        fill(&dead);
        std::fs::write(dead.join(HOLD), "").unwrap();
        let unborn = root.path().join("unborn");
        std::fs::create_dir(&unborn).unwrap();
        sweep(root.path()).unwrap();
        assert!(living.path().join("index").exists());
        assert!(!dead.exists() && !unborn.exists());
    }

    #[test]
    fn a_directory_of_unknown_depth_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let strange = root.path().join("strange");
        std::fs::create_dir_all(strange.join("a/b")).unwrap();
        assert!(sweep(root.path()).is_err());
        assert!(strange.join("a/b").exists());
    }
}

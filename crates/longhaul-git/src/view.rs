//! A private git directory over somebody's working tree: configuration, HEAD and index are ours, files and objects are theirs.
//!
//! Trees, differences, snapshots, commits and checkouts are made through it. No driver, hook or program of the repository is even
//! defined in it, so none can run; attributes and ignore rules are in force. The real index and HEAD are never written from here.
//! Its directory is short-lived: a live one is known by the lock its process holds on the file `hold`, those of dead processes are
//! swept when a `Git` is opened. Only names that we or git make there are deleted, never a tree of unknown depth.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use longhaul_core::names::STATE_DIR;
use longhaul_keeper::files::{create_private_dir, if_exists, open_directory};
use longhaul_keeper::random;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};

use super::command::{Call, LONG, fixed};
use super::error::{GitError, io_failed};
use super::references::TreeId;
use super::repository::{Format, Repository};
use super::rules::Rules;

const SMALL: u64 = 16 << 20;
const USER_EXCLUDE: &str = "user-exclude";
const ASIDE: &str = "aside";

/// Where new objects go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Objects {
    /// Into the view, gone with it: for looking.
    Private,
    /// Into the repository: for keeping.
    Repository,
}

/// A private git directory, gone when dropped.
pub(super) struct View<'repository> {
    pub(super) repository: &'repository Repository,
    scratch: Scratch,
    settings: Vec<(OsString, OsString)>,
    pub(super) rules: Cow<'repository, Rules>,
    objects: Objects,
}

impl<'repository> View<'repository> {
    /// Makes a view with an empty index, after making sure that the working tree still belongs to this repository.
    pub(super) fn new(repository: &'repository Repository, objects: Objects) -> Result<Self, GitError> {
        repository.check()?;
        let rules = repository.rules()?;
        let scratch = Scratch::new(&repository.git.scratch())?;
        let settings = taken_over(&rules, scratch.path());
        let view = View { repository, scratch, settings, rules, objects };
        view.furnish().map_err(io_failed("furnish", view.scratch.path()))?;
        Ok(view)
    }

    /// Makes a view for looking, whose index holds a stored tree.
    pub(super) fn of_tree(repository: &'repository Repository, tree: &TreeId) -> Result<Self, GitError> {
        let view = View::new(repository, Objects::Private)?;
        view.call().words(&["read-tree"]).value(tree.as_str())?.deadline(LONG).succeed()?;
        Ok(view)
    }

    /// A call that sees the working tree through this view.
    pub(super) fn call(&self) -> Call {
        self.call_in(self.repository.top_level())
    }

    /// A call that sees no working tree, so only attributes in the index count. Temporary files that git makes go to [`View::aside`].
    pub(super) fn call_aside(&self) -> Call {
        self.call_in(&self.aside())
    }

    /// A call that sees no working tree either, with these settings in place of the usual ones.
    pub(super) fn call_with(&self, settings: &[(OsString, OsString)]) -> Call {
        self.call_by(&self.aside(), settings)
    }

    /// An empty directory.
    pub(super) fn aside(&self) -> PathBuf {
        self.scratch.path().join(ASIDE)
    }

    fn call_in(&self, work_tree: &Path) -> Call {
        self.call_by(work_tree, &self.settings)
    }

    fn call_by(&self, work_tree: &Path, settings: &[(OsString, OsString)]) -> Call {
        let path = self.scratch.path();
        let real = self.repository.common_dir().join("objects");
        let call = self.repository.git.call(work_tree).holding(self.repository.held());
        let call = call.settings(settings);
        let call = call.variable("GIT_DIR", path).variable("GIT_WORK_TREE", work_tree);
        let call = call.variable("GIT_INDEX_FILE", self.index());
        match self.objects {
            Objects::Repository => call.variable("GIT_OBJECT_DIRECTORY", real),
            Objects::Private => call
                .variable("GIT_OBJECT_DIRECTORY", path.join("objects"))
                .variable("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsString::from_vec(quoted(real.as_os_str().as_bytes()))),
        }
    }

    /// The private index.
    pub(super) fn index(&self) -> PathBuf {
        self.scratch.path().join("index")
    }

    fn furnish(&self) -> io::Result<()> {
        let path = self.scratch.path();
        for directory in ["objects", "refs", "info", ASIDE] {
            fs::create_dir(path.join(directory))?;
        }
        fs::write(path.join("HEAD"), "ref: refs/heads/none\n")?;
        fs::write(path.join("config"), config_text(self.repository.format))?;
        let exclude = [&self.rules.exclude, format!("\n/{STATE_DIR}/\n").as_bytes()].concat();
        fs::write(path.join("info/exclude"), exclude)?;
        fs::write(path.join("info/attributes"), &self.rules.attributes)?;
        fs::write(path.join(USER_EXCLUDE), &self.rules.user_exclude)?;
        if let Some(patterns) = read_plain(&self.repository.git_dir().join("info/sparse-checkout"))? {
            fs::write(path.join("info/sparse-checkout"), patterns)?;
        }
        Ok(())
    }
}

/// The settings of the workspace, with the fixed list behind them.
fn taken_over(rules: &Rules, scratch: &Path) -> Vec<(OsString, OsString)> {
    let user_exclude = ("core.excludesFile".into(), scratch.join(USER_EXCLUDE).into_os_string());
    rules.settings.iter().cloned().chain(fixed()).chain([user_exclude]).collect()
}

/// A path as git reads it where it expects quotes: between them, with the few bytes escaped that would end or change it.
pub(super) fn quoted(bytes: &[u8]) -> Vec<u8> {
    let mut text = vec![b'"'];
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            b'\n' => text.extend_from_slice(b"\\n"),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
    text
}

pub(super) fn set_modified(path: &Path, time: SystemTime) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.set_times(FileTimes::new().set_modified(time))
}

fn config_text(format: Format) -> String {
    format!("[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = {}\n", format.name())
}

/// A file that others can write, whole. One that is too large to be honest is refused.
pub(super) fn read_plain(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = if_exists(open_plain(path))? else { return Ok(None) };
    let mut bytes = Vec::new();
    let read = file.take(SMALL + 1).read_to_end(&mut bytes)?;
    if read as u64 > SMALL {
        return Err(io::Error::other(format!("larger than {} MiB", SMALL >> 20)));
    }
    Ok(Some(bytes))
}

/// The text of a plain file of one line; none for anything else.
pub(super) fn line_of(path: &Path) -> Option<String> {
    let is_plain = path.symlink_metadata().ok()?.is_file();
    let text = if is_plain { String::from_utf8(read_plain(path).ok()??).ok()? } else { return None };
    Some(text.trim_end_matches('\n').to_owned())
}

/// Not blocking, because an agent can put a pipe there.
fn open_plain(path: &Path) -> io::Result<File> {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let is_plain = file.metadata()?.is_file();
    if is_plain { Ok(file) } else { Err(io::Error::other("not a plain file")) }
}

/// Splits what git printed with `-z`.
pub(super) fn zero_separated(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

/// The path that git means by these bytes.
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

pub(super) const GATE: &str = "gate";
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
        let held = make().map_err(io_failed("create scratch directory", &path))?;
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
    let directory = open_directory(path)?;
    for fan in 0..=255_u8 {
        remove_with_files(directory.as_fd(), &format!("objects/{fan:02x}"))?;
    }
    for name in DIRECTORIES {
        remove_with_files(directory.as_fd(), name)?;
    }
    // The lock file is removed last: until then no other process takes this directory for abandoned.
    remove_files(directory.as_fd(), |name| name != HOLD.as_bytes())?;
    remove_files(directory.as_fd(), |_| true)?;
    std::fs::remove_dir(path)
}

fn remove_with_files(parent: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Some(directory) = if_exists(openat(parent, name, flags, Mode::empty()))? else { return Ok(()) };
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

    #[test]
    fn quotes_backslashes_and_newlines_are_escaped() {
        assert_eq!(quoted(b"a\"b\\c\nd\xff"), b"\"a\\\"b\\\\c\\nd\xff\"");
    }

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

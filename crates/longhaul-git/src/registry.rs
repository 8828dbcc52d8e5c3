//! Which worktrees a repository knows of, as git lists them and as they lie on disk.
//! Called by create, rebuild, open, adopt, clean checkouts and branch names. It removes only what a killed git left half-made.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::lock::PathLock;
use super::reference::patiently;
use super::repository::Repository;
use super::view::path_of;

/// The reason git gives for its own lock while it makes a worktree.
const INITIALIZING: &str = "initializing";

/// One worktree in git's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Registered {
    pub(super) path: PathBuf,
    pub(super) branch: Option<String>,
    /// Git was killed while it made this one.
    pub(super) is_half_made: bool,
}

/// All worktrees of the repository, the main one first.
pub(super) fn registered(repository: &Repository) -> Result<Vec<Registered>, GitError> {
    let list = || repository.shared().call()?.words(&["worktree", "list", "--porcelain", "-z"]).succeed();
    Ok(read(&patiently(list)?))
}

impl Repository {
    /// Takes the lock of the repository, and repairs what a git that had it left when it was killed.
    ///
    /// As long as the `commondir` of any worktree is empty, git refuses to list, add or remove any other.
    pub(super) fn lock(&self) -> Result<PathLock, GitError> {
        let common = &self.git_dir().common_dir;
        let lock = PathLock::take(&self.git().locks(), common)?;
        let disturbing = metadata(common).filter(|metadata| is_empty(&metadata.join("commondir")));
        disturbing.filter(|metadata| self.is_ours(metadata)).for_each(|metadata| remove_empty_files(&metadata));
        Ok(lock)
    }

    /// Whether a git of this home made it: only such a git has the lock.
    fn is_ours(&self, metadata: &Path) -> bool {
        let home = self.git().home();
        line_of(&metadata.join("gitdir")).is_some_and(|line| home.is_ok_and(|home| Path::new(&line).starts_with(home)))
    }
}

/// Git's private directory for the worktree at `path`, whether or not anything is left of either.
pub(super) fn metadata_of(common_dir: &Path, path: &Path) -> Option<PathBuf> {
    let dot_git = path.join(".git");
    metadata(common_dir)
        .find(|directory| line_of(&directory.join("gitdir")).is_some_and(|line| Path::new(&line) == dot_git))
}

/// Git's private directories for all worktrees.
fn metadata(common_dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(common_dir.join("worktrees")).into_iter().flatten();
    entries.filter_map(|entry| entry.ok().map(|entry| entry.path()))
}

/// Whether git finished writing this private directory.
pub(super) fn is_complete(metadata: &Path) -> bool {
    ["HEAD", "commondir", "gitdir"].iter().all(|name| metadata.join(name).is_file())
}

/// Brings what a git left that was killed while it registered `path` to a state that git can continue from.
///
/// Git creates each file empty before it writes it. What it left before it wrote where its worktree is, it neither lists nor prunes.
pub(super) fn clear_half_made(common_dir: &Path, path: &Path) {
    if let Some(metadata) = metadata_of(common_dir, path) {
        remove_empty_files(&metadata);
    }
    let unborn = common_dir.join("worktrees").join(path.file_name().unwrap_or_default());
    remove_empty_files(&unborn);
    if is_being_made(&unborn) && !unborn.join("gitdir").exists() {
        fs::remove_file(unborn.join("locked")).ok();
        // Fails if there is anything else in it, and then it stays.
        fs::remove_dir(&unborn).ok();
    }
}

fn remove_empty_files(metadata: &Path) {
    if is_being_made(metadata) {
        let files = ["gitdir", "commondir", "HEAD"].map(|name| metadata.join(name));
        files.iter().filter(|path| is_empty(path)).for_each(|path| drop(fs::remove_file(path)));
    }
}

fn is_empty(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() == 0)
}

/// The lock is the first that git writes and the last that it takes away.
fn is_being_made(metadata: &Path) -> bool {
    let locked = line_of(&metadata.join("locked"));
    metadata.is_dir() && locked.is_none_or(|line| line == INITIALIZING || line.is_empty())
}

fn line_of(path: &Path) -> Option<String> {
    let is_plain = path.symlink_metadata().ok()?.is_file();
    let text = if is_plain { fs::read_to_string(path).ok()? } else { return None };
    Some(text.trim_end_matches('\n').to_owned())
}

fn read(output: &[u8]) -> Vec<Registered> {
    let mut all: Vec<Registered> = Vec::new();
    for part in output.split(|byte| *byte == 0) {
        if let Some(path) = part.strip_prefix(b"worktree ") {
            all.push(Registered { path: path_of(path), branch: None, is_half_made: false });
        } else if let Some(last) = all.last_mut() {
            if let Some(branch) = part.strip_prefix(b"branch refs/heads/") {
                last.branch = Some(String::from_utf8_lossy(branch).into_owned());
            } else if let Some(reason) = part.strip_prefix(b"locked ") {
                last.is_half_made = reason == INITIALIZING.as_bytes();
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read() {
        let output = b"worktree /a\nb\0HEAD 00\0branch refs/heads/x/y\0\0worktree /c\0HEAD 00\0detached\0locked initializing\0\0";
        let entry = |path: &str, branch: Option<&str>, is_half_made| Registered {
            path: path.into(),
            branch: branch.map(str::to_owned),
            is_half_made,
        };
        assert_eq!(read(output), [entry("/a\nb", Some("x/y"), false), entry("/c", None, true)]);
    }

    #[test]
    fn only_an_unborn_directory_is_removed() {
        let common = tempfile::tempdir().unwrap();
        let make = |name: &str, files: &[&str]| {
            let directory = common.path().join("worktrees").join(name);
            fs::create_dir_all(&directory).unwrap();
            files.iter().for_each(|file| fs::write(directory.join(file), "initializing\n").unwrap());
            directory
        };
        let unborn = make("unborn", &["locked"]);
        let born = make("born", &["locked", "gitdir"]);
        let strange = make("strange", &["locked", "index"]);
        for name in ["unborn", "born", "strange", "absent"] {
            clear_half_made(common.path(), Path::new(name));
        }
        assert!(!unborn.exists());
        assert!(born.join("locked").exists());
        assert!(strange.join("index").exists());
    }
}

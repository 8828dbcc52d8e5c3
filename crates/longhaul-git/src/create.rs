//! Makes a worktree with its own branch, or completes one that an earlier attempt left half-made.
//!
//! Called by the prepare effect until the caller has stored the record; afterwards it calls open. Every step checks first whether it is
//! done, so a kill at any point and a repeat give one worktree and one branch. No hook and no filter runs; the user's checkout is not
//! touched. Git can not register a directory that has files in it, so after a prune an empty one beside it is registered and its data
//! led to the full one. Also reads which worktrees a repository knows of, and removes only what a killed git left half-made.

use std::path::{Path, PathBuf};
use std::{fs, io};

use longhaul_keeper::Environment;
use longhaul_keeper::files::replace;

use super::command::LONG;
use super::error::{GitError, io_failed};
use super::locks::{PathLock, install_first};
use super::references::{CommitId, patiently, settle};
use super::repository::Repository;
use super::rules::{keep_out_of_git, today};
use super::view::{Objects, View, line_of, path_of};
use super::worktree::{Worktree, WorktreeError};

/// What exists where the worktree is to be.
enum Place {
    Free,
    /// Only git's own file.
    GitFile,
    Files,
}

/// What is to be done with the files.
pub(super) enum Fill {
    CheckOut,
    KeepFiles,
}

impl Repository {
    /// Makes the worktree at `path` (absolute) with the branch `wanted_branch`, or with a number behind it if that is taken, at `base`.
    /// The environment leads to the git configuration of the person whose task it is.
    pub fn create_worktree(
        &self,
        path: &Path,
        wanted_branch: &str,
        base: &CommitId,
        environment: &Environment,
    ) -> Result<Worktree, WorktreeError> {
        if wanted_branch.starts_with('-') || !self.is_reference_name(&format!("refs/heads/{wanted_branch}"))? {
            return Err(WorktreeError::BadBranch { branch: wanted_branch.to_owned() });
        }
        if self.commit_of(base.as_str())?.as_ref() != Some(base) {
            return Err(WorktreeError::NoBase { base: base.clone() });
        }
        let path = &settled_path(path)?;
        let path_lock = PathLock::take(&self.git.locks(), path)?;
        let (mut worktree, branch, fill) =
            self.clone().holding(Some(path_lock.file())).register(path, wanted_branch, base)?;
        if !worktree.git_dir().join("index").exists() {
            let rules = today(&worktree, environment)?;
            worktree = worktree.with_rules(rules);
            populate(&worktree, &branch, &fill)?;
            worktree = worktree.with_new_index();
        }
        keep_out_of_git(path);
        let base = self.actual_base(&branch, base)?;
        Ok(Worktree::new(path.clone(), branch, base, worktree.holding(None)))
    }

    /// The part that writes references and git's list of worktrees.
    fn register(
        &self,
        path: &Path,
        wanted: &str,
        base: &CommitId,
    ) -> Result<(Repository, String, Fill), WorktreeError> {
        let lock = self.lock()?;
        // Should this worker die, its git keeps the lock: the next holder takes an unfinished worktree for a dead git's.
        let holding = self.clone().holding(Some(lock.file()));
        let (reuse, fill) = holding.settle_place(path, wanted, base)?;
        let worktree = self.git.find(path)?.filter(|found| found.common_dir() == self.common_dir());
        let worktree = worktree.ok_or_else(|| WorktreeError::PathTaken { path: path.to_owned() })?;
        let worktree = worktree.holding(holding.held());
        remove_dead_locks(worktree.git_dir());
        let Some(branch) = settle(&worktree, wanted, base, reuse.as_deref())? else {
            let found = worktree.branch()?.unwrap_or_default();
            return Err(WorktreeError::OtherBranch { path: path.to_owned(), found });
        };
        Ok((worktree.holding(self.held()), branch, fill))
    }

    /// Sees to it that git has a whole worktree at the path; returns the branch that an earlier attempt had.
    fn settle_place(
        &self,
        path: &Path,
        wanted: &str,
        base: &CommitId,
    ) -> Result<(Option<String>, Fill), WorktreeError> {
        let common = self.common_dir();
        clear_half_made(common, path);
        let entry = registered(self)?.into_iter().find(|entry| entry.path == path);
        let branch = entry.as_ref().and_then(|entry| entry.branch.clone());
        let is_whole = metadata_of(common, path).is_some_and(|metadata| is_complete(&metadata))
            && entry.as_ref().is_some_and(|entry| !entry.is_half_made);
        match look_at(path, common)? {
            Place::Free => self.add(path, entry.as_ref(), base)?,
            Place::GitFile | Place::Files if is_whole => {}
            Place::GitFile => {
                let dot_git = path.join(".git");
                fs::remove_file(&dot_git).map_err(io_failed("remove", &dot_git))?;
                self.add(path, entry.as_ref(), base)?;
            }
            Place::Files => {
                rebuild(self, path, base)?;
                return Ok((branch.or_else(|| Some(wanted.to_owned())), Fill::KeepFiles));
            }
        }
        Ok((branch, Fill::CheckOut))
    }

    /// Registers a worktree without files. The force is for one that git still lists although it is gone.
    pub(super) fn add(&self, path: &Path, listed: Option<&Registered>, base: &CommitId) -> Result<(), GitError> {
        if listed.is_some_and(|entry| entry.is_half_made) {
            self.shared().call()?.words(&["worktree", "unlock"]).value(path)?.succeed()?;
        }
        patiently(|| {
            let words: &[&str] = if listed.is_some() {
                &["worktree", "add", "--no-checkout", "--detach", "--force"]
            } else {
                &["worktree", "add", "--no-checkout", "--detach"]
            };
            let call = self.shared().call()?.words(words).value(path)?.value(base.as_str())?;
            call.deadline(LONG).succeed().map(drop)
        })
    }

    /// Where the branch left what it was made from: the base of an earlier attempt is older than the one wanted now.
    fn actual_base(&self, branch: &str, base: &CommitId) -> Result<CommitId, GitError> {
        let tip = self.branch_tip(branch)?;
        let Some(tip) = tip.filter(|tip| tip != base) else { return Ok(base.clone()) };
        let answer = self.call()?.words(&["merge-base"]).value(tip.as_str())?.value(base.as_str())?.run()?;
        Ok(String::from_utf8_lossy(&answer.output).trim().parse().unwrap_or_else(|_| base.clone()))
    }
}

/// Whoever holds the path's lock is alone with a worktree that has no index yet: lock files in it are of a git that was killed.
fn remove_dead_locks(git_dir: &Path) {
    if !git_dir.join("index").exists() {
        for name in ["HEAD.lock", "index.lock"] {
            fs::remove_file(git_dir.join(name)).ok();
        }
    }
}

/// Writes files and index of a worktree that nobody has worked in. The index comes last: where it is missing, this was not finished.
fn populate(worktree: &Repository, branch: &str, fill: &Fill) -> Result<(), GitError> {
    let view = View::new(worktree, Objects::Private)?;
    let commit = worktree.branch_tip(branch)?.map(String::from).unwrap_or_default();
    let words: &[&str] = match fill {
        Fill::CheckOut => &["read-tree", "--reset", "-u"],
        Fill::KeepFiles => &["read-tree"],
    };
    view.call().words(words).value(&commit)?.deadline(LONG).succeed()?;
    // Its exit says whether files differ, which is no failure here.
    view.call().words(&["update-index", "-q", "--refresh"]).deadline(LONG).run()?;
    install_first(&view, worktree.git_dir())
}

/// The path as git will write it: its parent exists and has no links in it.
pub(super) fn settled_path(path: &Path) -> Result<PathBuf, WorktreeError> {
    let taken = || WorktreeError::PathTaken { path: path.to_owned() };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(taken()) };
    fs::create_dir_all(parent).map_err(io_failed("make", parent))?;
    Ok(parent.canonicalize().map_err(io_failed("find", parent))?.join(name))
}

fn look_at(path: &Path, common_dir: &Path) -> Result<Place, WorktreeError> {
    let taken = || WorktreeError::PathTaken { path: path.to_owned() };
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Place::Free),
        Err(_) => return Err(taken()),
    };
    let names: Vec<_> = entries.take(2).filter_map(|entry| entry.ok().map(|entry| entry.file_name())).collect();
    if names.is_empty() {
        return Ok(Place::Free);
    }
    let leads_to = link_of(path).ok_or_else(taken)?;
    // Cut off while it was written, it can only be ours: nobody else makes an empty one.
    let is_ours = leads_to.as_os_str().is_empty() || leads_to.starts_with(common_dir.join("worktrees"));
    match (is_ours, names.len()) {
        (true, 1) => Ok(Place::GitFile),
        (true, _) => Ok(Place::Files),
        (false, _) => Err(taken()),
    }
}

/// What the `.git` file of a worktree names.
fn link_of(path: &Path) -> Option<PathBuf> {
    let dot_git = path.join(".git");
    let meta = dot_git.symlink_metadata().ok()?;
    if !meta.is_file() {
        return None;
    }
    if meta.len() == 0 {
        return Some(PathBuf::new());
    }
    let text = fs::read_to_string(dot_git).ok()?;
    text.strip_prefix("gitdir: ").map(|target| PathBuf::from(target.trim_end_matches('\n')))
}

/// Registers `path` again, detached at `base` and without an index.
pub(super) fn rebuild(repository: &Repository, path: &Path, base: &CommitId) -> Result<(), GitError> {
    let common = repository.common_dir();
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".rebuild");
    let beside = path.with_file_name(name);
    clear_half_made(common, &beside);
    if metadata_of(common, &beside).is_none() || !beside.join(".git").exists() {
        let entry = registered(repository)?.into_iter().find(|entry| entry.path == beside);
        repository.add(&beside, entry.as_ref(), base)?;
    }
    let missing = || io_failed("find the git data of", &beside)(std::io::ErrorKind::NotFound.into());
    let metadata = metadata_of(common, &beside).ok_or_else(missing)?;
    replace(path, ".git", format!("gitdir: {}\n", metadata.display()).as_bytes()).map_err(io_failed("write", path))?;
    let dot_git = format!("{}\n", path.join(".git").display());
    replace(&metadata, "gitdir", dot_git.as_bytes()).map_err(io_failed("write", &metadata))?;
    fs::remove_file(beside.join(".git")).map_err(io_failed("remove", &beside))?;
    fs::remove_dir(&beside).map_err(io_failed("remove", &beside))
}

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
    let list = || repository.shared().reading().words(&["worktree", "list", "--porcelain", "-z"]).succeed();
    Ok(read(&patiently(list)?))
}

impl Repository {
    /// Takes the lock of the repository, and repairs what a git that had it left when it was killed.
    ///
    /// As long as the `commondir` of any worktree is empty, git refuses to list, add or remove any other.
    pub(super) fn lock(&self) -> Result<PathLock, GitError> {
        let common = self.common_dir();
        let lock = PathLock::take(&self.git.locks(), common)?;
        let disturbing = metadata(common).filter(|metadata| is_empty(&metadata.join("commondir")));
        disturbing.filter(|metadata| self.is_ours(metadata)).for_each(|metadata| remove_empty_files(&metadata));
        Ok(lock)
    }

    /// Whether a git of this home made it: only such a git has the lock.
    fn is_ours(&self, metadata: &Path) -> bool {
        let home = self.git.home();
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

/// The lock is the first thing that git writes and the last that it removes.
fn is_being_made(metadata: &Path) -> bool {
    let locked = line_of(&metadata.join("locked"));
    metadata.is_dir() && locked.is_none_or(|line| line == INITIALIZING || line.is_empty())
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

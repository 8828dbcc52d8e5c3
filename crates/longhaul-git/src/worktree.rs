//! A worktree that Longhaul made: the only kind of working tree in which it commits, clears locks, and which it removes.
//!
//! `create` makes one; here it is opened again before each session, adopted by the sweep if nobody recorded it, and removed together
//! with its branch if nothing is lost by that. Opening and adopting repair nothing: each error names what is wrong. HEAD on another
//! branch is for whoever commits: an agent that left it there can put it back.

use std::path::{Path, PathBuf};

use longhaul_core::ids::TaskId;
use longhaul_core::task::Workspace;
use longhaul_keeper::Environment;

use super::command::LONG;
use super::commit::in_progress;
use super::create::metadata_of;
use super::error::GitError;
use super::references::{CommitId, delete, is_of_tasks, patiently};
use super::repository::{Git, Repository, text_of};
use super::rules::Whose;
use super::view::{path_of, zero_separated};

/// A worktree of ours.
#[derive(Debug, Clone)]
pub struct Worktree {
    path: PathBuf,
    branch: String,
    base: CommitId,
    repository: Repository,
}

/// Why a directory is not a worktree that can be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum WorktreeError {
    #[error("`{branch}` is not a valid branch name")]
    BadBranch { branch: String },
    #[error("commit `{base}` is not in the repository")]
    NoBase { base: CommitId },
    #[error("`{path}` already exists and is not a worktree of this repository")]
    PathTaken { path: PathBuf },
    #[error("the worktree `{path}` is on `{found}`, which is not a branch of this task")]
    OtherBranch { path: PathBuf, found: String },
    #[error("the record of the worktree `{path}` lacks its branch, its base or its git data")]
    NotRecorded { path: PathBuf },
    #[error("the worktree `{path}` was deleted")]
    Deleted { path: PathBuf },
    #[error("the worktree `{path}` was pruned: its git data `{git_dir}` is gone")]
    Pruned { path: PathBuf, git_dir: PathBuf },
    #[error("the worktree `{path}` is not registered in its repository")]
    NotRegistered { path: PathBuf },
    #[error("the branch `{branch}` of the worktree `{path}` was deleted")]
    BranchGone { path: PathBuf, branch: String },
    #[error("`{path}` is not a worktree")]
    NoWorktree { path: PathBuf },
    #[error("commit `{commit}` is in no other branch")]
    OnlyHere { commit: String },
    #[error("git failed for the worktree")]
    Git {
        #[from]
        source: GitError,
    },
}

impl Worktree {
    pub(super) fn new(path: PathBuf, branch: String, base: CommitId, repository: Repository) -> Worktree {
        Worktree { path, branch, base, repository }
    }

    /// The same worktree under the rules of the task it was made for.
    pub fn with_rules_of(self, task: TaskId) -> Result<Worktree, GitError> {
        self.with_rules_in(task, &Environment::of_process())
    }

    /// The same with the environment of the person whose task it is.
    pub fn with_rules_in(self, task: TaskId, environment: &Environment) -> Result<Worktree, GitError> {
        Ok(Worktree { repository: self.repository.with_rules_in(task, Whose::Ours, environment)?, ..self })
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its branch, without `refs/heads/`.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// The commit the branch began at.
    pub fn base(&self) -> &CommitId {
        &self.base
    }

    /// What the caller stores to find it again and to know it from a swapped one. The agent starts in its root.
    pub fn record(&self) -> Result<Workspace, GitError> {
        let root = text_of(&self.path)?;
        Ok(Workspace {
            cwd: root.clone(),
            root,
            branch: Some(self.branch.clone()),
            base: Some(self.base.as_str().to_owned()),
            git: Some(self.repository.place()?),
        })
    }

    /// The repository as seen from this worktree: for trees, differences and snapshots.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Opens a worktree that was made earlier.
    pub fn open(git: &Git, record: &Workspace) -> Result<Worktree, WorktreeError> {
        let path = PathBuf::from(&record.root);
        let base = record.base.as_ref().and_then(|base| base.parse().ok());
        let (Some(branch), Some(base), Some(place)) = (&record.branch, base, &record.git) else {
            return Err(WorktreeError::NotRecorded { path });
        };
        let git_dir = PathBuf::from(&place.dir);
        if !path.is_dir() {
            return Err(WorktreeError::Deleted { path });
        }
        if !git_dir.is_dir() {
            return Err(WorktreeError::Pruned { path, git_dir });
        }
        let repository = git.find_worktree(&path, place, &base)?;
        // A setting can lead git to other files than those of the worktree.
        let is_its_top_level = path.canonicalize().is_ok_and(|path| path == repository.top_level());
        if !is_its_top_level || metadata_of(repository.common_dir(), &path).is_none() {
            return Err(WorktreeError::NotRegistered { path });
        }
        if !repository.has_branch(branch)? {
            return Err(WorktreeError::BranchGone { path, branch: branch.clone() });
        }
        Ok(Worktree::new(path, branch.clone(), base, repository))
    }

    /// Opens the worktree at `path`, which no task recorded, as it is found. Without a known base every commit of it must be in another branch.
    pub fn adopt(git: &Git, path: &Path, base: Option<&CommitId>) -> Result<Worktree, WorktreeError> {
        let none = || WorktreeError::NoWorktree { path: path.to_owned() };
        let path = path.canonicalize().map_err(|_| none())?;
        // Above a directory without git there may be a repository that has nothing to do with it.
        let repository = git.find(&path)?.filter(|found| found.top_level() == path).ok_or_else(none)?;
        let common_dir = repository.common_dir();
        if repository.git_dir() == common_dir || metadata_of(common_dir, &path).is_none() {
            return Err(none());
        }
        let branch = repository.branch()?.unwrap_or_else(|| "a detached HEAD".to_owned());
        if !is_of_tasks(&branch) {
            return Err(WorktreeError::OtherBranch { path, found: branch });
        }
        let base = match base {
            Some(base) => base.clone(),
            None => known_elsewhere(&repository, &path, &branch)?,
        };
        Ok(Worktree::new(path, branch, base, repository))
    }
}

/// The tip of the branch, if all of it is in other branches too: then that is as good as the base.
fn known_elsewhere(repository: &Repository, path: &Path, branch: &str) -> Result<CommitId, WorktreeError> {
    let missing = || WorktreeError::BranchGone { path: path.to_owned(), branch: branch.to_owned() };
    let tip = repository.branch_tip(branch)?.ok_or_else(missing)?;
    match only_on(repository, branch, &tip, None)? {
        Some(commit) => Err(WorktreeError::OnlyHere { commit }),
        None => Ok(tip),
    }
}

/// What became of a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// Worktree and branch are gone.
    Removed,
    /// Nothing was removed.
    Kept {
        /// Why, for people to read.
        why: String,
    },
}

impl Worktree {
    /// What [`Worktree::remove`] would answer now, without removing anything.
    pub fn removable(&self, task: Option<TaskId>) -> Result<Removal, GitError> {
        let tip = self.repository().shared().branch_tip(self.branch())?;
        Ok(self.why_keep(tip.as_ref(), task)?.map_or(Removal::Removed, |why| Removal::Kept { why }))
    }

    /// Removes the worktree and its branch if there is no uncommitted work and every commit is in another branch, on a remote, or in the
    /// final state of this task.
    pub fn remove(&self, task: Option<TaskId>) -> Result<Removal, GitError> {
        let repository = self.repository();
        let _lock = repository.lock()?;
        let tip = repository.shared().branch_tip(self.branch())?;
        if let Some(why) = self.why_keep(tip.as_ref(), task)? {
            return Ok(Removal::Kept { why });
        }
        // A file that stays keeps the worktree, because git does not remove it then.
        repository.remove_left_by_checks().ok();
        if repository.git_dir().exists()
            && let Err(error) = self.unregister()
        {
            return match error {
                GitError::Refused { text, .. } => Ok(Removal::Kept { why: text }),
                other => Err(other),
            };
        }
        if let Some(tip) = tip {
            delete(&repository.shared(), &format!("refs/heads/{}", self.branch()), &tip)?;
        }
        Ok(Removal::Removed)
    }

    /// The first of these files (relative to the worktree) that exists and is in no commit, ignored or not.
    pub fn only_copy<'path>(&self, paths: impl Iterator<Item = &'path Path>) -> Result<Option<&'path Path>, GitError> {
        for path in paths.filter(|path| self.path().join(path).is_file()) {
            let call = self.repository().call()?.words(&["ls-tree", "-z", "--name-only", "HEAD", "--"]).value(path)?;
            if call.succeed()?.is_empty() {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    fn why_keep(&self, tip: Option<&CommitId>, task: Option<TaskId>) -> Result<Option<String>, GitError> {
        let repository = self.repository();
        let git_dir = repository.git_dir();
        if let Some(what) = in_progress(git_dir) {
            return Ok(Some(format!("{what} is in progress")));
        }
        if git_dir.join("locked").exists() {
            return Ok(Some("it is locked".to_owned()));
        }
        if self.path().exists() {
            repository.check()?;
            let uncommitted = repository.uncommitted()?;
            if let Some(first) = uncommitted.files.first() {
                return Ok(Some(format!("uncommitted files, such as `{first}` ({} in all)", uncommitted.total)));
            }
            if let Some(name) = self.checked_out_submodule()? {
                return Ok(Some(format!("the submodule `{name}` is checked out in it")));
            }
        }
        let head = if git_dir.exists() { repository.commit_and_tree_of("HEAD")? } else { None };
        let saved = task.map(|task| repository.final_state(task)).transpose()?.flatten();
        let known = saved.as_ref().or(Some(&self.base));
        for commit in tip.into_iter().chain(head.as_ref().map(|(commit, _)| commit)) {
            if let Some(lost) = only_on(repository, &self.branch, commit, known)? {
                return Ok(Some(format!("commit `{lost}` is in no other branch")));
            }
        }
        if git_dir.exists() { self.off_branch(head.as_ref()) } else { Ok(None) }
    }

    /// Git would look into it with its own configuration, and that can name programs.
    fn checked_out_submodule(&self) -> Result<Option<String>, GitError> {
        let call = self.repository().call()?.words(&["ls-tree", "-r", "-z", "HEAD"]);
        let output = call.deadline(LONG).succeed()?;
        let links = zero_separated(&output).filter(|entry| entry.starts_with(b"160000 "));
        let mut names = links.filter_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1));
        let is_there = |name: &&[u8]| self.path().join(path_of(name)).join(".git").symlink_metadata().is_ok();
        Ok(names.find(is_there).map(|name| String::from_utf8_lossy(name).into_owned()))
    }

    fn unregister(&self) -> Result<(), GitError> {
        patiently(|| {
            // With attributes and settings: git looks itself whether all is clean, and line endings decide that.
            let call = self.repository().shared().call_with_attributes()?.words(&["worktree", "remove"]);
            let call = call.settings(&self.repository().rules()?.settings);
            call.value(self.path())?.deadline(LONG).succeed().map(drop)
        })
    }
}

/// A commit that is above `base` and that only this branch holds.
pub(super) fn only_on(
    repository: &Repository,
    branch: &str,
    commit: &CommitId,
    base: Option<&CommitId>,
) -> Result<Option<String>, GitError> {
    let exclude = format!("--exclude={branch}");
    let call = repository.shared().call()?.words(&["rev-list", "--max-count=1"]).value(commit.as_str())?;
    let mut call = call.words(&["--not"]);
    if let Some(base) = base {
        call = call.value(base.as_str())?;
    }
    let call = call.words(&[&exclude, "--branches", "--remotes", "--"]);
    Ok(Some(call.deadline(LONG).line()?).filter(|line| !line.is_empty()))
}

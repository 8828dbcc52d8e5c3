//! A round of checks, seen by git: what there is to doubt before the first check, the clean checkout in which checks run, and what
//! they did to the files.
//!
//! Called by the effects around checks. It judges nothing: the core does. A checkout is detached, made for one round and removed after
//! it; whatever checks leave in it is thrown away, so it is the only worktree that is removed by force. Git does that; one that git does
//! not know is kept here (see `longhaul-app`'s `checkouts`). No hook and no filter runs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Doubt, FileEffects, NameList, Remarks};
use longhaul_keeper::files::{if_exists, replace};

use super::command::LONG;
use super::conversion::converted;
use super::create::{clear_half_made, metadata_of, registered, settled_path};
use super::error::{GitError, io_failed};
use super::locks::{PathLock, install_first};
use super::references::{CommitId, TreeId, patiently};
use super::repository::Repository;
use super::tree::{Files, Paths, Survey, ids_of, ignored, survey};
use super::view::{Objects, View, path_of, zero_separated};
use super::worktree::{Removal, WorktreeError};

/// What checks did to the files.
#[derive(Debug)]
pub struct AfterCheck {
    /// What has become of the checked tree; the same if no path of it changed.
    pub tree: TreeId,
    /// Which files they changed or left behind.
    pub files: FileEffects,
}

impl AfterCheck {
    /// Looks at the files of a tree.
    fn inspect(view: &View<'_>, tree: &TreeId) -> Result<(AfterCheck, Paths), GitError> {
        let survey = survey(view, Files::Of(tree))?;
        // A tree that changed is checked again anyway.
        let converted = if survey.tree == *tree { converted(view, &survey)? } else { Paths::new() };
        let files = FileEffects {
            changed: listed(&survey.changed),
            left: listed(survey.untracked.iter().chain(&survey.nested)),
            filtered: listed(survey.filtered.keys()),
            converted: listed(&converted),
            submodules: listed(&survey.submodules),
        };
        Ok((AfterCheck { tree: survey.tree, files }, survey.untracked))
    }
}

impl Repository {
    /// Why checks that pass on these files verify nothing, if there is a reason.
    pub fn doubts(&self, survey: &Survey, base: Option<&CommitId>) -> Result<Vec<Doubt>, GitError> {
        let is_empty = survey.tree.as_str() == self.format.empty_tree();
        Ok([
            is_empty.then_some(Doubt::EmptyTree),
            some(Doubt::FilteredFiles, listed(survey.filtered.keys())),
            some(Doubt::Submodules, listed(&self.submodules(survey, base)?)),
            some(Doubt::LeftByChecks, listed(&survey.left_by_checks)),
        ]
        .into_iter()
        .flatten()
        .collect())
    }

    /// The same for checks that run among these files and not in a clean checkout. The expected files, relative to the top level, exist.
    pub fn doubts_in_workspace(&self, survey: &Survey, expected: &[PathBuf]) -> Result<Vec<Doubt>, GitError> {
        let converted = some(Doubt::ConvertedFiles, listed(&self.converted_files(survey)?));
        let mut outside = Vec::new();
        for path in expected {
            if !self.is_in(&survey.tree, path)? {
                outside.push(path.display().to_string());
            }
        }
        Ok(converted.into_iter().chain(some(Doubt::ExpectedFiles, NameList::new(outside))).collect())
    }

    /// Whether a tree has a file of this name.
    fn is_in(&self, tree: &TreeId, path: &Path) -> Result<bool, GitError> {
        let mut name = OsString::from(format!("{}:", tree.as_str()));
        name.push(path);
        let answer = self.call()?.words(&["cat-file", "-t"]).value(name)?.run()?;
        Ok(answer.is_success() && answer.output == b"blob\n")
    }

    fn submodules(&self, survey: &Survey, base: Option<&CommitId>) -> Result<Vec<Vec<u8>>, GitError> {
        let mut submodules = survey.submodules.clone();
        submodules.extend(base.map(|base| self.moved_submodules(base, &survey.tree)).transpose()?.unwrap_or_default());
        submodules.sort();
        submodules.dedup();
        Ok(submodules)
    }

    /// What to say about these files besides.
    pub fn remarks(&self, survey: &Survey, base: Option<&CommitId>) -> Result<Remarks, GitError> {
        let before = match (&self.rules()?.tree_before, base) {
            (Some(tree), _) => Some(tree.clone()),
            (None, Some(base)) => Some(self.tree_of(base.as_str())?),
            (None, None) => None,
        };
        let same_as_base = before.as_ref() == Some(&survey.tree);
        let ignored = ignored(&View::of_tree(self, &survey.tree)?)?;
        Ok(Remarks { ignored: listed(&ignored), same_as_base, ..Remarks::default() })
    }

    /// Looks at what a check did to the tree it ran on, and remembers the files it left behind: none of them is work. A repository is
    /// not remembered: what is in it can change unnoticed, so it is a problem of the next round.
    pub fn after_check(&self, task: TaskId, tree: &TreeId) -> Result<AfterCheck, GitError> {
        let view = View::new(self, Objects::Private)?;
        let (after, untracked) = AfterCheck::inspect(&view, tree)?;
        let remembered: Vec<(Vec<u8>, String)> = ids_of(&view, untracked.iter())?.into_iter().collect();
        if !remembered.is_empty() {
            self.remember_left_by_checks(task, remembered)?;
        }
        Ok(after)
    }

    /// Removes what the checks of earlier rounds left behind, so that no check of a new round can rest on it.
    pub fn clear_left_by_checks(&self, task: TaskId) -> Result<(), GitError> {
        let removed = self.remove_left_by_checks()?;
        if removed.is_empty() { Ok(()) } else { self.forget_left_by_checks(task, &removed) }
    }

    /// Deletes what checks left behind, file by file, as long as each is what it was then. Answers which are gone.
    pub(super) fn remove_left_by_checks(&self) -> Result<Paths, GitError> {
        if self.rules()?.left_by_checks.is_empty() {
            return Ok(Paths::new());
        }
        let left = self.survey()?.left_by_checks;
        let remove = |path: &Vec<u8>| std::fs::remove_file(self.top_level().join(path_of(path))).is_ok();
        Ok(left.into_iter().filter(remove).collect())
    }

    /// The same for a check that ran in a clean checkout of this repository. What it left behind is removed with the checkout.
    pub fn after_clean_check(&self, path: &Path, tree: &TreeId) -> Result<AfterCheck, GitError> {
        let checkout = self.open_checkout(path)?;
        AfterCheck::inspect(&View::new(&checkout, Objects::Private)?, tree).map(|(after, _)| after)
    }

    fn moved_submodules(&self, base: &CommitId, tree: &TreeId) -> Result<Vec<Vec<u8>>, GitError> {
        let call = self.call()?.words(&["diff-tree", "-r", "-z", "--raw", "--no-renames"]);
        let output = call.value(base.as_str())?.value(tree.as_str())?.words(&["--"]).deadline(LONG).succeed()?;
        let parts: Vec<&[u8]> = zero_separated(&output).collect();
        let is_link = |facts: &[u8]| facts.starts_with(b":160000 ") || facts.get(8..14) == Some(b"160000");
        Ok(parts.chunks_exact(2).filter(|pair| is_link(pair[0])).map(|pair| pair[1].to_vec()).collect())
    }
}

fn some(doubt: fn(NameList) -> Doubt, names: NameList) -> Option<Doubt> {
    (!names.is_empty()).then(|| doubt(names))
}

fn listed<'name>(names: impl IntoIterator<Item = &'name Vec<u8>>) -> NameList {
    NameList::new(names.into_iter().map(|name| String::from_utf8_lossy(name).into_owned()))
}

impl Repository {
    /// Makes a checkout of `commit` at `path` (absolute). Whatever an earlier attempt left there is removed first.
    pub fn make_checkout(&self, path: &Path, commit: &CommitId) -> Result<Repository, WorktreeError> {
        let path = &settled_path(path)?;
        // Should this worker die, its git keeps writing and keeps the lock: nothing is removed from under it.
        let writing = self.lock_checkouts(path)?;
        self.remove_locked(path, &writing)?;
        let lock = self.lock()?;
        self.clone().holding(Some(lock.file())).add(path, None, commit)?;
        drop(lock);
        let made = self.open_checkout(path)?.holding(Some(writing.file()));
        let view = View::new(&made, Objects::Private)?;
        view.call().words(&["read-tree", "--reset", "-u"]).value(commit.as_str())?.deadline(LONG).succeed()?;
        // Its exit says whether files differ, which is no failure here.
        view.call().words(&["update-index", "-q", "--refresh"]).deadline(LONG).run()?;
        install_first(&view, made.git_dir())?;
        drop(view);
        Ok(made.holding(None))
    }

    /// Opens a checkout under the rules of this repository's workspace. A check may have taken its link away, or led it elsewhere.
    pub(super) fn open_checkout(&self, path: &Path) -> Result<Repository, GitError> {
        let missing = || io_failed("find the git data of", path)(io::ErrorKind::NotFound.into());
        let metadata = metadata_of(self.common_dir(), path).ok_or_else(missing)?;
        link(path, &metadata)?;
        let found = self.git.find(path)?.ok_or_else(missing)?;
        Ok(found.with_rules(self.rules()?.into_owned()))
    }

    /// The commit with exactly this tree: HEAD, or the snapshot that was kept before the checks of a task.
    pub fn commit_to_check(&self, task: TaskId, tree: &str) -> Result<Option<CommitId>, GitError> {
        for name in ["HEAD", &format!("refs/longhaul/{task}/tree-{}", tree.get(..12).unwrap_or(tree))] {
            if let Some((commit, found)) = self.commit_and_tree_of(name)?
                && found.as_str() == tree
            {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }

    /// Removes a checkout with all that is in it. One that is gone, or half-made, is no failure; files that git does not know are kept.
    pub fn remove_checkout(&self, path: &Path) -> Result<Removal, GitError> {
        let writing = self.lock_checkouts(path)?;
        self.remove_locked(path, &writing)
    }

    /// The lock under which the files of a task's checkouts are written and removed. Their paths differ only in the round.
    fn lock_checkouts(&self, path: &Path) -> Result<PathLock, GitError> {
        PathLock::take(&self.git.locks(), &path.with_extension(""))
    }

    fn remove_locked(&self, path: &Path, writing: &PathLock) -> Result<Removal, GitError> {
        let common = self.common_dir();
        let _lock = self.lock()?;
        clear_half_made(common, path);
        if !registered(self)?.iter().any(|entry| entry.path == path) {
            return Ok(remove_empty(path));
        }
        let Some(metadata) = metadata_of(common, path) else { return Ok(remove_empty(path)) };
        if is_directory(path)? {
            // Git removes nothing that does not lead back to it.
            link(path, &metadata)?;
        }
        if metadata.join("locked").exists() {
            self.shared().call()?.words(&["worktree", "unlock"]).value(path)?.succeed()?;
        }
        patiently(|| {
            let call = self.shared().call()?.words(&["worktree", "remove", "--force"]).value(path)?;
            call.holding(Some(writing.file())).deadline(LONG).succeed().map(|_| Removal::Removed)
        })
    }
}

fn link(path: &Path, metadata: &Path) -> Result<(), GitError> {
    let line = format!("gitdir: {}\n", metadata.display());
    replace(path, ".git", line.as_bytes()).map_err(io_failed("write", path))
}

/// A link in its place leads to files of somebody else.
fn is_directory(path: &Path) -> Result<bool, GitError> {
    match if_exists(path.symlink_metadata()).map_err(io_failed("find", path))? {
        Some(meta) if meta.is_dir() => Ok(true),
        Some(_) => Err(io_failed("remove", path)(io::ErrorKind::NotADirectory.into())),
        None => Ok(false),
    }
}

fn remove_empty(path: &Path) -> Removal {
    match if_exists(fs::remove_dir(path)) {
        Ok(_) => Removal::Removed,
        Err(error) => Removal::Kept { why: format!("git cannot find `{}`: {error}", path.display()) },
    }
}

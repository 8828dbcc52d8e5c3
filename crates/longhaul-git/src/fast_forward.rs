//! Updating a checkout together with its branch: the one case in which the wrapper changes the user's index and files.
//!
//! ```text
//! lock the index with our mark -> look whether anything is in the way -> lock the branch -> write files -> index -> branch -> unlock
//! ```
//! Only paths that the commit changes are touched, and only if they are exactly as in the old commit. The mark names the follow-up, so
//! whoever comes after a kill knows that what it finds half-done is its own, and finishes or undoes it.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use longhaul_core::task::NameList;
use longhaul_keeper::fail_point;

use super::command::LONG;
use super::commit::in_progress;
use super::conversion::under_filter;
use super::error::{GitError, io_failed};
use super::land::{Moved, Step};
use super::locks::{MarkedLock, install_first};
use super::prepared_update::PreparedUpdate;
use super::references::{CommitId, patiently};
use super::repository::Repository;
use super::tree::{Paths, zero_terminated};
use super::view::{Objects, View, path_of, zero_separated};

const SUBMODULE: &str = "160000";
const ABSENT: &str = "000000";

/// The user's working tree that shows the branch.
pub(super) struct Checkout {
    repository: Repository,
    /// Files or index are neither as before nor as they are to be. The lock then stays, for whoever finishes.
    is_half_done: Cell<bool>,
}

/// A path that the commit changes.
struct Changed {
    path: Vec<u8>,
    is_new: bool,
    is_gone: bool,
    is_submodule: bool,
}

impl Checkout {
    /// The checkout, or why it must be left alone whatever the commit is.
    pub(super) fn open(repository: Repository) -> Result<Result<Option<Checkout>, String>, GitError> {
        let (path, git_dir) = (repository.top_level().display().to_string(), repository.git_dir().to_owned());
        if let Some(what) = in_progress(&git_dir) {
            return Ok(Err(format!("{what} is in progress in `{path}`; finish or abort it first")));
        }
        if git_dir.join("locked").exists() {
            return Ok(Err(format!("the checkout `{path}` is locked; `git worktree unlock {path}` unlocks it")));
        }
        if repository.rules()?.is_sparse() {
            return Ok(Err(format!("the checkout `{path}` is sparse, so Longhaul does not change its files")));
        }
        Ok(Ok(Some(Checkout { repository, is_half_done: Cell::new(false) })))
    }

    /// Moves the branch and the files, or finishes what an earlier attempt began.
    pub(super) fn follow(self, step: &Step<'_>, tip: &CommitId, is_there: bool) -> Result<Moved, GitError> {
        let done = || Moved::Done { checkout: Some(self.repository.top_level().to_owned()) };
        let mark = format!("longhaul {}\n", step.task);
        let git_dir = self.repository.git_dir();
        if is_there {
            // The branch is the last thing that moves, so only the lock can be left.
            MarkedLock::remove(git_dir, &mark)?;
            return Ok(done());
        }
        let was_begun = MarkedLock::exists(git_dir, &mark);
        if tip != step.from && !was_begun {
            return Ok(Moved::Elsewhere);
        }
        let changed = self.changed(step)?;
        if let Some(why) = self.never(step, &changed)? {
            return Ok(Moved::Refused { why });
        }
        let lock = match patiently(|| MarkedLock::take(git_dir, &mark)) {
            Err(error @ GitError::IndexLocked { .. }) => return Ok(Moved::Refused { why: error.to_string() }),
            taken => taken?,
        };
        fail_point::reach("land.locked");
        self.is_half_done.set(was_begun);
        let moved = self.under_lock(step, tip, &changed, was_begun);
        if !self.is_half_done.get() {
            lock.release();
        }
        moved.map(|moved| moved.unwrap_or_else(done))
    }

    /// None once all is moved.
    fn under_lock(
        &self,
        step: &Step<'_>,
        tip: &CommitId,
        changed: &[Changed],
        was_begun: bool,
    ) -> Result<Option<Moved>, GitError> {
        let is_installed = was_begun && self.index_is_at(step, changed)?;
        if was_begun && !is_installed {
            self.undo(step, changed)?;
        }
        if tip != step.from {
            let why = format!("the branch `{}` moved while its checkout was being updated", step.branch);
            return if is_installed { Err(refused(why)) } else { Ok(Some(Moved::Elsewhere)) };
        }
        if !is_installed && let Some(why) = self.in_the_way(step, changed)? {
            return Ok(Some(Moved::Refused { why }));
        }
        self.move_files_and_branch(step, changed, is_installed)
    }

    fn move_files_and_branch(
        &self,
        step: &Step<'_>,
        changed: &[Changed],
        is_installed: bool,
    ) -> Result<Option<Moved>, GitError> {
        let Some(update) = self.lock_branch(step)? else { return Ok(Some(Moved::Elsewhere)) };
        fail_point::reach("land.branch_locked");
        if !is_installed && let Err(error) = self.switch(step.from, step.to) {
            self.undo(step, changed)?;
            return Ok(Some(Moved::Refused { why: format!("the files could not be updated: {error}") }));
        }
        fail_point::reach("land.index_written");
        if let Err(error) = update.commit() {
            self.switch(step.to, step.from)?;
            self.is_half_done.set(false);
            return Err(error);
        }
        self.is_half_done.set(false);
        fail_point::reach("land.branch_moved");
        Ok(None)
    }

    /// None if the branch is not where it was.
    fn lock_branch(&self, step: &Step<'_>) -> Result<Option<PreparedUpdate>, GitError> {
        let name = format!("refs/heads/{}", step.branch);
        let lock = || {
            let call = self.repository.call()?;
            let call = call.variable("GIT_COMMITTER_NAME", &step.author.name);
            let call = call.variable("GIT_COMMITTER_EMAIL", &step.author.email);
            PreparedUpdate::lock(call, &name, step.from.as_str(), step.to.as_str())
        };
        match patiently(lock) {
            Err(GitError::Refused { .. }) if self.repository.branch_tip(step.branch)?.as_ref() != Some(step.from) => {
                Ok(None)
            }
            locked => locked.map(Some),
        }
    }

    /// Writes files and index of one commit in place of another's. Git itself refuses what would be lost.
    fn switch(&self, from: &CommitId, to: &CommitId) -> Result<(), GitError> {
        let view = self.view_of_index()?;
        // Git compares file times only, and whoever saved a file again without a change is not to be refused.
        view.call().words(&["update-index", "-q", "--refresh"]).deadline(LONG).run()?;
        self.is_half_done.set(true);
        let call = view.call().words(&["read-tree", "-m", "-u"]).value(from.as_str())?.value(to.as_str())?;
        call.deadline(LONG).succeed()?;
        fail_point::reach("land.files_written");
        install_first(&view, self.repository.git_dir())
    }

    /// A view whose index is a copy of the user's.
    fn view_of_index(&self) -> Result<View<'_>, GitError> {
        let view = View::new(&self.repository, Objects::Repository)?;
        let index = self.repository.git_dir().join("index");
        fs::copy(&index, view.index()).map_err(io_failed("copy", &index))?;
        Ok(view)
    }

    /// The paths that the commit changes.
    fn changed(&self, step: &Step<'_>) -> Result<Vec<Changed>, GitError> {
        let call = self.repository.reading().words(&["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"]);
        let output = call.value(step.from.as_str())?.value(step.to.as_str())?.deadline(LONG).succeed()?;
        let parts: Vec<&[u8]> = zero_separated(&output).collect();
        Ok(parts.chunks_exact(2).map(|pair| Changed::read(pair[0], pair[1])).collect())
    }

    /// Why this commit never goes into this checkout, whatever state its files are in.
    fn never(&self, step: &Step<'_>, changed: &[Changed]) -> Result<Option<String>, GitError> {
        let submodules = changed.iter().filter(|change| change.is_submodule);
        if let Some(names) = named(submodules.map(|change| &change.path)) {
            return Ok(Some(format!("it changes submodules, which Longhaul does not update: {names}")));
        }
        let paths = || changed.iter().map(|change| &change.path);
        let mut filtered = under_filter(View::new(&self.repository, Objects::Private)?.call(), paths())?;
        for commit in [step.from, step.to] {
            let tree = self.repository.tree_of(commit.as_str())?;
            let view = View::of_tree(&self.repository, &tree)?;
            filtered.extend(under_filter(view.call_aside(), paths())?);
        }
        let why = |names| format!("it changes files under a git filter, which Longhaul does not run: {names}");
        Ok(named(filtered.iter()).map(why))
    }

    /// Which of the user's work is in the way, if any is. What is in other paths does not matter.
    fn in_the_way(&self, step: &Step<'_>, changed: &[Changed]) -> Result<Option<String>, GitError> {
        let view = self.view_of_index()?;
        let differing = differing(&view, step.from)?;
        let dirty = changed.iter().map(|change| &change.path).filter(|path| differing.contains(*path));
        if let Some(names) = named(dirty) {
            return Ok(Some(format!("uncommitted changes in `{}` are in the way: {names}", self.shown())));
        }
        let gone: BTreeSet<&[u8]> =
            changed.iter().filter(|change| change.is_gone).map(|change| change.path.as_slice()).collect();
        let taken = changed.iter().filter(|change| change.is_new).filter_map(|change| self.taken(&change.path, &gone));
        let taken: Vec<Vec<u8>> = taken.collect();
        let why = |names| format!("untracked or ignored files in `{}` are in the way: {names}", self.shown());
        Ok(named(taken.iter()).map(why))
    }

    /// What exists where a new file has to go, besides files that the commit removes.
    fn taken(&self, path: &[u8], gone: &BTreeSet<&[u8]>) -> Option<Vec<u8>> {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends {
            let above = &path[..end];
            let meta = self.repository.top_level().join(path_of(above)).symlink_metadata().ok()?;
            if !meta.is_dir() {
                return (!gone.contains(above)).then(|| above.to_vec());
            }
        }
        self.strange_in(path, gone)
    }

    /// The first file at or below a path that the commit does not remove.
    fn strange_in(&self, path: &[u8], gone: &BTreeSet<&[u8]>) -> Option<Vec<u8>> {
        let full = self.repository.top_level().join(path_of(path));
        let meta = full.symlink_metadata().ok()?;
        if !meta.is_dir() {
            return (!gone.contains(path)).then(|| path.to_vec());
        }
        let Ok(entries) = fs::read_dir(&full) else { return Some(path.to_vec()) };
        entries.filter_map(Result::ok).find_map(|entry| {
            let name = std::os::unix::ffi::OsStringExt::into_vec(entry.file_name());
            self.strange_in(&[path, b"/", &name].concat(), gone)
        })
    }

    /// Whether the index already has the commit's entries.
    fn index_is_at(&self, step: &Step<'_>, changed: &[Changed]) -> Result<bool, GitError> {
        let view = self.view_of_index()?;
        let words = &["diff-index", "-z", "--cached", "--name-only", "--no-renames"];
        let output = view.call().words(words).value(step.to.as_str())?.words(&["--"]).deadline(LONG).succeed()?;
        let differing: BTreeSet<&[u8]> = zero_separated(&output).collect();
        Ok(!changed.iter().any(|change| differing.contains(change.path.as_slice())))
    }

    /// Puts the changed paths back to the old commit, as far as they are what the new one writes. Anything else is the user's.
    fn undo(&self, step: &Step<'_>, changed: &[Changed]) -> Result<(), GitError> {
        let tree = self.repository.tree_of(step.to.as_str())?;
        let new = View::of_tree(&self.repository, &tree)?;
        new.call().words(&["update-index", "-q", "--refresh"]).deadline(LONG).run()?;
        let not_new = differing_files(&new)?;
        let old = self.view_of_index()?;
        let not_old = differing(&old, step.from)?;
        let mut restored = Paths::new();
        for change in changed.iter().filter(|change| change.is_new || not_old.contains(&change.path)) {
            let full = self.repository.top_level().join(path_of(&change.path));
            let exists = full.symlink_metadata().is_ok();
            let is_ours =
                !exists || (!change.is_gone && !not_new.contains(&change.path)) || is_start(&new, change, &full)?;
            if !is_ours {
                let path = full.display();
                return Err(refused(format!("`{path}` changed while the checkout was being updated; put it right")));
            }
            if change.is_new && exists {
                fs::remove_file(&full).map_err(io_failed("remove", &full))?;
                self.remove_empty_parents(&full);
            } else if !change.is_new {
                restored.insert(change.path.clone());
            }
        }
        if !restored.is_empty() {
            let call = old.call().words(&["checkout-index", "-f", "-z", "--stdin"]);
            call.input(zero_terminated(restored.iter())).deadline(LONG).succeed()?;
        }
        self.is_half_done.set(false);
        Ok(())
    }

    /// Directories that git made for new files.
    fn remove_empty_parents(&self, file: &Path) {
        let top = self.repository.top_level();
        for above in file.ancestors().skip(1).take_while(|above| *above != top) {
            if fs::remove_dir(above).is_err() {
                return;
            }
        }
    }

    fn shown(&self) -> std::path::Display<'_> {
        self.repository.top_level().display()
    }
}

impl Changed {
    /// One record of `diff-tree --raw`.
    fn read(facts: &[u8], path: &[u8]) -> Changed {
        let facts = String::from_utf8_lossy(facts);
        let mut modes = facts.trim_start_matches(':').split(' ');
        let (before, after) = (modes.next().unwrap_or_default(), modes.next().unwrap_or_default());
        Changed {
            path: path.to_vec(),
            is_new: before == ABSENT,
            is_gone: after == ABSENT,
            is_submodule: before == SUBMODULE || after == SUBMODULE,
        }
    }
}

/// Paths whose entry or file is not as in a commit. Flags that hide changes do not count, because every file is looked at.
fn differing(view: &View<'_>, commit: &CommitId) -> Result<Paths, GitError> {
    view.call().words(&["update-index", "-q", "--really-refresh"]).deadline(LONG).run()?;
    let mut paths = Paths::new();
    for index_alone in [&[][..], &["--cached"]] {
        // Git would look into submodules with their own configuration.
        let call = view.call().words(&["diff-index", "-z", "--name-only", "--no-renames", "--ignore-submodules=dirty"]);
        let call = call.words(index_alone).value(commit.as_str())?.words(&["--"]);
        let output = call.deadline(LONG).succeed()?;
        paths.extend(zero_separated(&output).map(<[u8]>::to_vec));
    }
    Ok(paths)
}

/// Files that differ from the view's index.
fn differing_files(view: &View<'_>) -> Result<Paths, GitError> {
    let words = &["diff-files", "-z", "--name-only", "--no-renames", "--ignore-submodules=all"];
    let output = view.call().words(words).deadline(LONG).succeed()?;
    Ok(zero_separated(&output).map(<[u8]>::to_vec).collect())
}

/// Whether a file is the beginning of what the commit writes there: git was killed in the middle of it.
fn is_start(new: &View<'_>, change: &Changed, full: &Path) -> Result<bool, GitError> {
    let is_file = full.symlink_metadata().is_ok_and(|meta| meta.is_file());
    if change.is_gone || !is_file {
        return Ok(false);
    }
    let mut name = std::ffi::OsString::from(":");
    name.push(path_of(&change.path));
    let whole = new.call().words(&["cat-file", "--filters"]).value(name)?.deadline(LONG).succeed()?;
    let found = fs::read(full).map_err(io_failed("read", full))?;
    Ok(whole.starts_with(&found))
}

fn named<'path>(paths: impl Iterator<Item = &'path Vec<u8>>) -> Option<NameList> {
    let names = NameList::new(paths.map(|path| String::from_utf8_lossy(path).into_owned()));
    (!names.is_empty()).then_some(names)
}

fn refused(text: String) -> GitError {
    GitError::Refused { command: "updating a checkout".to_owned(), text }
}

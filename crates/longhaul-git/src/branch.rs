//! Names of branches: made from any title, checked by git, and made unique without ever taking over somebody's branch.
//!
//! Called by create with the repository's lock held. A worktree claims a name by pointing its HEAD there before the branch is made, so
//! a repeat after a crash finds its own branch again.

use super::error::{GitError, io_failed};
use super::id::CommitId;
use super::reference::{Before, point_head, set};
use super::registry::registered;
use super::repository::Repository;

const PREFIX: &str = "longhaul/";
/// The same where a branch `longhaul` leaves no room.
const FLAT_PREFIX: &str = "longhaul-";
const LONGEST: usize = 60;
const MOST_SUFFIXES: u32 = 10_000;

/// The branch for a task of this name or title: valid for any text, also an empty one.
pub fn task_branch(title: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let mut name: String = title.chars().take(LONGEST).map(safe).collect();
    for (bad, good) in [("..", "-"), ("--", "-"), (".-", "-"), ("-.", "-")] {
        while name.contains(bad) {
            name = name.replace(bad, good);
        }
    }
    let mut name = name.trim_matches(['.', '-']);
    while let Some(shorter) = name.strip_suffix(".lock") {
        name = shorter.trim_end_matches(['.', '-']);
    }
    format!("{PREFIX}{}", if name.is_empty() { "task" } else { name })
}

impl Repository {
    /// Whether git takes this as the full name of a reference.
    pub(super) fn is_reference_name(&self, name: &str) -> Result<bool, GitError> {
        let Ok(call) = self.call()?.words(&["check-ref-format"]).value(name) else { return Ok(false) };
        Ok(call.run()?.is_success())
    }
}

/// Gives the worktree its branch: the one its HEAD already claims, else `reuse` if that is free, else a new one at `base`.
///
/// None if HEAD stands on a branch that is none of the wanted family.
pub(super) fn settle(
    worktree: &Repository,
    wanted: &str,
    base: &CommitId,
    reuse: Option<&str>,
) -> Result<Option<String>, GitError> {
    let stem = stem(worktree, wanted)?;
    if let Some(claimed) = worktree.branch()? {
        let is_ours = is_of(&stem, &claimed) || is_of(wanted, &claimed);
        if is_ours && tip(worktree, &claimed)?.is_none() {
            make(worktree, &claimed, base)?;
        }
        return Ok(is_ours.then_some(claimed));
    }
    if let Some(branch) = reuse
        && tip(worktree, branch)?.is_some()
        && !is_checked_out(worktree, branch)?
    {
        point_head(worktree, branch)?;
        return Ok(Some(branch.to_owned()));
    }
    make_new(worktree, &stem, base).map(Some)
}

impl Repository {
    /// The commit a branch stands on, if there is such a branch.
    pub fn branch_tip(&self, branch: &str) -> Result<Option<CommitId>, GitError> {
        tip(self, branch)
    }

    /// Whether a task of this name would find its branch taken.
    pub fn has_task_branch(&self, name: &str) -> Result<bool, GitError> {
        is_taken(self, &task_branch(name))
    }
}

/// The commit a branch stands on, if there is such a branch.
pub(super) fn tip(repository: &Repository, branch: &str) -> Result<Option<CommitId>, GitError> {
    repository.commit_of(&format!("refs/heads/{branch}"))
}

fn make_new(worktree: &Repository, stem: &str, base: &CommitId) -> Result<String, GitError> {
    let mut number = 1;
    loop {
        let name = if number == 1 { stem.to_owned() } else { format!("{stem}-{number}") };
        if !is_taken(worktree, &name)? {
            point_head(worktree, &name)?;
            match make(worktree, &name, base) {
                Ok(()) => return Ok(name),
                // Somebody else made it in this very moment: theirs it is.
                Err(_) if tip(worktree, &name)?.is_some() && number < MOST_SUFFIXES => {}
                Err(error) => return Err(error),
            }
        }
        number += 1;
    }
}

/// Only this worktree claims the branch, so a lock that outlasts all patience was left by a git of ours that was killed.
fn make(worktree: &Repository, branch: &str, base: &CommitId) -> Result<(), GitError> {
    let name = format!("refs/heads/{branch}");
    let attempt = || set(worktree, &name, base, &Before::Absent, "longhaul: branch");
    match attempt() {
        Err(GitError::Refused { text, .. }) if text.contains(&format!("{name}.lock': File exists")) => {
            let lock = worktree.git_dir().common_dir.join(format!("{name}.lock"));
            std::fs::remove_file(&lock).map_err(io_failed("remove", &lock))?;
            attempt()
        }
        answer => answer,
    }
}

/// A branch `longhaul` leaves no room for `longhaul/x`; then the name is flat.
fn stem(repository: &Repository, wanted: &str) -> Result<String, GitError> {
    for (at, _) in wanted.match_indices('/') {
        if tip(repository, &wanted[..at])?.is_some() {
            return Ok(wanted.replace('/', "-"));
        }
    }
    Ok(wanted.to_owned())
}

/// A branch of this name, one below it, or a claim by another worktree.
fn is_taken(repository: &Repository, branch: &str) -> Result<bool, GitError> {
    let call = repository.call()?.words(&["for-each-ref", "--count=1", "--format=%(refname)"]);
    let found = call.value(format!("refs/heads/{branch}"))?.succeed()?;
    Ok(!found.is_empty() || is_checked_out(repository, branch)?)
}

fn is_checked_out(repository: &Repository, branch: &str) -> Result<bool, GitError> {
    Ok(registered(repository)?.iter().any(|entry| entry.branch.as_deref() == Some(branch)))
}

/// Whether a branch has a name that only tasks get, also a flat one.
pub(super) fn is_of_tasks(branch: &str) -> bool {
    [PREFIX, FLAT_PREFIX].iter().any(|prefix| branch.starts_with(prefix))
}

fn is_of(stem: &str, branch: &str) -> bool {
    let Some(rest) = branch.strip_prefix(stem) else { return false };
    let suffix = rest.strip_prefix('-').and_then(|number| number.parse::<u32>().ok());
    rest.is_empty() || suffix.is_some_and(|number| number > 1)
}

#[cfg(test)]
mod tests {
    use super::{is_of, task_branch};

    #[test]
    fn titles_become_readable_names() {
        for (title, branch) in [
            ("port-the-parser", "longhaul/port-the-parser"),
            ("Fix: the *thing*", "longhaul/Fix-the-thing"),
            ("", "longhaul/task"),
            ("äöü", "longhaul/task"),
            ("a..b.lock.lock", "longhaul/a-b"),
            ("--upload-pack=x", "longhaul/upload-pack-x"),
            ("v1.2.3", "longhaul/v1.2.3"),
        ] {
            assert_eq!(task_branch(title), branch);
        }
    }

    #[test]
    fn only_numbered_suffixes_belong_to_a_name() {
        for (branch, belongs) in [
            ("a/b", true),
            ("a/b-2", true),
            ("a/b-17", true),
            ("a/b-1", false),
            ("a/b-c", false),
            ("a/bc", false),
            ("a", false),
        ] {
            assert_eq!(is_of("a/b", branch), belongs, "{branch}");
        }
    }
}

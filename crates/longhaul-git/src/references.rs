//! What git names: ids of commits and trees, references, and the branches of tasks.
//!
//! Ids are whole and hexadecimal, so never an option or a revision expression. References are written by compare-and-set, with the
//! repository's lock held, and again when another git holds its lock for a moment. Branch names are made from any title, checked by git,
//! and made unique without ever taking over somebody's branch: a worktree claims a name by pointing its HEAD there before the branch is
//! made, so a repeat after a crash finds its own branch again.

use std::str::FromStr;
use std::time::{Duration, Instant};
use std::{fmt, thread};

use longhaul_core::task::Author;
use serde::{Deserialize, Serialize};

use super::create::registered;
use super::error::{GitError, io_failed};
use super::repository::Repository;
use super::view::line_of;

/// Why a text is not the id of an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the full id of a git object", text.escape_debug())]
pub struct BadObjectId {
    text: String,
}

macro_rules! object_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// The id as git prints it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadObjectId;

            fn from_str(text: &str) -> Result<Self, BadObjectId> {
                Self::try_from(text.to_owned())
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadObjectId;

            fn try_from(text: String) -> Result<Self, BadObjectId> {
                if is_full_id(&text) { Ok(Self(text)) } else { Err(BadObjectId { text }) }
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }
    };
}

object_id! {
    /// A commit.
    CommitId
}
object_id! {
    /// A tree: the content of all files at one moment.
    TreeId
}

fn is_full_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// Writes a reference if it is what the caller thinks it is: at the commit `before`, or absent.
pub(super) fn set(
    repository: &Repository,
    name: &str,
    to: &CommitId,
    before: Option<&CommitId>,
    why: &str,
) -> Result<(), GitError> {
    set_by(repository, name, to, before, why, None)
}

/// The same with a person in the log of the reference.
pub(super) fn set_by(
    repository: &Repository,
    name: &str,
    to: &CommitId,
    before: Option<&CommitId>,
    why: &str,
    who: Option<&Author>,
) -> Result<(), GitError> {
    let old = before.map_or(repository.format.zeros(), CommitId::as_str);
    let attempt = || {
        patiently(|| {
            let named = who.into_iter().fold(repository.call()?, |call, who| {
                call.variable("GIT_COMMITTER_NAME", &who.name).variable("GIT_COMMITTER_EMAIL", &who.email)
            });
            let call = named.words(&["update-ref", "--no-deref", "-m"]).value(why)?;
            call.value(name)?.value(to.as_str())?.value(old)?.succeed().map(drop)
        })
    };
    match attempt() {
        Err(GitError::Refused { text, .. }) if is_contended(&text) && remove_dead_lock(repository, name) => attempt(),
        answer => answer,
    }
}

/// Removes the lock of a reference of ours that was there all the time we waited: nothing holds one for so long but a git that was killed.
/// Says whether it did. Locks of other references are left alone.
fn remove_dead_lock(repository: &Repository, name: &str) -> bool {
    let ours = [format!("refs/heads/{PREFIX}"), format!("refs/heads/{FLAT_PREFIX}"), "refs/longhaul/".to_owned()];
    let lock = repository.common_dir().join(format!("{name}.lock"));
    let inside = lock.parent().and_then(|parent| parent.canonicalize().ok());
    let is_dead = |meta: std::fs::Metadata| {
        meta.is_file() && meta.modified().is_ok_and(|made| made.elapsed().is_ok_and(|age| age >= PATIENCE))
    };
    ours.iter().any(|prefix| name.starts_with(prefix))
        // A link on the way would lead to a file of somebody else.
        && inside.is_some_and(|inside| lock.parent() == Some(&inside))
        && lock.symlink_metadata().is_ok_and(is_dead)
        && std::fs::remove_file(&lock).is_ok()
}

/// Deletes a reference if it is what the caller thinks it is.
pub(super) fn delete(repository: &Repository, name: &str, at: &CommitId) -> Result<(), GitError> {
    patiently(|| {
        let call = repository.call()?.words(&["update-ref", "--no-deref", "-d"]);
        call.value(name)?.value(at.as_str())?.succeed().map(drop)
    })
}

/// Points the HEAD of a working tree at a branch, which need not exist yet.
pub(super) fn point_head(repository: &Repository, branch: &str) -> Result<(), GitError> {
    patiently(|| {
        let call = repository.call()?.words(&["symbolic-ref", "-m", "longhaul: worktree", "HEAD"]);
        call.value(format!("refs/heads/{branch}"))?.succeed().map(drop)
    })
}

/// Tries again while another git holds a lock file or makes a worktree: agents and people do that too.
pub(super) fn patiently<T>(mut attempt: impl FnMut() -> Result<T, GitError>) -> Result<T, GitError> {
    let end = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Err(GitError::Refused { text, .. }) if is_contended(&text) && Instant::now() < end => thread::sleep(PAUSE),
            Err(GitError::IndexLocked { .. }) if Instant::now() < end => thread::sleep(PAUSE),
            answer => return answer,
        }
    }
}

fn is_contended(text: &str) -> bool {
    // A worktree's `commondir` is empty for a moment, and then git refuses to read it.
    text.contains(".lock': File exists") || (text.contains("failed to read") && text.contains("/commondir: "))
}

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
        let Ok(call) = self.reading().words(&["check-ref-format"]).value(name) else { return Ok(false) };
        Ok(call.run()?.is_success())
    }
}

/// Gives the worktree its branch: the one its HEAD already claims, else `reuse` if that is free, else a new one at `base`.
///
/// None if HEAD is on a branch of another name.
pub(super) fn settle(
    worktree: &Repository,
    wanted: &str,
    base: &CommitId,
    reuse: Option<&str>,
) -> Result<Option<String>, GitError> {
    let stem = stem(worktree, wanted)?;
    if let Some(claimed) = worktree.branch()? {
        let is_ours = is_of(&stem, &claimed) || is_of(wanted, &claimed);
        if is_ours && worktree.branch_tip(&claimed)?.is_none() {
            make(worktree, &claimed, base)?;
        }
        return Ok(is_ours.then_some(claimed));
    }
    if let Some(branch) = reuse
        && worktree.branch_tip(branch)?.is_some()
        && !is_checked_out(worktree, branch)?
    {
        point_head(worktree, branch)?;
        return Ok(Some(branch.to_owned()));
    }
    make_new(worktree, &stem, base).map(Some)
}

impl Repository {
    /// The commit at the tip of a branch, if the branch exists.
    pub fn branch_tip(&self, branch: &str) -> Result<Option<CommitId>, GitError> {
        self.commit_of(&format!("refs/heads/{branch}"))
    }

    /// The names of local branches, the latest commit first; at most 300.
    pub fn branches(&self) -> Result<Vec<String>, GitError> {
        let words =
            &["for-each-ref", "--count=300", "--sort=-committerdate", "--format=%(refname:lstrip=2)", "refs/heads/"];
        let names = self.reading().words(words).succeed()?;
        Ok(String::from_utf8_lossy(&names).lines().map(str::to_owned).collect())
    }

    /// Whether there is such a branch. Where git keeps it and its commit in plain files, it need not be asked.
    pub(super) fn has_branch(&self, branch: &str) -> Result<bool, GitError> {
        let common = self.common_dir();
        let tip = line_of(&common.join("refs/heads").join(branch)).filter(|line| line.parse::<CommitId>().is_ok());
        let object = tip.map(|tip| common.join("objects").join(&tip[..2]).join(&tip[2..]));
        let is_plain = object.is_some_and(|object| object.symlink_metadata().is_ok_and(|meta| meta.is_file()));
        Ok(is_plain || self.branch_tip(branch)?.is_some())
    }

    /// Whether a commit has a file at this path, relative to the top level, that can be run: one with the mode of a program, or a link.
    pub fn has_program(&self, commit: &CommitId, path: &str) -> Result<bool, GitError> {
        let call = self.call()?.words(&["ls-tree", "--full-tree", "-z"]).value(commit.as_str())?.words(&["--"]);
        let entry = call.value(path)?.succeed()?;
        Ok(entry.starts_with(b"100755 ") || entry.starts_with(b"120000 "))
    }

    /// Whether a task of this name would find its branch taken.
    pub fn has_task_branch(&self, name: &str) -> Result<bool, GitError> {
        is_taken(self, &task_branch(name))
    }
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
                Err(_) if worktree.branch_tip(&name)?.is_some() && number < MOST_SUFFIXES => {}
                Err(error) => return Err(error),
            }
        }
        number += 1;
    }
}

/// Only this worktree claims the branch, so a lock that outlasts all patience was left by a git of ours that was killed.
fn make(worktree: &Repository, branch: &str, base: &CommitId) -> Result<(), GitError> {
    let name = format!("refs/heads/{branch}");
    let attempt = || set(worktree, &name, base, None, "longhaul: branch");
    match attempt() {
        Err(GitError::Refused { text, .. }) if text.contains(&format!("{name}.lock': File exists")) => {
            let lock = worktree.common_dir().join(format!("{name}.lock"));
            std::fs::remove_file(&lock).map_err(io_failed("remove", &lock))?;
            attempt()
        }
        answer => answer,
    }
}

/// A branch `longhaul` leaves no room for `longhaul/x`; then the name is flat.
fn stem(repository: &Repository, wanted: &str) -> Result<String, GitError> {
    for (at, _) in wanted.match_indices('/') {
        if repository.branch_tip(&wanted[..at])?.is_some() {
            return Ok(wanted.replace('/', "-"));
        }
    }
    Ok(wanted.to_owned())
}

/// A branch of this name, one below it, or a claim by another worktree.
fn is_taken(repository: &Repository, branch: &str) -> Result<bool, GitError> {
    let call = repository.reading().words(&["for-each-ref", "--count=1", "--format=%(refname)"]);
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
    use super::*;

    #[test]
    fn only_full_lower_case_ids_are_taken() {
        assert!("4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse::<CommitId>().is_ok());
        assert!("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321".parse::<CommitId>().is_ok());
        for bad in ["", "HEAD", "--all", "4b825dc", "4B825DC642CB6EB9A060E54BF8D69288FBEE4904", &"g".repeat(40)] {
            assert!(bad.parse::<CommitId>().is_err(), "{bad}");
        }
    }

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

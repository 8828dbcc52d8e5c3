//! Writing references: compare-and-set, and again when another git holds the lock for a moment.
//! Called by create, commit, snapshot and remove with the repository's lock held. Reflogs are git's business.

use std::thread;
use std::time::{Duration, Instant};

use super::error::GitError;
use super::id::CommitId;
use super::repository::Repository;

const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// What a reference must be before it is written.
pub(super) enum Before<'commit> {
    Absent,
    At(&'commit CommitId),
}

/// Writes a reference if it is what the caller thinks it is.
pub(super) fn set(
    repository: &Repository,
    name: &str,
    to: &CommitId,
    before: &Before<'_>,
    why: &str,
) -> Result<(), GitError> {
    let old = match before {
        Before::Absent => repository.format().zeros(),
        Before::At(commit) => commit.as_str(),
    };
    patiently(|| {
        let call = repository.call()?.words(&["update-ref", "--no-deref", "-m"]).value(why)?;
        call.value(name)?.value(to.as_str())?.value(old)?.succeed().map(drop)
    })
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
            answer => return answer,
        }
    }
}

fn is_contended(text: &str) -> bool {
    // A worktree's `commondir` is empty for a moment, and then git refuses to read it.
    text.contains(".lock': File exists") || (text.contains("failed to read") && text.contains("/commondir: "))
}

//! The git program and the private place the wrapper works in. Opened once by a worker or a command, then cloned freely.
//!
//! Finds repositories; everything else is asked of what it found. Below its directory it keeps `scratch/` and `locks/`.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_keeper::files::create_private_dir;

use super::command::{Answer, Call};
use super::error::{GitError, io_failed};
use super::repository::{GitDir, Repository};
use super::{hardening, scratch};

/// What git says when it looked everywhere and found nothing, as opposed to something it did not like.
const NO_REPOSITORY: &str = "not a git repository (or any";

/// The git program, and where the wrapper keeps its own files.
#[derive(Debug, Clone)]
pub struct Git {
    program: Arc<Path>,
    state: Arc<Path>,
}

impl Git {
    /// Finds git in `PATH` and makes `state` (its parent must exist), the wrapper's private directory in Longhaul's home.
    pub fn open(state: &Path) -> Result<Git, GitError> {
        let program = in_path(env::var_os("PATH").as_deref()).ok_or(GitError::NoProgram)?;
        Git::with_program(&program, state)
    }

    /// As [`Git::open`], with a git of the caller's choice.
    pub fn with_program(program: &Path, state: &Path) -> Result<Git, GitError> {
        let git = Git { program: program.into(), state: state.into() };
        for directory in [state, &git.scratch(), &git.locks()] {
            let failed = io_failed("make", directory);
            create_private_dir(directory).map_err(|error| failed(std::io::Error::other(error)))?;
        }
        // Leftovers cost space, nothing else; the next one tries again.
        scratch::sweep(&git.scratch()).ok();
        Ok(git)
    }

    /// Finds the repository a directory lies in, and none if there is none. A repository that git refuses is an error.
    pub fn find(&self, directory: &Path) -> Result<Option<Repository>, GitError> {
        let asked =
            ["rev-parse", "--is-inside-work-tree", "--show-object-format", "--absolute-git-dir", "--git-common-dir"];
        let answer = self.discover(directory, &asked)?;
        if !answer.is_success() {
            return if is_none(&answer, directory) { Ok(None) } else { Err(refusal(answer, directory)) };
        }
        let lines: Vec<&[u8]> = answer.output.trim_ascii_end().split(|byte| *byte == b'\n').collect();
        if lines.first() != Some(&b"true".as_slice()) {
            return Err(GitError::NoWorkTree { directory: directory.to_owned() });
        }
        let is_sha256 = lines.get(1) == Some(&b"sha256".as_slice());
        let top_level = self.discovered_path(directory, "--show-toplevel")?;
        let (git_dir, common_dir) = match lines[..] {
            [_, _, git_dir, common_dir] => (existing(directory, git_dir)?, existing(directory, common_dir)?),
            // A path with a newline in it: each has a call of its own.
            _ => (
                self.discovered_path(directory, "--absolute-git-dir")?,
                self.discovered_path(directory, "--git-common-dir")?,
            ),
        };
        let format = if is_sha256 { super::repository::Format::Sha256 } else { super::repository::Format::Sha1 };
        Ok(Some(Repository::new(self.clone(), top_level, GitDir { git_dir, common_dir }, format)))
    }

    /// Finds the repository of a directory and makes sure that it is the recorded one.
    pub fn find_recorded(&self, directory: &Path, recorded: &GitDir) -> Result<Repository, GitError> {
        let swapped = |found: String| GitError::Swapped {
            directory: directory.to_owned(),
            recorded: recorded.git_dir.clone(),
            found,
        };
        let found = self.find(directory)?.ok_or_else(|| swapped("missing".to_owned()))?;
        if found.git_dir() == recorded {
            Ok(found)
        } else {
            Err(swapped(found.git_dir().git_dir.display().to_string()))
        }
    }

    pub(super) fn call(&self, directory: &Path) -> Call {
        Call::new(&self.program, directory)
    }

    /// Longhaul's home, without links.
    pub(super) fn home(&self) -> std::io::Result<PathBuf> {
        self.state.parent().unwrap_or(&self.state).canonicalize()
    }

    pub(super) fn scratch(&self) -> PathBuf {
        self.state.join("scratch")
    }

    pub(super) fn rules(&self) -> PathBuf {
        self.state.join("rules")
    }

    pub(super) fn locks(&self) -> PathBuf {
        self.state.join("locks")
    }

    fn discover(&self, directory: &Path, words: &[&str]) -> Result<Answer, GitError> {
        self.call(directory).settings(&hardening::fixed()).words(words).run()
    }

    /// One path per call: a path may contain a newline, and only the last one is git's.
    fn discovered_path(&self, directory: &Path, option: &str) -> Result<PathBuf, GitError> {
        let answer = self.discover(directory, &["rev-parse", option])?;
        if !answer.is_success() {
            return Err(refusal(answer, directory));
        }
        existing(directory, answer.output.strip_suffix(b"\n").unwrap_or(&answer.output))
    }
}

/// A path that git told, made absolute; it has to be there.
fn existing(directory: &Path, bytes: &[u8]) -> Result<PathBuf, GitError> {
    let path = directory.join(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes));
    path.canonicalize().map_err(io_failed("find", &path))
}

fn in_path(path: Option<&OsStr>) -> Option<PathBuf> {
    let is_program = |candidate: &PathBuf| {
        candidate.is_absolute()
            && candidate.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    env::split_paths(path?).map(|directory| directory.join("git")).find(is_program)
}

/// Git found nothing, and there is nothing that only looks like nothing: a damaged repository must not pass for none.
fn is_none(answer: &Answer, directory: &Path) -> bool {
    let says_none = answer.error.lines().any(|line| line.contains(NO_REPOSITORY));
    says_none && !directory.ancestors().any(is_remnant)
}

fn is_remnant(directory: &Path) -> bool {
    let dot_git = directory.join(".git");
    let holds = |name: &str| dot_git.join(name).symlink_metadata().is_ok();
    dot_git.is_file() || ["HEAD", "config", "objects", "refs"].iter().any(|name| holds(name))
}

fn refusal(answer: Answer, directory: &Path) -> GitError {
    if answer.error.contains(NO_REPOSITORY) {
        return GitError::Damaged { directory: directory.to_owned(), text: answer.error };
    }
    answer.refused()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_absolute_executable_file_is_the_program() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("git");
        std::fs::write(&file, "").unwrap();
        assert_eq!(in_path(Some(directory.path().as_os_str())), None);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(in_path(Some(directory.path().as_os_str())), Some(file));
        assert_eq!(in_path(Some(OsStr::new("bin:.:"))), None);
        assert_eq!(in_path(None), None);
    }
}

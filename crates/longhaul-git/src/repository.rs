//! One repository as seen from one working tree: where it is, and what its HEAD says.
//!
//! Found by [`super::Git`]; trees, differences, snapshots and worktrees are asked of it in files of their own. Its calls name the git
//! directory that was found, so a `.git` that is swapped later is never followed.

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::command::{Call, unreadable};
use super::error::GitError;
use super::hardening::{Listed, fixed};
use super::id::CommitId;
use super::program::Git;
use super::rules::{self, Rules};
use longhaul_keeper::Environment;

/// Where a working tree's git data is; kept by the caller and compared at the next look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitDir {
    /// The git directory of this working tree: HEAD and index.
    pub git_dir: PathBuf,
    /// The directory that all worktrees share: objects and branches. The same in a main working tree.
    pub common_dir: PathBuf,
}

/// How objects are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Sha1,
    Sha256,
}

/// A repository with a working tree.
#[derive(Debug, Clone)]
pub struct Repository {
    git: Git,
    top_level: PathBuf,
    dir: GitDir,
    format: Format,
    /// A lock that every git started for this value holds on.
    held: Option<Arc<File>>,
    /// The rules of the task that works here; today's where there is none.
    rules: Option<Arc<Rules>>,
}

impl Repository {
    pub(super) fn new(git: Git, top_level: PathBuf, dir: GitDir, format: Format) -> Repository {
        Repository { git, top_level, dir, format, held: None, rules: None }
    }

    /// The root of the working tree.
    pub fn top_level(&self) -> &Path {
        &self.top_level
    }

    /// Where its git data is.
    pub fn git_dir(&self) -> &GitDir {
        &self.dir
    }

    /// The commit HEAD stands on; none in a repository without commits.
    pub fn head_commit(&self) -> Result<Option<CommitId>, GitError> {
        self.commit_of("HEAD")
    }

    /// The branch HEAD stands on, also one without commits; none if HEAD is detached.
    pub fn branch(&self) -> Result<Option<String>, GitError> {
        let answer = self.call()?.words(&["symbolic-ref", "--quiet", "HEAD"]).run()?;
        match answer.code() {
            Some(0) => {
                let text = String::from_utf8_lossy(&answer.output).into_owned();
                let name = text.trim_end_matches('\n');
                Ok(Some(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()))
            }
            Some(1) => Ok(None),
            _ => Err(answer.refused()),
        }
    }

    /// The commit a full reference name stands for, if there is one.
    pub(super) fn commit_of(&self, reference: &str) -> Result<Option<CommitId>, GitError> {
        let revision = format!("{reference}^{{commit}}");
        let call = self.call()?.words(&["rev-parse", "--verify", "--quiet", "--end-of-options"]);
        let answer = call.value(&revision)?.run()?;
        match answer.code() {
            Some(0) => {
                let text = String::from_utf8_lossy(&answer.output).into_owned();
                text.trim().parse().map(Some).map_err(|_| unreadable(&answer.command, &text))
            }
            Some(1) => Ok(None),
            _ => Err(answer.refused()),
        }
    }

    /// The id of a commit's tree.
    pub(super) fn tree_of(&self, commit: &str) -> Result<String, GitError> {
        let call = self.call()?.words(&["rev-parse", "--verify", "--quiet", "--end-of-options"]);
        call.value(format!("{commit}^{{tree}}"))?.line()
    }

    /// A call with the repository's own configuration in force and everything in it overridden that could run a program.
    pub(super) fn call(&self) -> Result<Call, GitError> {
        // Attributes of the working tree decide nothing for these calls; a git too old for the variable does not read it.
        Ok(self.call_with_attributes()?.variable("GIT_ATTR_SOURCE", self.format.empty_tree()))
    }

    /// As [`Repository::call`], with the attributes of the working tree: for git's own look at whether files are clean.
    pub(super) fn call_with_attributes(&self) -> Result<Call, GitError> {
        Ok(self.located().settings(&self.config()?.overrides()))
    }

    /// The repository's configuration, read under the fixed overrides. Listing runs nothing.
    pub(super) fn config(&self) -> Result<Listed, GitError> {
        let output = self.located().settings(&fixed()).words(&["config", "--list", "-z"]).succeed()?;
        // The fixed overrides are listed too; they are ours, not the repository's, and are put behind its own again.
        Ok(Listed::read(&output))
    }

    /// Makes sure that the working tree still leads to this git directory.
    pub(super) fn check(&self) -> Result<(), GitError> {
        self.git.find_recorded(&self.top_level, &self.dir).map(drop)
    }

    pub(super) fn with_rules(self, rules: Rules) -> Repository {
        Repository { rules: Some(Arc::new(rules)), ..self }
    }

    pub(super) fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// The rules that decide what counts here.
    pub(super) fn rules(&self) -> Result<Cow<'_, Rules>, GitError> {
        match self.rules.as_deref() {
            Some(rules) => Ok(Cow::Borrowed(rules)),
            None => rules::today(self, &Environment::of_process()).map(Cow::Owned),
        }
    }

    pub(super) fn git(&self) -> &Git {
        &self.git
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// The same repository for work under a lock that each git holds on until it ends.
    pub(super) fn holding(self, held: Option<Arc<File>>) -> Repository {
        Repository { held, ..self }
    }

    pub(super) fn held(&self) -> Option<Arc<File>> {
        self.held.clone()
    }

    /// The same repository seen from the directory that all its worktrees share: for references and worktrees, which outlive this one.
    pub(super) fn shared(&self) -> Repository {
        let dir = GitDir { git_dir: self.dir.common_dir.clone(), common_dir: self.dir.common_dir.clone() };
        Repository { dir, ..self.clone() }
    }

    /// Runs beside the files, not among them: these calls read none, and the working tree may be gone.
    fn located(&self) -> Call {
        let common = &self.dir.common_dir;
        let call = self.git.call(common).holding(self.held()).variable("GIT_DIR", &self.dir.git_dir);
        call.variable("GIT_COMMON_DIR", common).variable("GIT_WORK_TREE", common)
    }
}

impl Format {
    /// The name git uses in its configuration.
    pub(super) fn name(self) -> &'static str {
        match self {
            Format::Sha1 => "sha1",
            Format::Sha256 => "sha256",
        }
    }

    /// The id of the tree without files, which every git knows without having it.
    pub(super) fn empty_tree(self) -> &'static str {
        match self {
            Format::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            Format::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        }
    }

    /// The id that stands for "no object".
    pub(super) fn zeros(self) -> &'static str {
        const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
        match self {
            Format::Sha1 => &ZEROS[..40],
            Format::Sha256 => ZEROS,
        }
    }
}

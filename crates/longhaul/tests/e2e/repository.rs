//! A scratch workspace that is a git repository, and what a person would see of it: worktrees, branches, the own checkout.
//!
//! Used by the tests about worktrees. It asks git itself, never Longhaul, and takes no lock, so that looking changes nothing.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::env::TestEnv;

/// Everything of a checkout that belongs to its user.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Checkout {
    head: String,
    index: Vec<u8>,
    status: String,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

/// Runs git, which must succeed.
#[track_caller]
pub(crate) fn git_in(directory: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]);
    command.arg("--no-optional-locks").args(args).current_dir(directory);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl TestEnv {
    /// Makes the workspace a repository with one committed file.
    pub(crate) fn make_repository(&self) {
        self.git(&["init", "-q", "-b", "main"]);
        self.put("own.txt", "mine\n");
        self.git(&["add", "own.txt"]);
        self.git(&["commit", "-q", "-m", "begin"]);
    }

    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        git_in(&self.workspace(), args)
    }

    /// The worktrees of the repository besides the user's own.
    pub(crate) fn worktrees(&self) -> Vec<PathBuf> {
        let text = self.git(&["worktree", "list", "--porcelain"]);
        text.lines().filter_map(|line| line.strip_prefix("worktree ")).skip(1).map(PathBuf::from).collect()
    }

    /// The branches for tasks, in the order of their names.
    pub(crate) fn task_branches(&self) -> Vec<String> {
        let text = self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/longhaul"]);
        text.lines().map(str::to_owned).collect()
    }

    /// Where a task works, by the store's word.
    pub(crate) fn root_of(&self, task: &str) -> PathBuf {
        self.task(task)["workspace"]["root"].as_str().unwrap().into()
    }

    /// What became of each session's work, in order.
    pub(crate) fn saved(&self, task: &str) -> Vec<serde_json::Value> {
        self.sessions(task).iter().map(|session| session["ended"]["saved"].clone()).collect()
    }

    /// The user's own checkout as it is now.
    pub(crate) fn checkout(&self) -> Checkout {
        let mut files = BTreeMap::new();
        let mut open = vec![self.workspace()];
        while let Some(directory) = open.pop() {
            for path in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
                match (path.is_dir(), path.ends_with(".git")) {
                    (true, true) => {}
                    (true, false) => open.push(path),
                    (false, _) => drop(files.insert(path.clone(), std::fs::read(&path).unwrap())),
                }
            }
        }
        Checkout {
            head: format!("{} {}", self.git(&["symbolic-ref", "HEAD"]), self.git(&["rev-parse", "HEAD"])),
            index: std::fs::read(self.workspace().join(".git/index")).unwrap(),
            status: self.git(&["status", "--porcelain"]),
            files,
        }
    }

    /// From now on this script decides about every commit that git itself makes here; Longhaul runs no hook.
    pub(crate) fn pre_commit(&self, script: &str) {
        let hook = self.workspace().join(".git/hooks/pre-commit");
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        std::fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

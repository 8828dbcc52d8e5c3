//! A home for the wrapper, a repository beside it, and plain git to build and look at things without the wrapper.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use longhaul_core::task::Author;
use longhaul_git::{CommitId, Git, NewCommit, Repository, TreeId, Worktree};
use longhaul_keeper::Environment;
use tempfile::TempDir;

pub(crate) const BRANCH: &str = "longhaul/task";

pub(crate) struct Scene {
    pub(crate) root: TempDir,
    pub(crate) program: PathBuf,
    pub(crate) git: Git,
}

/// Every git program in `PATH`, so that old and new ones are tested where both are there.
pub(crate) fn programs() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|directory| directory.join("git")).filter(|file| file.is_file());
    let all: BTreeSet<PathBuf> = found.filter_map(|file| file.canonicalize().ok()).collect();
    assert!(!all.is_empty(), "these tests need git");
    all.into_iter().collect()
}

/// Runs a test once with each git.
pub(crate) fn with_each_git(test: impl Fn(&Scene)) {
    for program in programs() {
        test(&Scene::with(&program));
    }
}

impl Scene {
    pub(crate) fn new() -> Scene {
        Scene::with(programs().last().unwrap())
    }

    /// An empty repository in `repository/` and the wrapper's directory in `state/`.
    pub(crate) fn with(program: &Path) -> Scene {
        let root = tempfile::tempdir().unwrap();
        let git = Git::with_program(program, &root.path().join("state")).unwrap();
        let scene = Scene { root, program: program.to_owned(), git };
        fs::create_dir(scene.project()).unwrap();
        scene.plain(&["init", "-q", "-b", "main"]);
        scene
    }

    /// As `with`, with one commit that has `a.txt` and `dir/b.txt`.
    pub(crate) fn committed(program: &Path) -> Scene {
        let scene = Scene::with(program);
        scene.write("a.txt", "one\n");
        scene.write("dir/b.txt", "two\n");
        scene.commit("first");
        scene
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("repository")
    }

    /// Where the worktree of a task goes.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("worktrees").join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        write(&self.project(), name, text);
    }

    pub(crate) fn commit(&self, message: &str) -> CommitId {
        self.plain(&["add", "-A"]);
        self.plain(&["commit", "-q", "--allow-empty", "-m", message]);
        self.head()
    }

    pub(crate) fn head(&self) -> CommitId {
        self.plain(&["rev-parse", "HEAD"]).parse().unwrap()
    }

    pub(crate) fn repository(&self) -> Repository {
        self.git.find(&self.project()).unwrap().unwrap()
    }

    pub(crate) fn worktree(&self, name: &str) -> Worktree {
        self.repository().create_worktree(&self.place(name), BRANCH, &self.head(), &Environment::of_process()).unwrap()
    }

    /// Plain git in the project, which must succeed; returns what it printed without the last newline.
    pub(crate) fn plain(&self, arguments: &[&str]) -> String {
        self.plain_in(&self.project(), arguments)
    }

    pub(crate) fn plain_in(&self, directory: &Path, arguments: &[&str]) -> String {
        let output = self.try_plain(directory, arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {arguments:?}: {error}");
        String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
    }

    pub(crate) fn try_plain(&self, directory: &Path, arguments: &[impl AsRef<OsStr>]) -> Output {
        let mut command = Command::new(&self.program);
        command.current_dir(directory).args(arguments).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.root.path());
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Person").env(format!("GIT_{who}_EMAIL"), "person@localhost");
        }
        command.output().unwrap()
    }

    pub(crate) fn status(&self, directory: &Path) -> String {
        self.plain_in(directory, &["status", "--porcelain"])
    }

    pub(crate) fn index_bytes(&self) -> Option<Vec<u8>> {
        fs::read(self.project().join(".git/index")).ok()
    }

    /// All branches and private references.
    pub(crate) fn references(&self) -> Vec<String> {
        let text = self.plain(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        text.lines().map(str::to_owned).collect()
    }
}

pub(crate) fn write(directory: &Path, name: impl AsRef<Path>, text: impl AsRef<[u8]>) {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A commit by a person that is not signed.
pub(crate) fn new_commit<'a>(
    author: &'a Author,
    tree: &'a TreeId,
    parents: &'a [&'a CommitId],
    message: &'a str,
) -> NewCommit<'a> {
    NewCommit { author, tree, parents, message, signing: None }
}

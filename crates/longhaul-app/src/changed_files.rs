//! What a task changed since it began, from version control and from nothing else. Used by `diff` and the report.
//! Only reads, through the hardened wrapper; where nothing can be known it says why instead of guessing.

use std::path::Path;

use crate::Home;
use longhaul_core::ids::TaskId;
use longhaul_core::task::{Task, Workspace};
use longhaul_git::{ChangedFile, CommitId, FileStatus, Git, GitError, Patch, Repository, Whose};
use schemars::JsonSchema;
use serde::Serialize;

/// The most files of one answer.
const MOST: usize = 10_000;

/// Why it is unknown what a task changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unknown {
    #[error("it has no workspace yet")]
    NotPlaced,
    #[error(
        "it did not start from a commit: the workspace is not in a git repository, or the repository had no commits"
    )]
    NoBase,
    #[error("the workspace `{root}` no longer exists")]
    Gone { root: String },
    #[error("`{root}` is no longer a git repository")]
    NoRepository { root: String },
    #[error("`{root}` has another git directory than the task began with: `{found}` instead of `{recorded}`")]
    Swapped { root: String, recorded: String, found: String },
    #[error("the recorded commit `{base}` is not a commit id")]
    BadBase { base: String },
    #[error("git failed")]
    Git(#[from] GitError),
    #[error("the comparison failed: {why}")]
    Broken { why: String },
}

/// One file that differs from the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileChange {
    /// Relative to the workspace's root; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// `added`, `modified`, `deleted` or `type changed`.
    pub status: &'static str,
    /// Lines that were added; null for a file that is not text.
    pub added: Option<u64>,
    /// Lines that were removed; null for a file that is not text.
    pub removed: Option<u64>,
}

/// The files that differ from the start.
#[derive(Debug)]
pub(crate) struct ChangedFiles {
    /// The first of them.
    pub files: Vec<FileChange>,
    pub total: usize,
}

/// The files that differ between the task's start and now.
pub(crate) async fn changed_files(home: &Home, task: &Task) -> Result<ChangedFiles, Unknown> {
    let files = ask(home, task, |repository, base, last| repository.changed_files(base, last)).await?;
    Ok(ChangedFiles { files: files.iter().take(MOST).map(file_change).collect(), total: files.len() })
}

/// The patch from the task's start to now.
pub(crate) async fn patch(home: &Home, task: &Task) -> Result<Patch, Unknown> {
    ask(home, task, |repository, base, last| repository.diff(base, last)).await
}

fn file_change(file: &ChangedFile) -> FileChange {
    let status = match file.status {
        FileStatus::Added => "added",
        FileStatus::Modified => "modified",
        FileStatus::Deleted => "deleted",
        FileStatus::TypeChanged => "type changed",
    };
    let (added, removed) = file.lines.unzip();
    FileChange { path: file.path.to_string_lossy().into_owned(), status, added, removed }
}

async fn ask<T: Send + 'static>(
    home: &Home,
    task: &Task,
    question: fn(&Repository, &CommitId, Option<&CommitId>) -> Result<T, GitError>,
) -> Result<T, Unknown> {
    let workspace = task.workspace.clone().ok_or(Unknown::NotPlaced)?;
    let (state, id, project) = (home.git(), task.author_of_work(), task.submission.project.clone());
    let asked = tokio::task::spawn_blocking(move || {
        if let Some((repository, last)) = put_away(&state, &project, id, &workspace)? {
            return Ok(question(&repository, &base_of(&workspace)?, Some(&last))?);
        }
        let (repository, base) = find(&state, &workspace)?;
        let whose = if workspace.is_worktree() { Whose::Ours } else { Whose::Users };
        let repository = repository.with_rules_of(id, whose)?;
        Ok(question(&repository, &base, None)?)
    });
    asked.await.unwrap_or_else(|error| Err(Unknown::Broken { why: error.to_string() }))
}

/// The repository and the last commit of a task whose worktree was put away.
fn put_away(
    state: &Path,
    project: &str,
    task: TaskId,
    workspace: &Workspace,
) -> Result<Option<(Repository, CommitId)>, Unknown> {
    if !workspace.is_worktree() || Path::new(&workspace.root).exists() || !Path::new(project).is_dir() {
        return Ok(None);
    }
    let Some(repository) = Git::open(state)?.find(Path::new(project))? else { return Ok(None) };
    let last = repository.final_state(task)?;
    Ok(last.map(|last| (repository, last)))
}

fn base_of(workspace: &Workspace) -> Result<CommitId, Unknown> {
    let base = workspace.base.as_ref().ok_or(Unknown::NoBase)?;
    base.parse().map_err(|_| Unknown::BadBase { base: base.clone() })
}

fn find(state: &Path, workspace: &Workspace) -> Result<(Repository, CommitId), Unknown> {
    let root = || workspace.root.clone();
    let base = base_of(workspace)?;
    if !Path::new(&workspace.root).is_dir() {
        return Err(Unknown::Gone { root: root() });
    }
    let found = Git::open(state)?.find(Path::new(&workspace.root))?;
    let repository = found.ok_or_else(|| Unknown::NoRepository { root: root() })?;
    match &workspace.git {
        Some(recorded) if Path::new(&recorded.dir) != repository.git_dir() => Err(Unknown::Swapped {
            root: root(),
            recorded: recorded.dir.clone(),
            found: repository.git_dir().display().to_string(),
        }),
        Some(_) | None => Ok((repository, base)),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use longhaul_core::task::GitPlace;

    use super::*;

    fn git(directory: &Path, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=x", "-c", "user.email=x@localhost"]).args(args).current_dir(directory);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn scene() -> (tempfile::TempDir, Workspace) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("project");
        std::fs::create_dir(&root).unwrap();
        git(&root, &["init", "--quiet"]);
        std::fs::write(root.join("old.txt"), "one\n").unwrap();
        git(&root, &["add", "."]);
        git(&root, &["commit", "--quiet", "-m", "start"]);
        let base = git(&root, &["rev-parse", "HEAD"]);
        let git_dir = git(&root, &["rev-parse", "--absolute-git-dir"]);
        let root = root.canonicalize().unwrap().display().to_string();
        let git = GitPlace { common: git_dir.clone(), dir: git_dir };
        let workspace = Workspace { cwd: root.clone(), root, branch: None, base: Some(base), git: Some(git) };
        (dir, workspace)
    }

    #[test]
    fn the_work_is_what_version_control_tells() {
        let (dir, workspace) = scene();
        let root = Path::new(&workspace.root);
        std::fs::write(root.join("old.txt"), "two\n").unwrap();
        std::fs::write(root.join("new.txt"), "new\n").unwrap();
        let (repository, base) = find(&dir.path().join("state"), &workspace).unwrap();
        let files = repository.changed_files(&base, None).unwrap();
        let changes: Vec<FileChange> = files.iter().map(file_change).collect();
        let change = |path: &str, status, removed| FileChange {
            path: path.to_owned(),
            status,
            added: Some(1),
            removed: Some(removed),
        };
        assert_eq!(changes, [change("new.txt", "added", 0), change("old.txt", "modified", 1)]);
        let patch = String::from_utf8(repository.diff(&base, None).unwrap().bytes).unwrap();
        assert!(patch.contains("-one") && patch.contains("+two") && patch.contains("+new"), "{patch}");
    }

    #[test]
    fn what_can_not_be_known_is_said_with_its_reason() {
        let (dir, workspace) = scene();
        let state = dir.path().join("state");
        let unknown = |workspace: &Workspace| find(&state, workspace).unwrap_err();
        assert!(matches!(unknown(&Workspace { base: None, ..workspace.clone() }), Unknown::NoBase));
        let elsewhere = Workspace { root: format!("{}/gone", workspace.root), ..workspace.clone() };
        assert!(matches!(unknown(&elsewhere), Unknown::Gone { .. }));
        let other = GitPlace { dir: "/elsewhere/.git".into(), common: "/elsewhere/.git".into() };
        let swapped = Workspace { git: Some(other), ..workspace.clone() };
        assert!(matches!(unknown(&swapped), Unknown::Swapped { .. }));
        let bad = Workspace { base: Some("--output=x".into()), ..workspace.clone() };
        assert!(matches!(unknown(&bad), Unknown::BadBase { .. }));
        std::fs::remove_dir_all(Path::new(&workspace.root).join(".git")).unwrap();
        assert!(matches!(unknown(&workspace), Unknown::NoRepository { .. }));
    }
}

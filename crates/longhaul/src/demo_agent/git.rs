//! Commits the demo agent's files as a real agent would: by exact name, under its own author name.
//!
//! Called by the work role. It works without a repository and only reports a failure. Other staged or changed files stay
//! untouched.

use std::path::Path;
use std::process::{Command, Stdio};

/// The result of a commit.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Committed {
    Yes,
    NothingToDo,
    Failed(String),
}

/// Commits these files of the workspace if they differ from the last commit.
pub(super) fn commit(workspace: &Path, files: &[String], message: &str) -> Committed {
    if files.is_empty() || !matches!(git(workspace, &["rev-parse", "--is-inside-work-tree"]), Ok(yes) if yes == "true")
    {
        return Committed::NothingToDo;
    }
    match add_and_commit(workspace, files, message) {
        Ok(committed) => committed,
        Err(reason) => Committed::Failed(reason),
    }
}

fn add_and_commit(workspace: &Path, files: &[String], message: &str) -> Result<Committed, String> {
    let with_files = |before: &[&str]| -> Result<String, String> {
        let arguments: Vec<&str> = before.iter().copied().chain(files.iter().map(String::as_str)).collect();
        git(workspace, &arguments)
    };
    if with_files(&["status", "--porcelain", "--"])?.is_empty() {
        return Ok(Committed::NothingToDo);
    }
    with_files(&["add", "-A", "--"])?;
    with_files(&["commit", "-q", "-m", message, "--"])?;
    Ok(Committed::Yes)
}

fn git(workspace: &Path, arguments: &[&str]) -> Result<String, String> {
    const IDENTITY: [&str; 6] =
        ["-c", "user.name=Demo Agent", "-c", "user.email=demo-agent@localhost", "-c", "commit.gpgsign=false"];
    let mut command = Command::new("git");
    command.args(IDENTITY).args(arguments).current_dir(workspace).stdin(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("no message").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_exactly_the_named_files() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = directory.path();
        git(workspace, &["init", "-q"]).unwrap();
        for name in ["ours.md", "staged.md", "loose.md"] {
            std::fs::write(workspace.join(name), name).unwrap();
        }
        git(workspace, &["add", "staged.md"]).unwrap();
        let ours = ["ours.md".to_owned()];
        assert_eq!(commit(workspace, &ours, "demo: one"), Committed::Yes);
        assert_eq!(
            git(workspace, &["show", "--format=%an %s", "--name-only"]).unwrap(),
            "Demo Agent demo: one\n\nours.md"
        );
        assert_eq!(git(workspace, &["status", "--porcelain"]).unwrap(), "A  staged.md\n?? loose.md");
        assert_eq!(commit(workspace, &ours, "demo: again"), Committed::NothingToDo);
    }

    #[test]
    fn a_failure_is_told_and_no_repository_is_fine() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = directory.path();
        let ours = ["ours.md".to_owned()];
        std::fs::write(workspace.join("ours.md"), "").unwrap();
        assert_eq!(commit(workspace, &ours, "m"), Committed::NothingToDo);
        git(workspace, &["init", "-q"]).unwrap();
        std::fs::write(workspace.join(".git/index.lock"), "").unwrap();
        assert!(matches!(commit(workspace, &ours, "m"), Committed::Failed(reason) if reason.contains("index.lock")));
    }
}

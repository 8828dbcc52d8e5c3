//! The project a directory belongs to: the git top level above it, else the directory itself.
//! Names of tasks and lists are scoped by it.

use std::path::{Path, PathBuf};

use crate::error::{AppError, ErrorKind};

const ELSEWHERE: &str = "name a directory with --workspace, or run the command inside one";

/// A directory and the project it belongs to.
#[derive(Debug, Clone)]
pub struct Project {
    /// The directory itself, physical.
    pub directory: PathBuf,
    /// The git top level above it, else the directory.
    pub root: PathBuf,
}

impl Project {
    /// The project of a directory. A `.git` directory or file marks a top level: also of a linked worktree or a submodule.
    pub fn of(directory: &Path) -> Result<Project, AppError> {
        let unfit = |error: std::io::Error| {
            AppError::new(ErrorKind::Usage, format!("cannot work in `{}`", directory.display()))
                .because(&error)
                .hint(ELSEWHERE)
        };
        let physical = directory.canonicalize().map_err(unfit)?;
        if !physical.is_dir() {
            let what = format!("the workspace `{}` is not a directory", directory.display());
            return Err(AppError::new(ErrorKind::Usage, what).hint(ELSEWHERE));
        }
        let top = physical.ancestors().find(|above| is_top_level(above));
        Ok(Project { root: top.unwrap_or(&physical).to_owned(), directory: physical })
    }
}

/// An empty `.git` is none: the sandbox of codex makes one for a moment in every directory it may write, `/tmp` too.
fn is_top_level(directory: &Path) -> bool {
    let git = directory.join(".git");
    match git.symlink_metadata() {
        Ok(meta) if meta.is_file() => meta.len() > 0,
        Ok(_) => git.join("HEAD").symlink_metadata().is_ok(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Project;

    #[test]
    fn only_a_git_directory_or_file_marks_a_top_level() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let below = top.join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::create_dir(top.join("a/.git")).unwrap();
        assert_eq!(Project::of(&below).unwrap().root, below, "an empty one is no repository");
        std::fs::write(top.join("a/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(Project::of(&below).unwrap().root, top.join("a"));
        std::fs::write(below.join(".git"), "").unwrap();
        assert_eq!(Project::of(&below).unwrap().root, top.join("a"));
        std::fs::write(below.join(".git"), "gitdir: /elsewhere\n").unwrap();
        assert_eq!(Project::of(&below).unwrap().root, below);
    }
}

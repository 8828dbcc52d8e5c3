//! Keeps the task directories out of version control: one line in the repository's info/exclude, never in the user's files.
//! Called by the prepare effect. Reads a few small files of the repository and starts no git.

use std::path::{Path, PathBuf};

use longhaul_keeper::{Beneath, BeneathError};

use longhaul_core::names::STATE_DIR;

const EXCLUDE: &str = "info/exclude";
const CAP: u64 = 1 << 20;

/// Adds the line if the project is a repository and lacks it. A failure is no reason not to work.
pub fn keep_out_of_git(project: &Path) {
    if let Some(git) = common_dir(project).and_then(|path| Beneath::open(&path).ok()) {
        add_line(&git).ok();
    }
}

fn add_line(git: &Beneath) -> Result<(), BeneathError> {
    let line = format!("/{STATE_DIR}/");
    let present = git.read(EXCLUDE, CAP)?.unwrap_or_default();
    let present = String::from_utf8_lossy(&present);
    if present.lines().any(|have| have.trim() == line) {
        return Ok(());
    }
    let gap = if present.is_empty() || present.ends_with('\n') { "" } else { "\n" };
    git.append(EXCLUDE, format!("{gap}{line}\n").as_bytes())
}

/// The directory that holds `info/`: `.git` itself, or what a linked worktree's `.git` file leads to. A directory that is not git's
/// is left alone: the file is the workspace's, and may say anything.
fn common_dir(project: &Path) -> Option<PathBuf> {
    let dot_git = project.join(".git");
    if dot_git.symlink_metadata().ok()?.is_dir() {
        return Some(dot_git);
    }
    let text = Beneath::open(project).ok()?.read(".git", CAP).ok()??;
    let text = String::from_utf8(text).ok()?;
    let git_dir = project.join(text.strip_prefix("gitdir:")?.trim());
    let inside = Beneath::open(&git_dir).ok()?;
    inside.read("HEAD", CAP).ok()??;
    match inside.read("commondir", CAP).ok()? {
        Some(common) => Some(git_dir.join(String::from_utf8(common).ok()?.trim())),
        None => Some(git_dir),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> tempfile::TempDir {
        let project = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(project.path().join(".git/info")).unwrap();
        project
    }

    #[test]
    fn the_line_is_added_once() {
        let project = repository();
        let path = project.path().join(".git/info/exclude");
        std::fs::write(&path, "*.o").unwrap();
        keep_out_of_git(project.path());
        keep_out_of_git(project.path());
        assert_eq!(std::fs::read_to_string(path).unwrap(), "*.o\n/.autonomous/\n");
    }

    #[test]
    fn a_linked_worktree_leads_to_its_repository() {
        let project = repository();
        let worktree = tempfile::tempdir().unwrap();
        let git_dir = project.path().join(".git/worktrees/w");
        std::fs::create_dir_all(&git_dir).unwrap();
        std::fs::write(git_dir.join("HEAD"), "ref: refs/heads/w").unwrap();
        std::fs::write(git_dir.join("commondir"), "../..\n").unwrap();
        std::fs::write(worktree.path().join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
        keep_out_of_git(worktree.path());
        let exclude = std::fs::read_to_string(project.path().join(".git/info/exclude")).unwrap();
        assert_eq!(exclude, "/.autonomous/\n");
    }

    #[test]
    fn links_pipes_and_strange_directories_are_left_alone() {
        let project = repository();
        let target = project.path().join("mine");
        std::fs::write(&target, "").unwrap();
        std::os::unix::fs::symlink(&target, project.path().join(".git/info/exclude")).unwrap();
        keep_out_of_git(project.path());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "");

        let strange = tempfile::tempdir().unwrap();
        std::fs::create_dir(strange.path().join("info")).unwrap();
        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join(".git"), format!("gitdir: {}", strange.path().display())).unwrap();
        keep_out_of_git(other.path());
        assert!(!strange.path().join("info/exclude").exists());
    }

    #[test]
    fn a_pipe_in_place_of_the_repository_does_not_hang() {
        let project = tempfile::tempdir().unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, project.path().join(".git"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        keep_out_of_git(project.path());
    }
}

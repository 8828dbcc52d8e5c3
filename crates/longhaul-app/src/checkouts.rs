//! The clean checkouts of a task: made before a round, removed after it, and what kills left of them found again.
//! Called by the prepare effect, the hub and `gc`, on threads that may block. Nothing of a checkout is work.

use std::io;
use std::path::{Path, PathBuf};

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Cause, Checkout, NameList, Task};
use longhaul_keeper::{Environment, fail_point};

use crate::copied_files;
use crate::git_failure::unfit;
use crate::home::Home;
use longhaul_git::{CommitId, Git, GitError, Removal, Repository, io_failed};

/// One checkout on disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftCheckout {
    /// Whose it is.
    pub task: TaskId,
    /// Where it is.
    pub path: PathBuf,
}

/// All checkouts of a home.
pub fn list(home: &Home) -> Vec<LeftCheckout> {
    let entries = std::fs::read_dir(directory(home)).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let named = directories.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let (task, round) = name.split_once('.')?;
        round.parse::<u32>().ok()?;
        Some(LeftCheckout { task: task.parse().ok()?, path: entry.path() })
    });
    let mut found: Vec<LeftCheckout> = named.collect();
    found.sort();
    found
}

/// Where they are, as git knows it: without links.
fn directory(home: &Home) -> PathBuf {
    home.checkouts().canonicalize().unwrap_or_else(|_| home.checkouts())
}

/// Makes the checkout for the next round of a task; those of earlier rounds go. Answers with the names of the ignored files in it, too.
pub fn make(
    task: &Task,
    home: &Home,
    environment: &Environment,
    repository: &Repository,
    tree: &str,
) -> Result<(Checkout, NameList), Cause> {
    let commit = repository.commit_to_check(task.id, tree).map_err(|error| unfit(&error))?;
    let no_commit =
        || Cause::Workspace { why: format!("tree {tree} is not in any commit, so it cannot be checked out") };
    make_at(task, home, environment, repository, &commit.ok_or_else(no_commit)?)
}

/// The same of a commit.
pub fn make_at(
    task: &Task,
    home: &Home,
    environment: &Environment,
    repository: &Repository,
    commit: &CommitId,
) -> Result<(Checkout, NameList), Cause> {
    fail_point::reach("worker.checkout_due");
    for left in list(home).into_iter().filter(|left| left.task == task.id) {
        discard(home, Some(repository), &left.path).map_err(|error| unfit(&error))?;
    }
    // Each round has its own path, so that removing one checkout can never hit the next.
    let root = directory(home).join(format!("{}.{}", task.id, task.tally.rounds + 1));
    let made = repository.make_checkout(&root, commit).map_err(|error| unfit(&error))?;
    let copied = copied_files::copy(&task.submission, home, environment, &made).map_err(|error| unfit(&error))?;
    fail_point::reach("worker.checkout_made");
    let below = Path::new(task.cwd()).strip_prefix(task.root()).unwrap_or(Path::new(""));
    // A directory that the tree does not have is not there; the root is.
    let cwd = Some(root.join(below)).filter(|path| path.is_dir()).unwrap_or_else(|| root.clone());
    Ok((Checkout { root: root.display().to_string(), cwd: cwd.display().to_string() }, NameList::new(copied)))
}

/// Removes a checkout. The project leads to its repository, where it does not do so itself.
pub fn remove(home: &Home, path: &Path, project: Option<&Path>) -> Result<(), GitError> {
    let git = Git::open(&home.git())?;
    let find = |place: &Path| git.find(place).ok().flatten();
    let own = find(path).filter(|found| found.top_level() == path);
    discard(home, own.or_else(|| find(project?)).as_ref(), path)
}

fn discard(home: &Home, repository: Option<&Repository>, path: &Path) -> Result<(), GitError> {
    match repository.map(|repository| repository.remove_checkout(path)).transpose()? {
        Some(Removal::Removed) => Ok(()),
        Some(Removal::Kept { .. }) | None => delete(home, path).map_err(io_failed("remove", path)),
    }
}

/// Deletes a checkout that no repository knows any more. It is ours by its path: a real directory, right below that of all checkouts,
/// with the name of a task and a round. This is the only place that deletes a directory with all that is in it.
fn delete(home: &Home, path: &Path) -> io::Result<()> {
    let is_ours = list(home).iter().any(|left| left.path == path);
    match is_ours {
        true => std::fs::remove_dir_all(path),
        false if path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) => Ok(()),
        false => Err(io::Error::other("not a checkout made by Longhaul")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    const TASK: &str = "0190c5a4-7d4e-7c3a-8f00-000000000001";

    #[test]
    fn only_a_directory_of_ours_is_deleted_and_no_link_is_followed() {
        let root = tempfile::tempdir().unwrap();
        let home = Home::create(&root.path().join("home")).unwrap();
        let (all, victim) = (home.checkouts(), root.path().join("victim"));
        let fill = |path: &Path| {
            fs::create_dir_all(path.join("a/b")).unwrap();
            fs::write(path.join("a/b/file"), "x").unwrap();
        };
        let ours = all.join(format!("{TASK}.1"));
        fill(&ours);
        fill(&victim);
        symlink(&victim, ours.join("a/link")).unwrap();
        let link = all.join(format!("{TASK}.2"));
        symlink(&victim, &link).unwrap();
        let strange =
            [all.join("notes"), all.join(format!("{TASK}.notes")), ours.join("a"), all.clone(), victim.to_owned()];
        strange[..2].iter().for_each(|path| fill(path));
        for path in strange.iter().chain([&link]) {
            assert!(delete(&home, path).is_err() && path.join(".").exists(), "{}", path.display());
        }
        delete(&home, &ours).unwrap();
        delete(&home, &ours).unwrap();
        assert!(!ours.exists() && victim.join("a/b/file").exists());
    }
}

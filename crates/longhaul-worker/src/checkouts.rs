//! The clean checkouts of a task: made before a round, removed after it, and what kills left of them found again.
//! Called by the prepare effect, the hub and `gc`, on threads that may block. Nothing of a checkout is work.

use std::path::{Path, PathBuf};

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Cause, Checkout, Task};
use longhaul_keeper::fail_point;

use crate::git::{Git, GitError, Removal, Repository, remove_empty};
use crate::home::Home;
use crate::work_place::unfit;

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
    let named = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let (task, _) = name.split_once('.')?;
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

/// Makes the checkout for the next round of a task; those of earlier rounds go.
pub(crate) fn make(task: &Task, home: &Home, repository: &Repository, tree: &str) -> Result<Checkout, Cause> {
    let commit = repository.commit_to_check(task.id, tree).map_err(|error| unfit(&error))?;
    let no_commit = || Cause::Workspace { why: format!("tree {tree} is in no commit, so it cannot be checked out") };
    let commit = commit.ok_or_else(no_commit)?;
    fail_point::reach("worker.checkout_due");
    for left in list(home).into_iter().filter(|left| left.task == task.id) {
        repository.remove_checkout(&left.path).map_err(|error| unfit(&error))?;
    }
    // Each round has its own path, so that removing one checkout can never hit the next.
    let root = directory(home).join(format!("{}.{}", task.id, task.tally.rounds + 1));
    repository.make_checkout(&root, &commit).map_err(|error| unfit(&error))?;
    fail_point::reach("worker.checkout_made");
    let below = Path::new(task.cwd()).strip_prefix(task.root()).unwrap_or(Path::new(""));
    // A directory that the tree does not have is not there; the root is.
    let cwd = Some(root.join(below)).filter(|path| path.is_dir()).unwrap_or_else(|| root.clone());
    Ok(Checkout { root: root.display().to_string(), cwd: cwd.display().to_string() })
}

/// Removes a checkout. The project leads to its repository, where it does not do so itself. Files that no repository knows are kept.
pub fn remove(home: &Home, path: &Path, project: Option<&Path>) -> Result<Removal, GitError> {
    let git = Git::open(&home.git())?;
    let own = git.find(path).ok().flatten().filter(|found| found.top_level() == path);
    let repository = match (own, project) {
        (Some(own), _) => Some(own),
        (None, Some(project)) => git.find(project)?,
        (None, None) => None,
    };
    match repository {
        Some(repository) => repository.remove_checkout(path).map(|()| Removal::Removed),
        None if remove_empty(path).is_ok() => Ok(Removal::Removed),
        None => Ok(Removal::Kept { why: format!("no git repository knows {}: delete it yourself", path.display()) }),
    }
}

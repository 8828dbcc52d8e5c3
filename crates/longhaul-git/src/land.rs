//! Bringing a task's work onto a branch of the user's: whose commit it will be, the commit itself, and the move of the branch.
//!
//! Called at submit, by the operation `land` and by the effect of a follow-up. The branch moves only if it is where the caller saw it.
//! If it is checked out somewhere, that checkout is updated with it (`fast_forward`): the one case in which the wrapper touches the
//! user's files. No hook runs.

use std::path::PathBuf;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Author, Destination, Signing};
use longhaul_keeper::Environment;

use super::command::Listed;
use super::commit::{Identity, write_commit_with};
use super::create::{metadata_of, registered};
use super::error::GitError;
use super::fast_forward::Checkout;
use super::push::remote_of;
use super::references::{CommitId, TreeId, is_of_tasks, set_by};
use super::repository::Repository;
use super::rules::{personal, today};
use super::signing::{signed, signing_of};
use super::view::{Objects, View, line_of};

/// A commit that goes on a branch.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The follow-up that lands it; its id marks the lock on a checkout.
    pub task: TaskId,
    /// The branch, without `refs/heads/`.
    pub branch: &'a str,
    /// Where it must be.
    pub from: &'a CommitId,
    /// Where it goes.
    pub to: &'a CommitId,
    /// Who appears in the branch's log.
    pub author: &'a Author,
}

/// A commit that is to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewCommit<'a> {
    /// Who appears in it.
    pub author: &'a Author,
    /// What it contains.
    pub tree: &'a TreeId,
    /// What it comes after.
    pub parents: &'a [&'a CommitId],
    /// Its message.
    pub message: &'a str,
    /// How it is signed, if it is.
    pub signing: Option<&'a Signing>,
}

/// What became of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// The branch is at the commit, or was already and has moved on from there.
    Done {
        /// The checkout that shows it.
        checkout: Option<PathBuf>,
    },
    /// The branch is somewhere else, and nothing changed.
    Elsewhere,
    /// Nothing changed.
    Refused {
        /// Why, and what to do.
        why: String,
    },
}

impl Repository {
    /// Where work that starts here is to land, and whose it is.
    pub fn destination(&self, environment: &Environment) -> Result<Destination, GitError> {
        let (own, personal) = (self.config()?, personal(self, environment));
        let branch = self.branch()?.filter(|branch| !is_of_tasks(branch));
        let signing = signing_of(&own, &personal);
        let remote = remote_of(&own, branch.as_deref());
        Ok(Destination { branch, author: author_of(&[own, personal]), signing, remote })
    }

    /// The person by their own configuration alone, which no repository decides.
    pub fn personal_author(&self, environment: &Environment) -> Option<Author> {
        author_of(&[personal(self, environment)])
    }

    /// Why nothing can land on a branch of this name, if so.
    pub fn why_not_onto(&self, branch: &str) -> Result<Option<String>, GitError> {
        if is_of_tasks(branch) {
            return Ok(Some(format!("`{branch}` is the branch of a task")));
        }
        let is_name = !branch.starts_with('-') && self.is_reference_name(&format!("refs/heads/{branch}"))?;
        let exists = is_name && self.branch_tip(branch)?.is_some();
        Ok((!exists).then(|| format!("there is no branch `{branch}`")))
    }

    /// The tip of a branch and its tree.
    pub fn branch_tip_and_tree(&self, branch: &str) -> Result<Option<(CommitId, TreeId)>, GitError> {
        self.commit_and_tree_of(&format!("refs/heads/{branch}"))
    }

    /// The tree of a commit.
    pub fn tree_of_commit(&self, commit: &CommitId) -> Result<TreeId, GitError> {
        self.tree_of(commit.as_str())
    }

    /// Whether all of `older` is in `newer`.
    pub fn includes(&self, newer: &CommitId, older: &CommitId) -> Result<bool, GitError> {
        let call = self.reading().words(&["merge-base", "--is-ancestor"]);
        let answer = call.value(older.as_str())?.value(newer.as_str())?.run()?;
        match answer.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(answer.refused()),
        }
    }

    /// Stores a commit by a person, on no branch yet. If it is to be signed and cannot be, nothing is stored.
    pub fn commit_by(&self, new: &NewCommit<'_>, environment: &Environment) -> Result<CommitId, GitError> {
        let shared = self.shared_view()?;
        let view = View::new(&shared, Objects::Repository)?;
        let call = match new.signing {
            Some(signing) => signed(view.call(), self, signing, environment),
            None => view.call(),
        };
        let identity = Identity { name: &new.author.name, email: &new.author.email };
        write_commit_with(call, identity, new.tree, new.parents.iter().copied(), new.message)
    }

    /// This repository for a call that stores objects and looks at no file.
    pub(super) fn shared_view(&self) -> Result<Repository, GitError> {
        Ok(self.clone().with_rules(today(self, &Environment::of_process())?))
    }

    /// Puts a commit on a branch, and its files into the checkout of that branch. Asked again after a kill, it finishes what was begun.
    pub fn land(&self, step: &Step<'_>, environment: &Environment) -> Result<Moved, GitError> {
        let lock = self.lock()?;
        let holding = self.clone().holding(Some(lock.file()));
        let tip = holding.branch_tip(step.branch)?;
        let found = match holding.checkout_of(step.branch, environment)? {
            Ok(found) => found,
            Err(why) => return Ok(Moved::Refused { why }),
        };
        let Some(tip) = tip else {
            return Ok(Moved::Refused { why: format!("the branch `{}` was deleted", step.branch) });
        };
        let is_there = tip == *step.to || (tip != *step.from && self.includes(&tip, step.to)?);
        match found {
            Some(checkout) => checkout.follow(step, &tip, is_there),
            None if is_there => Ok(Moved::Done { checkout: None }),
            None if tip != *step.from => Ok(Moved::Elsewhere),
            None => holding.move_branch(step),
        }
    }

    fn move_branch(&self, step: &Step<'_>) -> Result<Moved, GitError> {
        let name = format!("refs/heads/{}", step.branch);
        let moved = set_by(&self.shared(), &name, step.to, Some(step.from), "longhaul: land", Some(step.author));
        match moved {
            Ok(()) => Ok(Moved::Done { checkout: None }),
            Err(GitError::Refused { .. }) if self.branch_tip(step.branch)?.as_ref() != Some(step.from) => {
                Ok(Moved::Elsewhere)
            }
            Err(error) => Err(error),
        }
    }

    /// The working tree that shows a branch, if one does; or why that one must be left alone.
    pub(super) fn checkout_of(
        &self,
        branch: &str,
        environment: &Environment,
    ) -> Result<Result<Option<Checkout>, String>, GitError> {
        for (number, entry) in registered(self)?.into_iter().enumerate() {
            let main = (number == 0).then(|| self.common_dir().to_owned());
            let Some(git_dir) = main.or_else(|| metadata_of(self.common_dir(), &entry.path)) else { continue };
            if entry.branch.as_deref() != Some(branch) && !is_busy_with(&git_dir, branch) {
                continue;
            }
            match self.git.find(&entry.path) {
                Ok(Some(found)) if found.git_dir() == git_dir => {
                    let found = found.holding(self.held());
                    let rules = today(&found, environment)?;
                    return Checkout::open(found.with_rules(rules));
                }
                // A bare repository has a HEAD and no files.
                Err(GitError::NoWorkTree { .. }) => {}
                Ok(_) | Err(_) if !entry.path.exists() && !git_dir.join("locked").exists() => {}
                Ok(_) | Err(_) => {
                    let path = entry.path.display();
                    return Ok(Err(format!("`{branch}` is checked out in `{path}`, which cannot be opened")));
                }
            }
        }
        Ok(Ok(None))
    }
}

/// The person that the first of these names.
fn author_of(configurations: &[Listed]) -> Option<Author> {
    let value = |key: &str| configurations.iter().find_map(|listed| listed.value(key));
    Some(Author { name: value("user.name")?, email: value("user.email")? })
}

/// Whether a rebase or a bisection with a detached HEAD will come back to this branch.
fn is_busy_with(git_dir: &std::path::Path, branch: &str) -> bool {
    let full = format!("refs/heads/{branch}");
    let names = ["rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"];
    names.iter().filter_map(|name| line_of(&git_dir.join(name))).any(|line| line == full || line == branch)
}

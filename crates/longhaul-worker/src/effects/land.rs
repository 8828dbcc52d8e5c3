//! What a follow-up is for: landing, discarding or restoring the work of a finished task, all of it in git.
//!
//! Answers `InLine`, `Merged`, `Placed`, `LandingStarted`, `TargetMoved`, `FollowedUp`, `CannotFollowUp` or `CannotPrepare`. A merge and a commit
//! are announced before files or a branch change, and every step after that finds out first whether it is done, so a kill anywhere and a
//! repeat come to the same end.

use std::path::Path;
use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{
    Actor, Cause, FollowUp, FollowUpAction, FollowUpResult, LandOrder, Landing, Merge, Observation, PullRequest,
    RoundOutcome, Task, Workspace,
};
use longhaul_git::{
    CommitId, Git, GitError, Merged, Moved, NewCommit, Removal, Repository, Step, TreeId, Worktree, WorktreeError,
    landing_branch, task_branch,
};
use longhaul_keeper::{fail_point, process};
use longhaul_store::{Filter, Which};

use super::{Job, pull_request};
use longhaul_app::unfit;

/// How long to wait for a store that could not answer.
const TRY_AGAIN: Duration = Duration::from_millis(250);

pub(super) async fn land(job: Job) {
    let Some(follow_up) = job.task.submission.follow_up.clone() else { return };
    let finished = loop {
        match job.context.store.load(follow_up.task).await {
            Ok(stored) => break stored.map(|stored| stored.task),
            // The hub meets the same store, and ends this if it does not recover.
            Err(_) => tokio::time::sleep(TRY_AGAIN).await,
        }
    };
    if let Some(behind) = first_in_line(&job).await {
        return job.answer(Observation::InLine { behind }, Actor::worker()).await;
    }
    let acting = job.clone();
    let acted = tokio::task::spawn_blocking(move || match finished {
        Some(finished) => act(&acting, &follow_up, &finished),
        None => Ok(cannot(format!("task `{}` no longer exists", follow_up.name))),
    });
    let seen = match acted.await {
        Ok(Ok(seen)) => seen,
        Ok(Err(cause)) => Observation::CannotPrepare { cause },
        Err(error) => Observation::CannotPrepare { cause: Cause::Workspace { why: error.to_string() } },
    };
    job.answer(seen, Actor::worker()).await;
}

/// The landing on the same branch of the same repository that is older and at work, if this one has not begun.
async fn first_in_line(job: &Job) -> Option<TaskId> {
    let order = job.task.order().filter(|_| job.task.landing.is_none() && job.task.merging.is_none())?;
    let filter = Filter { which: Which::Unfinished, follow_ups: true, ..Filter::default() };
    // A store that cannot answer holds nobody up: the branch moves by compare-and-set.
    let others = job.context.store.list(filter).await.ok()?.tasks.into_iter().map(|stored| stored.task);
    let same = |other: &Task| {
        let theirs = other.order().map(|other| (&other.onto, &other.repository));
        theirs == Some((&order.onto, &order.repository)) && other.id < job.task.id && other.state.wants_owner()
    };
    others.filter(same).map(|other| other.id).min()
}

fn act(job: &Job, follow_up: &FollowUp, finished: &Task) -> Result<Observation, Cause> {
    let git = Git::open(&job.context.home.git()).map_err(|error| unfit(&error))?;
    let project = Path::new(&finished.submission.project);
    let Some(repository) = git.find(project).map_err(|error| unfit(&error))? else {
        return Ok(cannot(format!("`{}` is no longer a git repository", project.display())));
    };
    let Some(workspace) = &finished.workspace else { return Ok(cannot("it never had a workspace".to_owned())) };
    let work = Work { job, git: &git, repository: &repository, finished, workspace };
    let seen = match (&follow_up.action, &job.task.landing) {
        (FollowUpAction::Land(order), None) => work.start(order),
        (FollowUpAction::Land(order), Some(landing)) => work.land(order, landing),
        (FollowUpAction::Discard, _) => {
            Ok(Observation::FollowedUp { result: FollowUpResult::Discarded { kept: work.put_away()? } })
        }
        (FollowUpAction::Restore, _) => work.restore(),
    }?;
    if matches!(seen, Observation::CannotFollowUp { .. }) {
        work.give_back()?;
    }
    Ok(seen)
}

fn cannot(why: String) -> Observation {
    Observation::CannotFollowUp { why }
}

/// The work of a finished task, and what is to be done with it.
struct Work<'a> {
    job: &'a Job,
    git: &'a Git,
    repository: &'a Repository,
    finished: &'a Task,
    workspace: &'a Workspace,
}

impl Work<'_> {
    /// Merges if the branch has moved, else makes the commit, if all is still as the person saw it.
    fn start(&self, order: &LandOrder) -> Result<Observation, Cause> {
        let (onto, name) = (&order.onto, &self.finished.submission.name);
        let failed = |error| unfit(&error);
        let tip = self.repository.branch_tip_and_tree(self.branch()).map_err(failed)?;
        let Some(tip) = tip.filter(|(tip, _)| tip.as_str() == order.tip) else {
            return Ok(cannot(format!("the branch of `{name}` changed meanwhile; look at it and land it again")));
        };
        let Some(target) = self.repository.branch_tip(onto).map_err(failed)? else {
            return Ok(cannot(format!("the branch `{onto}` was deleted")));
        };
        let (tip, tree) = match &self.job.task.merging {
            None => tip,
            Some(merging) if !merging.is_placed => return self.place(&merging.merge),
            Some(_) => match self.repository.branch_tip_and_tree(&self.landing_branch()).map_err(failed)? {
                Some((tip, tree)) if self.has_passed(&tree) => (tip, tree),
                _ => return Ok(cannot(format!("the merged work of `{name}` changed after its checks; land it again"))),
            },
        };
        if !self.repository.includes(&tip, &target).map_err(failed)? {
            return self.merge(order, &tip, &target);
        }
        let (LandOrder { author, message, .. }, signing) = (order, order.signing.as_ref());
        let parents: &[&CommitId] = if order.with_history { &[&target, &tip] } else { &[&target] };
        let new = NewCommit { author, tree: &tree, parents, message, signing };
        let commit = match self.repository.commit_by(&new, &self.job.environment) {
            Err(GitError::Refused { text, .. }) if signing.is_some() => {
                let why = "the commit could not be signed as your git is configured to, so nothing changed";
                return Ok(cannot(format!(
                    "{why}: {text}. `longhaul land {name} --no-sign` lands it without a signature"
                )));
            }
            made => made.map_err(failed)?,
        };
        let landing = Landing { commit: commit.as_str().to_owned(), from: target.as_str().to_owned() };
        Ok(Observation::LandingStarted { landing })
    }

    /// Whether the round that came before was about this tree.
    fn has_passed(&self, tree: &TreeId) -> bool {
        let round = self.job.task.round.as_ref();
        round.and_then(|round| round.outcome.as_ref())
            == Some(&RoundOutcome::Passed { tree: Some(tree.as_str().to_owned()) })
    }

    /// Merges the branch into the work. Only objects are made.
    fn merge(&self, order: &LandOrder, tip: &CommitId, target: &CommitId) -> Result<Observation, Cause> {
        let (onto, name, id) = (&order.onto, &self.finished.submission.name, self.finished.id);
        let message = format!("longhaul: merge {onto} into {name}\n\nTask: {id}\n");
        let merged = self.repository.merge(tip, target, &message).map_err(|error| unfit(&error))?;
        Ok(match merged {
            Merged::Made { commit, conflicts } => {
                let (commit, target) = (commit.as_str().to_owned(), target.as_str().to_owned());
                Observation::Merged { merge: Merge { commit, target, conflicts } }
            }
            Merged::Impossible { why } => cannot(self.refusal(&format!("`{onto}` has moved, and {why}"), onto)),
        })
    }

    /// Brings the merge into the worktree of the task, on a branch of its own, so that it can be checked.
    fn place(&self, merge: &Merge) -> Result<Observation, Cause> {
        fail_point::reach("land.merged");
        let (name, path) = (&self.finished.submission.name, Path::new(&self.workspace.root));
        let opened = match Worktree::open(self.git, self.workspace) {
            Ok(opened) => opened,
            Err(WorktreeError::Git { source }) => return Err(unfit(&source)),
            Err(error) => return Ok(cannot(format!("{error}, so `{name}` cannot be merged and checked there"))),
        };
        if let Some(pid) = process::works_in(path) {
            let path = path.display();
            return Ok(cannot(format!(
                "process {pid} works in `{path}`, where `{name}` is to be merged; end it first"
            )));
        }
        let worktree = opened.with_rules_of(self.finished.id).map_err(|error| unfit(&error))?;
        let (branch, commit) = (self.landing_branch(), merge.commit.parse().map_err(|error| unfit(&error))?);
        worktree.lend(self.finished.id, &branch, &commit).map_err(|error| unfit(&error))?;
        fail_point::reach("land.placed");
        let base = Some(merge.target.clone());
        Ok(Observation::Placed { workspace: Workspace { branch: Some(branch), base, ..self.workspace.clone() } })
    }

    /// Puts the worktree back on the branch of its task, if a landing merged there.
    fn give_back(&self) -> Result<(), Cause> {
        match Worktree::open(self.git, self.workspace) {
            Ok(opened) => {
                let worktree = opened.with_rules_of(self.finished.id).map_err(|error| unfit(&error))?;
                worktree.give_back(self.finished.id).map_err(|error| unfit(&error))
            }
            Err(WorktreeError::Git { source }) => Err(unfit(&source)),
            Err(_) => Ok(()),
        }
    }

    fn landing_branch(&self) -> String {
        landing_branch(self.branch(), self.job.task.id)
    }

    /// Puts the commit on the branch, and then the worktree away.
    fn land(&self, order: &LandOrder, landing: &Landing) -> Result<Observation, Cause> {
        fail_point::reach("land.started");
        if let Some(wanted) = &order.pull_request {
            return self.offer(order, wanted, landing);
        }
        let id = |text: &str| text.parse::<CommitId>().map_err(|error| unfit(&error));
        let (from, to) = (id(&landing.from)?, id(&landing.commit)?);
        let step = Step { task: self.job.task.id, branch: &order.onto, from: &from, to: &to, author: &order.author };
        let moved = self.repository.land(&step, &self.job.environment).map_err(|error| unfit(&error))?;
        let checkout = match moved {
            Moved::Done { checkout } => checkout,
            Moved::Elsewhere => return Ok(Observation::TargetMoved),
            Moved::Refused { why } => return Ok(cannot(self.refusal(&why, &order.onto))),
        };
        fail_point::reach("land.done");
        let kept = if order.keep { Some("--keep was given".to_owned()) } else { self.put_away()? };
        if order.keep {
            self.give_back()?;
        }
        fail_point::reach("land.put_away");
        let checkout = checkout.map(|path| path.display().to_string());
        let (commit, from, onto) = (landing.commit.clone(), landing.from.clone(), order.onto.clone());
        Ok(Observation::FollowedUp { result: FollowUpResult::Landed { commit, onto, from, checkout, kept } })
    }

    /// Pushes the commit and opens a pull request. The worktree stays, because a review may want more.
    fn offer(&self, order: &LandOrder, wanted: &PullRequest, landing: &Landing) -> Result<Observation, Cause> {
        let (PullRequest { remote, head }, onto) = (wanted, &order.onto);
        let commit = landing.commit.parse().map_err(|error| unfit(&error))?;
        // Asked first, so that a missing login or an unknown host leaves nothing behind.
        let known = match pull_request::known(self.job, remote, head, onto) {
            Ok(known) => known,
            Err(why) => return Ok(cannot(format!("nothing was pushed: {why}"))),
        };
        let pushed =
            self.repository.push(remote, &commit, head, &self.job.environment).map_err(|error| unfit(&error))?;
        if let Err(why) = pushed {
            return Ok(cannot(format!("`{head}` could not be pushed to `{remote}`: {why}")));
        }
        fail_point::reach("land.pushed");
        let opened = known.map_or_else(|| pull_request::open(self.job, remote, head, onto, &order.message), Ok);
        let url = match opened {
            Ok(url) => url,
            Err(why) => return Ok(cannot(format!("`{head}` is pushed to `{remote}`, but {why}"))),
        };
        fail_point::reach("land.offered");
        self.give_back()?;
        let (commit, head, onto) = (landing.commit.clone(), head.clone(), onto.clone());
        Ok(Observation::FollowedUp { result: FollowUpResult::PullRequest { url, commit, head, onto } })
    }

    fn refusal(&self, why: &str, onto: &str) -> String {
        let name = &self.finished.submission.name;
        format!(
            "{why}; nothing changed. Fix that and run `longhaul land {name}` again, or do it by hand: `git switch {onto}`, \
             `git merge --squash {}`, `git commit`",
            self.branch()
        )
    }

    /// Keeps what is in the worktree and removes it; why it stays, if it does.
    fn put_away(&self) -> Result<Option<String>, Cause> {
        let path = Path::new(&self.workspace.root);
        let opened = match Worktree::open(self.git, self.workspace) {
            Ok(opened) => opened,
            Err(WorktreeError::Git { source }) => return Err(unfit(&source)),
            // A kill may have come between worktree and branch.
            Err(error) if !path.exists() => {
                let gone = self.repository.remove_kept_branch(self.finished.id, self.branch());
                return Ok((!gone.map_err(|error| unfit(&error))?).then(|| error.to_string()));
            }
            Err(error) => return Ok(Some(error.to_string())),
        };
        if let Some(pid) = process::works_in(path) {
            let tip = self.repository.branch_tip(self.branch()).map_err(|error| unfit(&error))?;
            if let Some(tip) = tip {
                self.repository.keep_final_state(self.finished.id, &tip).map_err(|error| unfit(&error))?;
            }
            return Ok(Some(format!("process {pid} works in it")));
        }
        let worktree = opened.with_rules_of(self.finished.id).map_err(|error| unfit(&error))?;
        let (id, name) = (self.finished.id, &self.finished.submission.name);
        let message = format!("longhaul: {name}, what was not committed\n\nTask: {id}\n");
        worktree.give_back(id).map_err(|error| unfit(&error))?;
        match worktree.put_away(id, &message) {
            Ok(Removal::Removed) => Ok(None),
            Ok(Removal::Kept { why }) => Ok(Some(why)),
            Err(error) if error.is_transient() => Err(unfit(&error)),
            Err(error) => Ok(Some(error.to_string())),
        }
    }

    fn restore(&self) -> Result<Observation, Cause> {
        let failed = |error| unfit(&error);
        let Some(tip) = self.repository.final_state(self.finished.id).map_err(failed)? else {
            return Ok(cannot("nothing is kept of its work".to_owned()));
        };
        let (path, environment) = (Path::new(&self.workspace.root), &self.job.environment);
        let wanted = task_branch(self.finished.submission.name.as_ref());
        let branch = self.workspace.branch.as_deref().unwrap_or(&wanted);
        let made = self.repository.create_worktree(path, branch, &tip, environment).map_err(|error| unfit(&error))?;
        if made.branch() != branch {
            return Ok(cannot(format!("the branch `{branch}` is taken; the work is on `{}` now", made.branch())));
        }
        Ok(Observation::FollowedUp { result: FollowUpResult::Restored })
    }

    fn branch(&self) -> &str {
        self.workspace.branch.as_deref().unwrap_or_default()
    }
}

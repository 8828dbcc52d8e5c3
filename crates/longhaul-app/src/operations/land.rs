//! `land`: brings the work of a finished task onto a branch of the user's, as one commit or as a merge, or offers it as a pull request. A follow-up does it; the finished task stays as it is.
//! Everything that can be refused at once is refused here, before anything is submitted.

use longhaul_core::task::{
    Action, Author, FollowUpAction, LandOrder, PullRequest, Right, State, Task, Trailer, Verdict, commit_message,
};
use longhaul_git::{GitError, Repository};
use longhaul_keeper::Environment;
use longhaul_store::Stored;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::config::{self, Overrides};
use crate::error::{AppError, ErrorKind};
use crate::follow_up::{finished, follow_up, git_failed, repository};
use crate::home::Home;
use crate::hosted::Hosted;
use crate::intake::{blocking, redact_intake};
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::views::{FollowUpView, TaskView, person};

/// How many sessions may fix what merging leads to. After that a person is asked.
const MOST_FIXES: u32 = 2;

/// The operation `land`.
pub struct Land;

/// What `land` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct LandInput {
    /// Name or id of the finished task.
    pub task: String,
    /// The branch to land on; by default the one that was checked out when the task was submitted.
    #[serde(default)]
    pub onto: Option<String>,
    /// As a merge commit with the commits of the task's branch, in place of one commit.
    #[serde(default)]
    pub merge: bool,
    /// Push the commit to the remote of the submission and open a pull request; the branch here does not move.
    #[serde(default)]
    pub pr: bool,
    /// Do not sign the commit, although your git was configured to sign when the task was submitted.
    #[serde(default)]
    pub no_sign: bool,
    /// The message of the commit, in place of the goal and the steps.
    #[serde(default)]
    pub message: Option<String>,
    /// Keep worktree and branch of the task.
    #[serde(default)]
    pub keep: bool,
    /// Change nothing, only answer what would land.
    #[serde(default)]
    pub dry_run: bool,
    /// Land the work although it is not verified.
    #[serde(default)]
    pub unverified: bool,
    /// Start no fixing session if merging with the branch leads to conflicts or failed checks; a person is asked instead.
    #[serde(default)]
    pub no_fix: bool,
    /// Land what a fixing session changed without a person's look at it.
    #[serde(default)]
    pub yes: bool,
    /// Why, kept in the history.
    #[serde(default)]
    pub reason: Option<String>,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(default, skip_serializing)]
    pub key: Option<String>,
}

impl Operation for Land {
    const ABOUT: About = About::new(
        "land",
        "Bring the work of a finished task onto your branch, as one commit",
        Action::Manage("land"),
        VERB_AND_TOOL,
    )
    .route("/tasks/{task}/land")
    .needs(Right::Approve)
    .by_hand("land TASK")
    .destroys();
    type Input = LandInput;
    type Output = FollowUpView;

    fn key(input: &LandInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: LandInput) -> Result<Answer<FollowUpView>, AppError> {
        let stored = finished(call, &input.task, "land").await?;
        if let Some(why) = nothing_to_land(call, &stored).await? {
            return Ok(Answer::new(FollowUpView::nothing(&stored.task)).note([why]));
        }
        let (home, environment) = (call.home().clone(), call.app.system.environment.clone());
        let (task, asked, trailer) = (stored.task.clone(), input.clone(), trailer(call, &stored.task)?);
        let planned = blocking(move || plan(&home, &environment, &task, &asked, trailer)).await?;
        let Plan { order, unverified, merges } = match planned {
            Ok(plan) => plan,
            Err(why) => return Ok(Answer::new(FollowUpView::nothing(&stored.task)).note([why])),
        };
        if input.dry_run {
            return Ok(Answer::new(preview(&stored.task, order, unverified)).note(merges));
        }
        if let Some(why) = unverified.filter(|_| !input.unverified) {
            let name = &stored.task.submission.name;
            return Err(AppError::new(ErrorKind::Conflict, format!("`{name}` is not verified: {why}"))
                .hint(format!("look at it with `longhaul diff {name}`; to land it all the same, add --unverified")));
        }
        let fixes = if input.no_fix { 0 } else { MOST_FIXES };
        follow_up(call, permit.key(), &stored.task, FollowUpAction::Land(Box::new(order)), fixes).await
    }
}

/// What is to land, and why it is not verified.
struct Plan {
    order: LandOrder,
    unverified: Option<String>,
    /// What is done first, if the branch has moved.
    merges: Option<String>,
}

/// Why there is nothing to land, as far as the task itself says so.
async fn nothing_to_land(call: &Call, stored: &Stored) -> Result<Option<String>, AppError> {
    let task = &stored.task;
    let name = &task.submission.name;
    let Some(workspace) = &task.workspace else {
        return Ok(Some(format!("nothing to land: `{name}` ended before it had a workspace")));
    };
    if !workspace.is_worktree() {
        return Ok(Some(format!(
            "`{name}` worked in place: the work is already in your checkout, `{}`",
            workspace.root
        )));
    }
    let came_to = TaskView::of(call, task.id).await?.followed_up;
    match came_to.as_ref().map(|came_to| came_to.kind.as_str()) {
        Some("discarded") => Err(AppError::new(ErrorKind::Conflict, format!("the work of `{name}` was discarded"))
            .hint(format!("`longhaul discard --undo {name}` brings it back"))),
        _ => Ok(None),
    }
}

/// What would land; or why nothing would.
fn plan(
    home: &Home,
    environment: &Environment,
    task: &Task,
    input: &LandInput,
    trailer: Trailer,
) -> Result<Result<Plan, String>, AppError> {
    let name = &task.submission.name;
    let repository = repository(home, task)?;
    let onto = branch(&repository, task, input.onto.as_deref())?;
    let failed = |error: GitError| git_failed(&error);
    let work = task.workspace.as_ref().and_then(|workspace| workspace.branch.as_deref()).unwrap_or_default();
    let Some((tip, tree)) = repository.branch_tip_and_tree(work).map_err(failed)? else {
        return match repository.final_state(task.id).map_err(failed)? {
            Some(_) => Ok(Err(format!("nothing to land: `{name}` has landed, and its branch is removed"))),
            None => Err(AppError::new(ErrorKind::Conflict, format!("the branch `{work}` of `{name}` was deleted"))),
        };
    };
    let Some((target, target_tree)) = repository.branch_tip_and_tree(&onto).map_err(failed)? else {
        return Err(AppError::new(ErrorKind::Conflict, format!("there is no branch `{onto}`")));
    };
    if tree == target_tree || repository.includes(&target, &tip).map_err(failed)? {
        return Ok(Err(format!("nothing to land: `{onto}` already has all of `{name}`")));
    }
    let has_moved = !repository.includes(&tip, &target).map_err(failed)?;
    let merges = has_moved.then(|| {
        format!("`{onto}` has commits that `{name}` does not have: they are merged in its worktree, and its checks run again, before it lands")
    });
    let author = author(&repository, task, environment)?;
    let secret_names = &task.submission.secret_names;
    let mask = |text: &str| redact_intake(environment, text, secret_names).0;
    let order = LandOrder {
        tip: tip.as_str().to_owned(),
        tree: tree.as_str().to_owned(),
        onto,
        message: mask(&commit_message(task, input.message.as_deref(), trailer)),
        author,
        unverified: input.unverified,
        reason: input.reason.as_deref().map(mask),
        keep: input.keep,
        repository: repository.common_dir().display().to_string(),
        goal: task.submission.goal.clone(),
        yes: input.yes,
        with_history: input.merge,
        signing: task.submission.destination.signing.clone().filter(|_| !input.no_sign),
        pull_request: input.pr.then(|| pull_request(task, work, environment)).transpose()?,
    };
    let unverified = unverified(&task.state, &order.tree);
    Ok(Ok(Plan { order, unverified, merges }))
}

fn branch(repository: &Repository, task: &Task, asked: Option<&str>) -> Result<String, AppError> {
    let Some(branch) = asked.or(task.submission.destination.branch.as_deref()) else {
        let what = "it is unknown where to land: no branch was checked out when the task was submitted";
        return Err(AppError::new(ErrorKind::Usage, what).hint("name the branch with --onto BRANCH"));
    };
    match repository.why_not_onto(branch).map_err(|error| git_failed(&error))? {
        Some(why) => {
            Err(AppError::new(ErrorKind::Usage, format!("cannot land: {why}")).hint("name another with --onto BRANCH"))
        }
        None => Ok(branch.to_owned()),
    }
}

/// The person of the submission. Without one, only the person's own configuration counts: an agent can write the repository's.
fn author(repository: &Repository, task: &Task, environment: &Environment) -> Result<Author, AppError> {
    let known = task.submission.destination.author.clone();
    known.or_else(|| repository.personal_author(environment)).ok_or_else(|| {
        AppError::new(ErrorKind::Conflict, "git does not know who you are, so the commit would have no author")
            .hint("git config --global user.name \"Your Name\"")
            .hint("git config --global user.email you@example.org")
    })
}

/// Whether the message names the task: the person's choice, and that of the project's file in their checkout, never the work's.
fn trailer(call: &Call, task: &Task) -> Result<Trailer, AppError> {
    let (environment, caller) = (&call.app.system.environment, &call.caller);
    let project = std::path::Path::new(&task.submission.project);
    let loaded = config::load(environment, caller, project, &Overrides::default())?;
    Ok(if loaded.settings.land.trailer { Trailer::Task } else { Trailer::None })
}

/// Where the pull request is opened. What cannot work is refused before anything is pushed.
fn pull_request(task: &Task, work: &str, environment: &Environment) -> Result<PullRequest, AppError> {
    let Some(remote) = task.submission.destination.remote.clone() else {
        let what = "there was no remote when the task was submitted, so there is nowhere to open a pull request";
        return Err(AppError::new(ErrorKind::Conflict, what).hint("land it here without --pr"));
    };
    let hosted = Hosted::of(&remote).map_err(|why| AppError::new(ErrorKind::Conflict, why))?;
    if environment.find_program(hosted.program()).is_none() {
        let what = format!("`{}` opens the pull request, and it is not on PATH", hosted.program());
        return Err(AppError::new(ErrorKind::Conflict, what).hint("install it and log in, or land without --pr"));
    }
    Ok(PullRequest { remote, head: work.to_owned() })
}

/// Why this tree is not verified, if it is not.
fn unverified(state: &State, tree: &str) -> Option<String> {
    match state {
        State::Done { verdict: Verdict::Verified { tree: checked, .. } } if checked == tree => None,
        State::Done { verdict: Verdict::Verified { .. } } => {
            Some("its branch has changed since the checks passed".to_owned())
        }
        State::Done { verdict } => Some(verdict.to_string()),
        state => Some(crate::describe::state_of(state, None)),
    }
}

fn preview(task: &Task, order: LandOrder, unverified: Option<String>) -> FollowUpView {
    FollowUpView {
        author: Some(person(&order.author)),
        onto: Some(order.onto),
        message: Some(order.message),
        unverified,
        ..FollowUpView::nothing(task)
    }
}

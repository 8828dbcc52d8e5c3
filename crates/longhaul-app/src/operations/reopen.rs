//! `reopen`: a new task that continues the work of a finished one, with another goal on top. The finished task stays as it is.
//! It starts from the commit that landed, else from what is kept of the work, else from the task's branch, and in the agent's conversation.

use std::path::Path;

use longhaul_core::task::{
    Action, Context, Conversation, Delivered, Failure, FollowUpResult, Outcome, Place, Right, SessionRecord, Setting,
    Submission, Task, Workspace,
};
use longhaul_git::{CommitId, GitError};
use longhaul_store::Filter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::retry::submit_named;
use crate::app::Call;
use crate::copied_files;
use crate::error::{AppError, ErrorKind};
use crate::follow_up::{finished, git_failed, repository};
use crate::intake::blocking_here;
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL};
use crate::request_key::answer;
use crate::session::history::{recent, sessions_of};
use crate::submit::{self, Changes};
use crate::views::TaskView;

/// So much of the old goal is repeated in the new one, in bytes.
const MOST_OF_OLD_GOAL: usize = 8 << 10;

/// The operation `reopen`.
pub struct Reopen;

/// What `reopen` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReopenInput {
    /// Name or id of the finished task.
    pub task: String,
    /// What to do now.
    pub goal: String,
    /// Name of the new task; by default the old name with a number.
    #[serde(default)]
    pub name: Option<String>,
    /// What is different from the old task.
    #[serde(flatten)]
    pub changes: Changes,
    /// Idempotency key: the same request under the same key is carried out once.
    #[serde(default, skip_serializing)]
    pub key: Option<String>,
}

impl Operation for Reopen {
    const ABOUT: About = About::new(
        "reopen",
        "Start a new task that continues the work and the conversation of a finished one",
        Action::Manage("reopen"),
        VERB_AND_TOOL,
    )
    .route("/tasks/{task}/reopen")
    .needs(Right::Approve)
    .runs_agents()
    .by_hand("reopen TASK");
    type Input = ReopenInput;
    type Output = TaskView;

    fn key(input: &ReopenInput) -> Option<&str> {
        input.key.as_deref()
    }

    async fn run(call: &Call, permit: Permit, input: ReopenInput) -> Result<Answer<TaskView>, AppError> {
        if input.goal.trim().is_empty() {
            return Err(AppError::new(ErrorKind::Usage, "the goal is empty; say what the agent should do now"));
        }
        let mut settings = input.changes.read()?;
        let old = finished(call, &input.task, "reopen").await?.task;
        input.changes.resolve(call, &old.submission, &mut settings)?;
        let mut submission = submission(call, &old, &input.goal, &settings)?;
        submission.conversations = conversation(call, &old).await?.into_iter().collect();
        let mut notes = Vec::new();
        if let Some(workspace) = old.workspace.as_ref().filter(|workspace| workspace.is_worktree()) {
            let landed = landed(call, &old).await?;
            let (base, words) = blocking_here(|| base(call, &old, workspace, landed.as_deref()))?;
            notes.push(format!("continues {} from {words}", old.submission.name));
            submission.place = Place::Worktree { base: base.as_str().to_owned() };
            submission.destination = submit::workspace_choice::destination(call, Path::new(&submission.project), None);
            notes.extend(copied_files::preview(call, &submission)?);
        }
        let sent = submit_named(call, input.name, permit.key(), &old, &submission).await?;
        let answer = answer(call, sent.task, sent.repeated).await?;
        Ok(answer.note(notes).warn(sent.warnings))
    }
}

/// The terms of the old task with the new goal, which is why `reopen` needs the right `approve`: a person chose them for another goal. What
/// belonged to the old goal alone is dropped.
fn submission(call: &Call, old: &Task, goal: &str, settings: &[Setting]) -> Result<Submission, AppError> {
    let mut submission = Submission::clone(&old.submission);
    for directory in [&submission.workspace, &submission.project] {
        call.project_at(Path::new(directory))?;
    }
    submission.goal = with_old_goal(goal, &old.submission);
    (submission.parent, submission.after, submission.retry_of) = (None, None, None);
    submission.reopens = Some(old.id);
    (submission.inputs, submission.files_name) = (Vec::new(), None);
    settings.iter().for_each(|setting| submission.set(setting));
    submission.declared = submit::declared::refreshed(&call.app.system.environment, &call.caller, &submission)?;
    Ok(submission)
}

/// An agent that begins a new conversation has to know what it continues.
fn with_old_goal(goal: &str, old: &Submission) -> String {
    let end = old.goal.floor_char_boundary(MOST_OF_OLD_GOAL);
    format!(
        "{goal}\n\nThis continues the finished task `{}`, whose work is already here. Its goal was:\n\n{}",
        old.name,
        &old.goal[..end]
    )
}

/// The conversation of the last session of an agent, if it can be resumed. It has not got the new goal yet.
async fn conversation(call: &Call, old: &Task) -> Result<Option<Conversation>, AppError> {
    if old.submission.context == Context::Fresh {
        return Ok(None);
    }
    let sessions = sessions_of(&recent(call, old.id).await?);
    let last = sessions.into_iter().rev().find(|session| session.run.purpose.is_agent());
    Ok(last.and_then(|SessionRecord { run, ended, .. }| {
        let ended = ended?;
        let id = run.conversation.or(run.resumes)?;
        let is_lost = ended.delivered == Delivered::NoTranscript
            || matches!(ended.outcome, Outcome::Failed(Failure::BadConversation | Failure::ContextFull));
        let (agent, carry) = (run.agent, ended.carry);
        (!is_lost).then_some(Conversation { agent, id, delivered: Delivered::No, purpose: None, carry, failed: 0 })
    }))
}

/// The commit as which the work landed, if it did.
async fn landed(call: &Call, old: &Task) -> Result<Option<String>, AppError> {
    let one = Filter { id_prefix: Some(old.id.to_string()), ..Filter::default() };
    let came_to = call.summaries(one).await?.tasks.pop().and_then(|summary| summary.came_to);
    Ok(match came_to {
        Some(FollowUpResult::Landed { commit, .. }) => Some(commit),
        Some(FollowUpResult::PullRequest { .. } | FollowUpResult::Discarded { .. } | FollowUpResult::Restored)
        | None => None,
    })
}

/// Where the new task starts, and that in words.
fn base(call: &Call, old: &Task, workspace: &Workspace, landed: Option<&str>) -> Result<(CommitId, String), AppError> {
    let repository = repository(call.home(), old)?;
    let failed = |error: GitError| git_failed(&error);
    let branch = workspace.branch.as_deref().unwrap_or_default();
    if let Some(commit) = landed.map(|commit| repository.commit(commit)).transpose().map_err(failed)?.flatten() {
        let words = format!("the commit that landed, {}", longhaul_core::task::short(commit.as_str()));
        return Ok((commit, words));
    }
    if let Some(tip) = repository.branch_tip(branch).map_err(failed)? {
        return Ok((tip, format!("its branch, {branch}")));
    }
    match repository.final_state(old.id).map_err(failed)? {
        Some(commit) => Ok((commit, "what was kept of its work".to_owned())),
        None => {
            let what = format!("nothing is left of the work of `{}`: its branch was deleted", old.submission.name);
            Err(AppError::new(ErrorKind::Conflict, what)
                .hint(format!("`longhaul retry {}` starts it over", old.submission.name)))
        }
    }
}

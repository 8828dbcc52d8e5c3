//! What is done with the work of a finished task: the answer of `land` and `discard`.
//! Made from the follow-up, or from what it would do.

use longhaul_core::task::{Author, FollowUpResult, HelpReason, State, Task, Verdict};
use longhaul_store::Stored;
use schemars::JsonSchema;
use serde::Serialize;

use super::TaskView;
use crate::app::Call;
use crate::error::AppError;
use crate::operation::{Answer, View};

/// What is done with the work of a finished task.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct FollowUpView {
    /// Id of the finished task.
    pub task_id: String,
    /// Its name.
    pub name: String,
    /// The task that does it; null if nothing had to be done.
    pub follow_up: Option<TaskView>,
    /// The branch that the work lands on.
    pub onto: Option<String>,
    /// The message of the commit, before it is made.
    pub message: Option<String>,
    /// Who the author of the commit is, before it is made.
    pub author: Option<String>,
    /// Why the work is not verified; null if it is, and once it has landed.
    pub unverified: Option<String>,
    /// Why a person has to read the work before it lands; null if nobody has to.
    pub review: Option<String>,
    /// The commit on the branch; null until it is there.
    pub commit: Option<String>,
    /// The address of the pull request, if the work is offered in one.
    pub pull_request: Option<String>,
    /// The command that takes the commit off the branch again.
    pub undo: Option<String>,
    /// Why worktree and branch of the task still exist, if they do.
    pub kept: Option<String>,
}

impl View for FollowUpView {
    const KIND: &'static str = "follow_up";

    async fn of_repeat(call: &Call, stored: Stored) -> Result<Answer<FollowUpView>, AppError> {
        Ok(Answer::new(FollowUpView::of(call, &stored.task).await?))
    }
}

impl FollowUpView {
    /// A finished task with which nothing is done.
    pub(crate) fn nothing(task: &Task) -> FollowUpView {
        FollowUpView { task_id: task.id.to_string(), name: task.submission.name.to_string(), ..FollowUpView::default() }
    }

    /// A follow-up as it is now.
    pub async fn of(call: &Call, task: &Task) -> Result<FollowUpView, AppError> {
        let Some(follow_up) = &task.submission.follow_up else { return Ok(FollowUpView::nothing(task)) };
        let view = FollowUpView {
            task_id: follow_up.task.to_string(),
            name: follow_up.name.to_string(),
            follow_up: Some(TaskView::of(call, task.id).await?),
            review: review(&task.state),
            ..FollowUpView::default()
        };
        Ok(match task.state.verdict() {
            Some(Verdict::FollowedUp(result)) => view.with(result),
            Some(Verdict::Verified { .. } | Verdict::NotVerified { .. } | Verdict::NoChecks) | None => view,
        })
    }

    fn with(self, result: &FollowUpResult) -> FollowUpView {
        match result {
            FollowUpResult::Landed { commit, onto, kept, .. } => FollowUpView {
                onto: Some(onto.clone()),
                commit: Some(commit.clone()),
                undo: Some(undo(result)),
                kept: kept.clone(),
                ..self
            },
            FollowUpResult::PullRequest { url, onto, .. } => {
                FollowUpView { pull_request: Some(url.clone()), onto: Some(onto.clone()), ..self }
            }
            FollowUpResult::Discarded { kept } => FollowUpView { kept: kept.clone(), ..self },
            FollowUpResult::Restored => self,
        }
    }
}

fn review(state: &State) -> Option<String> {
    let State::NeedsHelp { reason: HelpReason::ReviewLanding { why } } = state else { return None };
    Some(why.clone())
}

/// The command that takes what landed off the branch again.
fn undo(result: &FollowUpResult) -> String {
    match result {
        FollowUpResult::Landed { from, checkout: Some(checkout), .. } => {
            format!("git -C {} reset --keep {from}", quoted(checkout))
        }
        FollowUpResult::Landed { commit, onto, from, .. } => {
            format!("git update-ref refs/heads/{onto} {from} {commit}")
        }
        FollowUpResult::PullRequest { .. } | FollowUpResult::Discarded { .. } | FollowUpResult::Restored => {
            String::new()
        }
    }
}

/// A word as the shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// A person as git writes one.
pub(crate) fn person(author: &Author) -> String {
    format!("{} <{}>", author.name, author.email)
}

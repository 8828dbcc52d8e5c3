//! `wait`: answers when a task is done or needs someone.
//! Unlike operations that only read, it starts a worker if the task has none that is alive: otherwise it could wait forever.

use std::time::Duration;

use longhaul_core::task::{Action, Right, State};
use longhaul_store::{Holder, Stored};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};

use crate::app::Call;
use crate::config::show_span;
use crate::error::{AppError, ErrorKind};
use crate::follow::{Follow, Interest, Item};
use crate::operation::{About, Answer, FrontEnd, Operation, Permit, VERB_AND_TOOL};
use crate::slot_wait::Slots;
use crate::views::TaskView;
use crate::{describe, directory_wait, lookup};

/// How long an assistant or a program waits for one answer: some clients and proxies give up after 60 seconds.
const PATIENCE_OF_CLIENTS: Duration = Duration::from_secs(50);

/// The operation `wait`.
pub struct Wait;

/// What `wait` takes.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WaitInput {
    /// Name or id of the task; by default the only unfinished one of the project.
    pub task: Option<String>,
    /// Give up after this time; the task is not affected. As a tool or over HTTP it answers after at most 50 seconds, and says if the task is still running.
    pub timeout_ms: Option<u64>,
}

impl Operation for Wait {
    const ABOUT: About = About::new("wait", "Wait until a task is done or needs a person", Action::Read, VERB_AND_TOOL)
        .route("/tasks/{task}/wait")
        .changes();
    type Input = WaitInput;
    type Output = TaskView;

    async fn run(call: &Call, _: Permit, input: WaitInput) -> Result<Answer<TaskView>, AppError> {
        let stored = lookup::find_to_read(call, input.task.as_deref()).await?;
        settle(call, stored, input.timeout_ms).await
    }
}

/// The task once it is done or needs someone, or after this time.
pub(crate) async fn settle(call: &Call, stored: Stored, timeout_ms: Option<u64>) -> Result<Answer<TaskView>, AppError> {
    let is_bounded = call.caller.channel != FrontEnd::CommandLine;
    let timeout = patience(call.caller.channel, timeout_ms);
    // A time that the clock cannot represent is forever.
    let deadline = timeout.and_then(|span| Instant::now().checked_add(span));
    let keeps_worker = call.caller.rights.include(Right::Run);
    let mut feed = Follow::new(call, stored, Interest { keeps_worker, ..Interest::default() })?;
    let mut limit = None;
    loop {
        let item = match limit {
            Some(limit) => match timeout_at(limit, feed.next()).await {
                Ok(item) => item,
                Err(_) if is_bounded => return still_running(call, feed.stored()).await,
                Err(_) => return Err(gave_up(feed.stored(), timeout)),
            },
            None => feed.next().await,
        };
        match item? {
            Some(Item::Settled(task)) => return Ok(Answer::new(*task)),
            Some(Item::UpToDate(stored)) => refuse_to_block(call, &stored).await?,
            Some(_) => {}
            None => return Err(AppError::new(ErrorKind::Failure, "the task was not followed to its end")),
        }
        // From the first look on: a task that has settled already is never late.
        limit = deadline;
    }
}

/// How long this caller waits; none is forever.
fn patience(channel: FrontEnd, asked_ms: Option<u64>) -> Option<Duration> {
    let most = (channel != FrontEnd::CommandLine).then_some(PATIENCE_OF_CLIENTS);
    [asked_ms.map(Duration::from_millis), most].into_iter().flatten().min()
}

/// For a model or a program an error would mean that something is wrong with the task.
async fn still_running(call: &Call, stored: &Stored) -> Result<Answer<TaskView>, AppError> {
    let task = TaskView::of(call, stored.task.id).await?;
    Ok(Answer::new(task).note(["the task is still running; call `wait` again".to_owned()]))
}

/// The same answer in every state: what the task does at that moment is chance.
fn gave_up(stored: &Stored, timeout: Option<Duration>) -> AppError {
    let span = show_span(timeout.unwrap_or_default());
    AppError::new(ErrorKind::TimedOut, format!("the task is not finished after {span}; it continues"))
        .hint(describe::next_command(stored))
}

/// Refuses to wait for a task that needs what the calling agent's own session has: it would wait forever.
async fn refuse_to_block(call: &Call, stored: &Stored) -> Result<(), AppError> {
    let Some(needed) = needs_this_session(call, stored).await? else { return Ok(()) };
    let name = &stored.task.submission.name;
    let what = format!("task {name} needs this session's {needed}, and starts when the session has ended");
    Err(AppError::new(ErrorKind::Waiting, what).hint(
        "note in your progress file what to do with its result, then end this session; your next one starts after that task",
    ))
}

async fn needs_this_session(call: &Call, stored: &Stored) -> Result<Option<&'static str>, AppError> {
    let Some(own) = call.own_task() else { return Ok(None) };
    if !matches!(stored.task.state, State::Queued | State::Preparing) {
        return Ok(None);
    }
    if directory_wait::line_before(call, stored.task.id).await?.contains(&Holder::Task(own)) {
        return Ok(Some("directory"));
    }
    Ok(Slots::now(call).await?.are_taken().then_some("slot"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_of_a_server_never_waits_long() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(patience(FrontEnd::Mcp, None), seconds(50));
        assert_eq!(patience(FrontEnd::Mcp, Some(3_600_000)), seconds(50));
        assert_eq!(patience(FrontEnd::Mcp, Some(1_000)), seconds(1));
        assert_eq!(patience(FrontEnd::Http, None), seconds(50));
        assert_eq!(patience(FrontEnd::CommandLine, None), None);
        assert_eq!(patience(FrontEnd::CommandLine, Some(3_600_000)), seconds(3_600));
    }
}

//! Submitting a follow-up: a task that does something with the work of a finished one. Used by `land` and `discard`.
//! It is handed to a worker like any other task, and waited for a while, because most are done at once.

use std::path::Path;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Driver, FollowUp, FollowUpAction, Notify, Patience, Refusal, State, Submission, Task};
use longhaul_git::{Git, Repository};
use longhaul_store::{Key, Stored};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::handover::Request;
use crate::home::Home;
use crate::lookup;
use crate::operation::Answer;
use crate::operations::settle;
use crate::submit::send;
use crate::views::FollowUpView;

/// How long the end of a follow-up is waited for.
const PATIENCE_MS: u64 = 10_000;

/// The finished task of this name, whose work something is to be done with.
pub(crate) async fn finished(call: &Call, wanted: &str, verb: &'static str) -> Result<Stored, AppError> {
    let stored = lookup::find_to_read(call, Some(wanted)).await?;
    let task = &stored.task;
    let why = match &task.submission.follow_up {
        _ if task.submission.driver == Driver::External => {
            "an outside program executed it, and Longhaul has none of its work"
        }
        Some(_) => "it is a follow-up; name the task that it follows",
        None if !task.state.is_final() => "it is not finished; wait for it, or end it with `longhaul cancel`",
        None => return Ok(stored),
    };
    Err(Refusal::WrongState { verb, from: task.state.name(), why }.into())
}

/// The repository that a task's project is in.
pub(crate) fn repository(home: &Home, task: &Task) -> Result<Repository, AppError> {
    let project = Path::new(&task.submission.project);
    let found = Git::open(&home.git()).and_then(|git| git.find(project));
    let found = found.map_err(|error| git_failed(&error))?;
    found.ok_or_else(|| AppError::new(ErrorKind::Conflict, format!("`{}` is not a git repository", project.display())))
}

pub(crate) fn git_failed(error: &longhaul_git::GitError) -> AppError {
    AppError::new(ErrorKind::Failure, "git failed; nothing was changed").because(error)
}

/// Submits a follow-up, which may start so many fixing sessions, and waits a while for what comes of it.
pub(crate) async fn follow_up(
    call: &Call,
    key: Option<Key>,
    finished: &Task,
    action: FollowUpAction,
    fixes: u32,
) -> Result<Answer<FollowUpView>, AppError> {
    let request = Request { key, ..Request::new(call, None, submission(finished, action, fixes)) };
    let sent = send(call, request).await?;
    if let Some(stored) = call.load(sent.task).await? {
        match settle(call, stored, Some(PATIENCE_MS)).await {
            Err(error) if error.kind != ErrorKind::TimedOut => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    let answer = ended(call, sent.task).await?;
    Ok(Answer { repeated: sent.repeated, ..answer })
}

/// A follow-up as it is now; an error if it could not do what it is for.
pub async fn ended(call: &Call, task: TaskId) -> Result<Answer<FollowUpView>, AppError> {
    let stored =
        call.load(task).await?.ok_or_else(|| AppError::new(ErrorKind::NotFound, "the task no longer exists"))?;
    match &stored.task.state {
        State::Failed { reason } => {
            let why = reason.clone().unwrap_or_else(|| "it failed".to_owned());
            Err(AppError::new(ErrorKind::Conflict, why))
        }
        _ => Ok(Answer::new(FollowUpView::of(call, &stored.task).await?)),
    }
}

/// The finished task's terms, for another purpose.
fn submission(finished: &Task, action: FollowUpAction, fixes: u32) -> Submission {
    let old = &*finished.submission;
    let follow_up = FollowUp { task: finished.id, name: old.name.clone(), action };
    Submission {
        goal: follow_up.to_string(),
        follow_up: Some(follow_up),
        driver: Driver::Supervised,
        parent: None,
        after: None,
        retry_of: None,
        reopens: None,
        inputs: Vec::new(),
        conversations: Vec::new(),
        needs_env: Vec::new(),
        notify: Notify::default(),
        patience: Patience { fix_attempts: old.patience.fix_attempts.min(fixes), once: false, ..old.patience.clone() },
        ..old.clone()
    }
}

//! A submission from below an agent session: a part of that session's task, as a child task.
//!
//! A child brings a goal, a name, criteria, constraints, input and expected files, a model and lower limits. Everything else comes from its
//! parent, as stored; the configuration of the caller does not count. The intake enforces it; here it is refused with a better reason.

use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::task::{Place, Setting, Submission, Task};

use super::files;
use super::request::Prepared;
use crate::app::Call;
use crate::caller::task_of;
use crate::config;
use crate::error::{AppError, ErrorKind};
use crate::handover::Request;
use crate::operations::SubmitInput;
use crate::submit::agent_choice;

/// What an agent asks for, on top of what its task has.
pub(crate) async fn child_request(call: &Call, input: &SubmitInput, session: SessionId) -> Result<Prepared, AppError> {
    let parent = parent(call, session).await?;
    refuse_inherited(input)?;
    let submission = submission(call, input, &parent)?;
    let request = Request::new(call, input.name.clone(), submission);
    Ok(Prepared { request, notes: Vec::new(), warnings: Vec::new() })
}

async fn parent(call: &Call, session: SessionId) -> Result<Task, AppError> {
    let stored = match task_of(call.home(), session) {
        Some(task) => call.store()?.load(task).await?,
        None => None,
    };
    stored.map(|stored| stored.task).ok_or_else(|| {
        AppError::new(ErrorKind::Conflict, "this agent session belongs to another home, so it cannot submit tasks here")
            .hint("do not change LONGHAUL_HOME inside a session")
    })
}

/// What a child task cannot set, whatever its value.
fn refuse_inherited(input: &SubmitInput) -> Result<(), AppError> {
    let given = [
        ("--workspace", input.workspace.is_some()),
        ("--base", input.base.is_some()),
        ("--profile", input.profile.is_some()),
        ("--in-place", input.in_place),
        ("--no-wait", input.no_wait),
        ("--after", input.after.is_some()),
        ("--priority", input.priority != 0),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(refused(&format!("a child task cannot set {flag}"))),
        None => Ok(()),
    }
}

fn refused(what: &str) -> AppError {
    AppError::new(ErrorKind::Conflict, format!("{what}: it inherits that from its parent"))
        .hint("drop it; a child task chooses its goal, criteria, files, model and lower limits")
}

fn submission(call: &Call, input: &SubmitInput, parent: &Task) -> Result<Submission, AppError> {
    let mut child = Submission {
        goal: input.goal.clone(),
        checks: input.checks.clone(),
        criteria: input.criteria.iter().map(|text| files::criterion(text)).collect(),
        constraints: input.constraints.clone(),
        inputs: files::inputs(call, &input.inputs)?,
        expects: files::expects(&input.expects)?,
        parent: Some(parent.id),
        ..Submission::clone(&parent.submission)
    };
    agent_choice::refuse_twice(&input.settings)?;
    let (settings, inherited) = config::changes(&input.settings)?;
    if let Some(flag) = inherited.first() {
        return Err(refused(&format!("a child task cannot set {flag}")));
    }
    for setting in settings.into_iter().chain(input.once.then_some(Setting::Once(true))) {
        if !matches!(setting, Setting::Model(_)) && !parent.submission.allows_child(&setting) {
            return Err(refused(&format!("a child task cannot set `{setting}`")));
        }
        child.set(&setting);
    }
    Ok(child)
}

/// Where a child works, and what that means for its parent.
pub(crate) async fn place_of_child(call: &Call, task: TaskId) -> Result<Option<String>, AppError> {
    let Some(stored) = call.store()?.load(task).await? else { return Ok(None) };
    let name = &stored.task.submission.name;
    Ok(Some(match stored.task.submission.place {
        Place::Worktree { .. } => format!(
            "child task {name} works in its own worktree, which starts at your last commit; when it is done, merge the branch that \
             `longhaul show {name}` names"
        ),
        Place::InPlace => format!(
            "child task {name} works in this directory, so it starts when this session has ended; end your session to let it start"
        ),
    }))
}

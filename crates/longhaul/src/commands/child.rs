//! `longhaul run` from below an agent session: submits a part of that session's task as a child task.
//!
//! A child brings a goal, a name, criteria, constraints, input and expected files, a model and lower limits. Everything else comes from its
//! parent, as stored; the configuration of the caller does not count. The intake enforces it, here it is said before.

use std::path::Path;

use longhaul_app::{Answer, Request, mint_task};
use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::task::{Action, Place, Setting, Submission, Task, permit};

use super::run::{submit, text_or_stdin, told};
use crate::cli::Run;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::task_of;
use longhaul_app::{AppError, ErrorKind};
use longhaul_app::{Call, submit::files};

/// Submits the child task; the owner of its parent will run it.
pub(super) async fn run(line: &CommandLine, args: &Run, session: SessionId) -> Result<Code, AppError> {
    if args.tmux {
        permit(&line.caller.actor, &Action::Manage("open a tmux session"))?;
    }
    let call = line.open()?;
    let parent = parent(&call, session).await?;
    refuse_flags(args)?;
    let submission = submission(args, &parent)?;
    let request = Request { id: mint_task(), name: args.name.clone(), submission, actor: call.caller.actor.clone() };
    if let Some(Answer::Refused { kind, message }) = request.refusal(&line.system.environment) {
        return Err(AppError::new(kind.into(), out::safe(&message)));
    }
    let task = submit(&call, request).await?;
    if args.detach {
        told(&call, task, args.json).await?;
    }
    tell_place(&call, task).await?;
    Ok(Code::Done)
}

async fn parent(call: &Call, session: SessionId) -> Result<Task, AppError> {
    let stored = match task_of(call.home(), session) {
        Some(task) => call.store()?.load(task).await?,
        None => None,
    };
    stored.map(|stored| stored.task).ok_or_else(|| {
        AppError::new(ErrorKind::Conflict, "this agent session belongs to another home, so it cannot submit tasks here")
            .hint("keep the value of LONGHAUL_HOME that the session has")
    })
}

/// Flags that a child task cannot set, whatever their value.
fn refuse_flags(args: &Run) -> Result<(), AppError> {
    let given = [
        ("--workspace", args.workspace != Path::new(".")),
        ("--in-place", args.in_place),
        ("--no-wait", args.no_wait),
        ("--after", args.after.is_some()),
        ("--priority", args.priority != 0),
        ("--backoff", args.backoff.is_some()),
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

/// What the child brings, on top of what its parent has.
fn submission(args: &Run, parent: &Task) -> Result<Submission, AppError> {
    let mut child = Submission {
        goal: text_or_stdin(&args.goal)?,
        checks: args.checks.clone(),
        criteria: args.criteria.iter().map(|text| files::criterion(text)).collect(),
        constraints: args.constraints.clone(),
        inputs: files::inputs(&args.inputs)?,
        expects: files::expects(&args.expects)?,
        parent: Some(parent.id),
        ..Submission::clone(&parent.submission)
    };
    for setting in args.flags.settings(args.model.as_deref())? {
        if !matches!(setting, Setting::Model(_)) && !parent.submission.allows_child(&setting) {
            return Err(refused(&format!("a child task cannot set `{setting}`")));
        }
        child.set(&setting);
    }
    Ok(child)
}

/// Where the child works, and what that means for its parent.
async fn tell_place(call: &Call, task: TaskId) -> Result<(), AppError> {
    let Some(stored) = call.store()?.load(task).await? else { return Ok(()) };
    let name = &stored.task.submission.name;
    out::note(&match stored.task.submission.place {
        Place::Worktree { .. } => format!(
            "child task {name} works in its own worktree, which starts at your last commit; when it is done, merge the branch that \
             `longhaul show {name}` names"
        ),
        Place::InPlace => format!(
            "child task {name} works in this directory, so it starts when this session has ended; end your session to let it start"
        ),
    });
    Ok(())
}

//! `longhaul run` from below an agent session: submits a part of that session's task as a child task.
//!
//! A child brings a goal, a name, criteria, constraints, input and expected files, a model and lower limits. Everything else comes from its
//! parent, as stored; the configuration of the caller does not count. The intake enforces it, here it is said before.

use std::path::Path;

use longhaul_app::{Answer, Request, mint_task};
use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::task::{Place, Submission, Task};

use super::run::{submit, text_or_stdin, told};
use super::{Opened, open, submit_args, tmux_view};
use crate::cli::Run;
use crate::config::read_flags;
use crate::error::{CliError, code_of};
use crate::exit::Code;
use crate::visibility::task_of;
use crate::{out, place};

/// Submits the child task; the owner of its parent will run it.
pub(super) async fn run(args: &Run, session: SessionId) -> Result<Code, CliError> {
    if args.tmux {
        tmux_view::permit()?;
    }
    let opened = open()?;
    let parent = parent(&opened, session).await?;
    refuse_flags(args)?;
    let submission = submission(args, &parent)?;
    let request = Request { id: mint_task(), name: args.name.clone(), submission, actor: place::actor() };
    if let Some(Answer::Refused { kind, message }) = request.refusal() {
        return Err(CliError::new(code_of(kind), out::safe(&message)));
    }
    let task = submit(&opened, request).await?;
    if args.detach {
        told(&opened, task, args.json).await?;
    }
    tell_place(&opened, task).await?;
    Ok(Code::Done)
}

async fn parent(opened: &Opened, session: SessionId) -> Result<Task, CliError> {
    let stored = match task_of(&opened.home, session) {
        Some(task) => opened.store.load(task).await?,
        None => None,
    };
    stored.map(|stored| stored.task).ok_or_else(|| {
        CliError::new(Code::Conflict, "this agent session belongs to another home, so it cannot submit tasks here")
            .hint("keep the value of LONGHAUL_HOME that the session has")
    })
}

/// Flags that a child task cannot set, whatever their value.
fn refuse_flags(args: &Run) -> Result<(), CliError> {
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

fn refused(what: &str) -> CliError {
    CliError::new(Code::Conflict, format!("{what}: it inherits that from its parent"))
        .hint("drop it; a child task chooses its goal, criteria, files, model and lower limits")
}

/// What the child brings, on top of what its parent has.
fn submission(args: &Run, parent: &Task) -> Result<Submission, CliError> {
    let flags = read_flags(&args.flags.overrides().word("model", "--model", args.model.as_deref()))?;
    let model = if args.model.is_some() { flags.model } else { parent.submission.model.clone() };
    let mut child = Submission {
        goal: text_or_stdin(&args.goal)?,
        checks: args.checks.clone(),
        criteria: args.criteria.iter().map(|text| submit_args::criterion(text)).collect(),
        constraints: args.constraints.clone(),
        inputs: submit_args::inputs(&args.inputs)?,
        expects: submit_args::expects(&args.expects)?,
        model,
        parent: Some(parent.id),
        ..Submission::clone(&parent.submission)
    };
    for setting in args.flags.settings()? {
        if !parent.submission.allows_child(&setting) {
            return Err(refused(&format!("a child task cannot set `{setting}`")));
        }
        child.set(&setting);
    }
    Ok(child)
}

/// Where the child works, and what that means for its parent.
async fn tell_place(opened: &Opened, task: TaskId) -> Result<(), CliError> {
    let Some(stored) = opened.store.load(task).await? else { return Ok(()) };
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

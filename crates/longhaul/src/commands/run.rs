//! `longhaul run`: submits a goal through a worker of its own and follows it.
//! After the submission is durable it is a viewer only; nothing of the goal is ever in argv of another process.

use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::task::Policy;
use longhaul_worker::{Answer, Handover, Request, mint_task};

use super::config::tell;
use super::{Opened, open};
use crate::cli::Run;
use crate::config::{Overrides, load};
use crate::error::{CliError, code_of};
use crate::exit::Code;
use crate::sight::task_of;
use crate::start::{Reply, hand_over};
use crate::viewer::{self, Signals};
use crate::{out, place};

pub(crate) async fn run(args: &Run) -> Result<Code, CliError> {
    let request = request(args)?;
    if let Some(Answer::Refused { kind, message }) = request.refusal() {
        return Err(CliError::new(code_of(kind), out::safe(&message)));
    }
    let opened = open()?;
    let below = request.actor.session.is_some();
    // Before the submission: a Ctrl+C that comes after it pauses the task, however early.
    let signals = if args.detach || below { None } else { Some(Signals::listen()?) };
    let task = submit(&opened, request).await?;
    match signals {
        Some(signals) => viewer::follow(&opened, task, signals).await,
        None if args.detach => told(&opened, task, args.json).await,
        None => {
            out::note("a child task was submitted; the owner of this session's task will run it");
            Ok(Code::Done)
        }
    }
}

/// Submits, and says what the worker wants the person to know.
pub(crate) async fn submit(opened: &Opened, request: Request) -> Result<TaskId, CliError> {
    let id = request.id;
    let reply = match request.actor.session {
        Some(session) => Reply::Answer(submit_child(opened, request, session).await?),
        None => hand_over(opened, &Handover::Submit(request))?,
    };
    match reply {
        Reply::Answer(Answer::Accepted { task, name, warnings }) => {
            for warning in warnings {
                out::note(&format!("warning: {}", out::safe(&warning)));
            }
            out::note(&format!("task {name} ({task}) submitted"));
            Ok(task)
        }
        Reply::Answer(Answer::Refused { kind, message }) => Err(CliError::new(code_of(kind), out::safe(&message))),
        Reply::Silence => match opened.store.load(id).await? {
            Some(_) => Ok(id),
            None => Err(CliError::new(Code::Failure, "the worker ended without an answer; nothing was submitted")
                .hint("worker.log in Longhaul's home may say why; then try again")),
        },
    }
}

/// Below an agent session no worker is started, because it would die with the session's tree.
async fn submit_child(opened: &Opened, mut request: Request, session: SessionId) -> Result<Answer, CliError> {
    request.parent = task_of(&opened.home, session);
    if request.parent.is_none() {
        return Err(CliError::new(Code::Conflict, "below an agent session of another home nothing can be submitted"));
    }
    Ok(request.commit_unclaimed(&*opened.store).await)
}

fn request(args: &Run) -> Result<Request, CliError> {
    let place = place::place(&args.workspace)?;
    let overrides = Overrides::default().word("agent", "--agent", args.agent.as_deref()).word(
        "model",
        "--model",
        args.model.as_deref(),
    );
    let loaded = load(&place.project, &overrides)?;
    tell(&loaded.notices);
    let defaults = Policy::default();
    Ok(Request {
        id: mint_task(),
        goal: goal(&args.goal)?,
        name: args.name.clone(),
        project: utf8(&place.project)?,
        workspace: utf8(&place.directory)?,
        agent: loaded.settings.agent,
        model: loaded.settings.model,
        parent: None,
        policy: Policy {
            attempts: args.attempts.unwrap_or(defaults.attempts),
            backoff_ms: args.backoff.unwrap_or(defaults.backoff_ms),
            silence_ms: args.silence.or(defaults.silence_ms),
            wall_ms: args.wall.or(defaults.wall_ms),
            ..defaults
        },
        actor: place::actor(),
    })
}

fn goal(text: &str) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    std::io::read_to_string(std::io::stdin().lock())
        .map_err(|error| CliError::new(Code::Usage, "cannot read the goal from standard input").because(&error))
}

/// Paths are stored as text; one that is none is refused rather than stored wrongly.
pub(crate) fn utf8(path: &std::path::Path) -> Result<String, CliError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        CliError::new(Code::Usage, format!("`{}` is not UTF-8", path.display())).hint("rename the directory")
    })
}

async fn told(opened: &Opened, task: TaskId, json: bool) -> Result<Code, CliError> {
    let Some(stored) = opened.store.load(task).await? else {
        return Err(CliError::new(Code::NotFound, "the task is gone"));
    };
    let name = stored.task.submission.name.to_string();
    if json {
        out::json("submitted", &serde_json::json!({ "task": task, "name": name }));
    } else {
        out::data(&name);
        out::note(&format!("follow it with `longhaul logs -f {name}`, wait for it with `longhaul wait {name}`"));
    }
    Ok(Code::Done)
}

//! `longhaul run`: submits a goal through a worker and follows it. Below an agent session it submits a child task instead.
//! After the submission is durable it is a viewer only; nothing of the goal is ever in argv of another process.

use std::collections::BTreeMap;

use longhaul_app::{Answer, Handover, Request, mint_task};
use longhaul_core::ids::TaskId;
use longhaul_core::names::TaskName;
use longhaul_core::task::{Action, Patience, Submission, permit};

use super::config::tell;
use super::{child, tmux_view};
use crate::cli::Run;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::{self, Signals, Viewing};
use longhaul_app::Project;
use longhaul_app::config::{Settings, Sources};
use longhaul_app::directory_wait::DirectoryWait;
use longhaul_app::submit::files::utf8;
use longhaul_app::{AppError, ErrorKind};
use longhaul_app::{
    Call, submit::agent_choice, submit::declared, submit::files, submit::unchosen_agent, submit::workspace_choice,
};
use longhaul_app::{Reply, hand_over};
use longhaul_app::{lookup, prompt_files, submit::notify_targets, usual_span};

pub(crate) async fn run(line: &CommandLine, args: &Run) -> Result<Code, AppError> {
    if let Some(session) = line.caller.actor.session {
        return child::run(line, args, session).await;
    }
    let place = Project::of(&args.workspace)?;
    if args.tmux {
        permit(&line.caller.actor, &Action::Manage("open a tmux session"))?;
    }
    let (settings, unchosen) = settings(line, args, &place)?;
    let (in_place, tables) = (settings.workspace.in_place, settings.agents.clone());
    let mut submission = submission(line, args, &place, settings).await?;
    warn(&declared::fill(&mut submission, &tables));
    // A flag counts before what the configuration declares about an agent.
    args.flags.settings(None)?.iter().for_each(|setting| submission.set(setting));
    warn(args.flags.agents.judge(&submission)?.as_slice());
    let actor = line.caller.actor.clone();
    let mut request = Request { id: mint_task(), name: args.name.clone(), submission, actor };
    if let Some(Answer::Refused { kind, message }) = request.refusal(&line.system.environment) {
        return Err(AppError::new(kind.into(), out::safe(&message)));
    }
    let call = line.open()?;
    if !in_place {
        let (chosen, notes) = workspace_choice::choose(&place.root, call.home())?;
        notes.iter().for_each(|note| out::note(note));
        request.submission.place = chosen;
    }
    if let Some(directory) = request.submission.directory() {
        tell_directory(&call, directory, args.no_wait).await?;
    }
    // Before the submission: a Ctrl+C that comes after it pauses the task, however early.
    let signals = if args.detach || args.tmux { None } else { Some(Signals::listen()?) };
    let (agent, project) = (request.submission.agent.clone(), request.submission.project.clone());
    let task = submit(&call, request).await?;
    out::note(&usual_span::sentence(&call, &agent, &project).await);
    unchosen.iter().for_each(|warning| out::note(warning));
    match signals {
        Some(signals) => viewer::follow(&call, task, signals, Viewing::whole(args.json)).await,
        None if args.tmux => tmux_view::open(&call, task).await,
        None => told(&call, task, args.json).await,
    }
}

/// Who works in the directory already, and so goes first.
async fn tell_directory(call: &Call, directory: &str, no_wait: bool) -> Result<(), AppError> {
    let Some(taken) = DirectoryWait::in_directory(call, directory).await? else { return Ok(()) };
    let who = out::safe(&taken.who());
    if no_wait {
        let what = format!("{who} works in this directory, a parent or a subdirectory, and --no-wait was given");
        let hint = "nothing was submitted; without --no-wait the task waits until the directory is free";
        let hint = taken.help().unwrap_or_else(|| hint.to_owned());
        return Err(AppError::new(ErrorKind::Conflict, what).hint(out::safe(&hint)));
    }
    out::note(&format!(
        "{who} works in this directory, a parent or a subdirectory: the new task waits until it is finished"
    ));
    Ok(())
}

/// Says what a person should know.
pub(crate) fn warn(warnings: &[String]) {
    warnings.iter().for_each(|warning| out::note(&format!("warning: {}", out::safe(warning))));
}

/// Submits, and says what the worker wants the person to know.
pub(crate) async fn submit(call: &Call, request: Request) -> Result<TaskId, AppError> {
    let id = request.id;
    let reply = match request.actor.session {
        // No worker is started, because it would die with the session's tree: the owner of the parent takes it.
        Some(_) => {
            Reply::Answer(request.commit_unclaimed(call.store()?, call.home(), &call.app.system.environment).await)
        }
        None => hand_over(call, &Handover::Submit(Box::new(request)), id, None).await?,
    };
    match reply {
        Reply::Answer(Answer::Accepted { task, name, warnings }) => {
            warn(&warnings);
            out::note(&format!("task {name} ({task}) submitted"));
            Ok(task)
        }
        Reply::Answer(Answer::Refused { kind, message }) => Err(AppError::new(kind.into(), out::safe(&message))),
        Reply::Silence => match call.store()?.load(id).await? {
            Some(_) => Ok(id),
            None => Err(AppError::new(ErrorKind::Failure, "the worker ended without an answer; nothing was submitted")
                .hint("worker.log in Longhaul's home may say why; then try again")),
        },
    }
}

/// The settings, and what to say when nobody chose an agent.
fn settings(line: &CommandLine, args: &Run, place: &Project) -> Result<(Settings, Option<String>), AppError> {
    args.flags.agents.refuse_twice()?;
    let overrides = args
        .flags
        .overrides()
        .word("model", "--model", args.model.as_deref())
        .word("limits.backoff", "--backoff", args.backoff.as_deref())
        .flag("workspace.in_place", "--in-place", args.in_place);
    let loaded = line.load(&place.root, &overrides)?;
    tell(&loaded.notices);
    let unchosen = unchosen_agent::warning(&line.system.environment, &line.caller, &loaded);
    Ok((loaded.settings, unchosen))
}

async fn submission(
    line: &CommandLine,
    args: &Run,
    place: &Project,
    settings: Settings,
) -> Result<Submission, AppError> {
    let provisional =
        TaskName::new("provisional").map_err(|error| AppError::new(ErrorKind::Usage, error.to_string()))?;
    let directory = utf8(&place.directory)?;
    let bare = Submission::new(text_or_stdin(&args.goal)?, provisional, directory, settings.agent.clone());
    let after = match &args.after {
        Some(other) => Some(lookup::find(&line.open_existing()?, Some(other)).await?.task.id),
        None => None,
    };
    Ok(Submission {
        project: utf8(&place.root)?,
        fallbacks: agent_choice::others(&settings.agent, &settings.fallbacks),
        sandbox: settings.sandbox,
        network: settings.network,
        context: settings.session.context,
        on_limit: settings.session.on_limit,
        hours: settings.session.hours,
        prompts: prompts(line, place, &settings)?,
        notify: notify_targets::notify(&settings.notify),
        patience: Patience { once: args.flags.once, ..settings.patience },
        checks: [settings.verify.commands, args.checks.clone()].concat(),
        checks_in: settings.verify.checks_in,
        setup: settings.workspace.setup,
        criteria: args.criteria.iter().map(|text| files::criterion(text)).collect(),
        constraints: args.constraints.clone(),
        inputs: files::inputs(&args.inputs)?,
        expects: files::expects(&args.expects)?,
        model: settings.model,
        needs_env: settings.env.need,
        secret_names: settings.redact.extra,
        env_only: settings.env.only,
        priority: args.priority,
        after,
        ..bare
    })
}

/// The templates in place of the built-in ones, with a word about each: they decide what agents are told.
fn prompts(line: &CommandLine, place: &Project, settings: &Settings) -> Result<BTreeMap<String, String>, AppError> {
    let prompts = prompt_files::read(&Sources::of(&line.system.environment, &line.caller, &place.root)?, settings)?;
    for (name, path) in &prompts.files {
        out::note(&format!("prompt {name}: {}", out::safe(&path.display().to_string())));
    }
    Ok(prompts.templates)
}

/// A text of the command line; `-` reads it from standard input.
pub(crate) fn text_or_stdin(text: &str) -> Result<String, AppError> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    std::io::read_to_string(std::io::stdin().lock())
        .map_err(|error| AppError::new(ErrorKind::Usage, "cannot read standard input").because(&error))
}

/// Tells a detached caller how to go on.
pub(super) async fn told(call: &Call, task: TaskId, json: bool) -> Result<Code, AppError> {
    let Some(stored) = call.store()?.load(task).await? else {
        return Err(AppError::new(ErrorKind::NotFound, "the task is gone"));
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

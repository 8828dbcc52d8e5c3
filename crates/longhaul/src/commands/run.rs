//! `longhaul run`: submits a goal through a worker and follows it. Below an agent session it submits a child task instead.
//! After the submission is durable it is a viewer only; nothing of the goal is ever in argv of another process.

use std::collections::BTreeMap;

use longhaul_core::ids::TaskId;
use longhaul_core::names::TaskName;
use longhaul_core::task::{Patience, Submission};
use longhaul_worker::{Answer, Handover, Request, mint_task};

use super::config::tell;
use super::{Opened, child, declared, open, open_existing, submit_args, tmux_view, unchosen_agent, workspace_choice};
use crate::cli::Run;
use crate::config::{Settings, Sources, load};
use crate::directories::DirectoryWait;
use crate::error::{CliError, code_of};
use crate::exit::Code;
use crate::place::Place;
use crate::start::{Reply, hand_over};
use crate::viewer::{self, Signals};
use crate::{agent_flags, lookup, notify_targets, out, place, prompt_files, task_flags, usual_span};

pub(crate) async fn run(args: &Run) -> Result<Code, CliError> {
    if let Some(session) = place::actor().session {
        return child::run(args, session).await;
    }
    let place = place::place(&args.workspace)?;
    if args.tmux {
        tmux_view::permit()?;
    }
    let (settings, unchosen) = settings(args, &place)?;
    let (in_place, tables) = (settings.workspace.in_place, settings.agents.clone());
    let mut submission = submission(args, &place, settings).await?;
    declared::fill(&mut submission, &tables);
    // A flag counts before what the configuration declares about an agent.
    args.flags.settings()?.iter().for_each(|setting| submission.set(setting));
    if let Some(warning) = args.flags.agents.judge(&submission)? {
        out::note(&format!("warning: {}", out::safe(&warning)));
    }
    let mut request = Request { id: mint_task(), name: args.name.clone(), submission, actor: place::actor() };
    if let Some(Answer::Refused { kind, message }) = request.refusal() {
        return Err(CliError::new(code_of(kind), out::safe(&message)));
    }
    let opened = open()?;
    if !in_place {
        request.submission.place = workspace_choice::choose(&place.project, &opened.home)?;
    }
    if let Some(directory) = request.submission.directory() {
        tell_directory(&opened, directory, args.no_wait).await?;
    }
    // Before the submission: a Ctrl+C that comes after it pauses the task, however early.
    let signals = if args.detach || args.tmux { None } else { Some(Signals::listen()?) };
    let (agent, project) = (request.submission.agent.clone(), request.submission.project.clone());
    let task = submit(&opened, request).await?;
    usual_span::tell(&opened, &agent, &project).await;
    unchosen.iter().for_each(|warning| out::note(warning));
    match signals {
        Some(signals) => viewer::follow(&opened, task, signals).await,
        None if args.tmux => tmux_view::open(&opened, task).await,
        None => told(&opened, task, args.json).await,
    }
}

/// Who works in the directory already, and so goes first.
async fn tell_directory(opened: &Opened, directory: &str, no_wait: bool) -> Result<(), CliError> {
    let Some(taken) = DirectoryWait::in_directory(opened, directory).await? else { return Ok(()) };
    let who = out::safe(&taken.who());
    if no_wait {
        let what = format!("{who} works in this directory, a parent or a subdirectory, and --no-wait was given");
        let hint = "nothing was submitted; without --no-wait the task waits until the directory is free";
        let hint = taken.help().unwrap_or_else(|| hint.to_owned());
        return Err(CliError::new(Code::Conflict, what).hint(out::safe(&hint)));
    }
    out::note(&format!(
        "{who} works in this directory, a parent or a subdirectory: the new task waits until it is finished"
    ));
    Ok(())
}

/// Submits, and says what the worker wants the person to know.
pub(crate) async fn submit(opened: &Opened, request: Request) -> Result<TaskId, CliError> {
    let id = request.id;
    let reply = match request.actor.session {
        // No worker is started, because it would die with the session's tree: the owner of the parent takes it.
        Some(_) => Reply::Answer(request.commit_unclaimed(&*opened.store, &opened.home).await),
        None => {
            let is_stored = async || Ok(opened.store.load(id).await?.is_some());
            hand_over(opened, &Handover::Submit(Box::new(request)), is_stored).await?
        }
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

/// The settings, and what to say when nobody chose an agent.
fn settings(args: &Run, place: &Place) -> Result<(Settings, Option<String>), CliError> {
    args.flags.agents.refuse_twice()?;
    let overrides = args
        .flags
        .overrides()
        .word("model", "--model", args.model.as_deref())
        .word("limits.backoff", "--backoff", args.backoff.as_deref())
        .flag("workspace.in_place", "--in-place", args.in_place);
    let loaded = load(&place.project, &overrides)?;
    tell(&loaded.notices);
    let unchosen = unchosen_agent::warning(&loaded);
    Ok((loaded.settings, unchosen))
}

async fn submission(args: &Run, place: &Place, settings: Settings) -> Result<Submission, CliError> {
    let provisional = TaskName::new("provisional").map_err(|error| CliError::new(Code::Usage, error.to_string()))?;
    let directory = utf8(&place.directory)?;
    let bare = Submission::new(text_or_stdin(&args.goal)?, provisional, directory, settings.agent.clone());
    let after = match &args.after {
        Some(other) => Some(lookup::find(&open_existing()?, Some(other)).await?.task.id),
        None => None,
    };
    Ok(Submission {
        project: utf8(&place.project)?,
        fallbacks: agent_flags::others(&settings.agent, &settings.fallbacks),
        sandbox: settings.sandbox,
        network: settings.network,
        context: settings.session.context,
        on_limit: settings.session.on_limit,
        hours: settings.session.hours,
        prompts: prompts(place, &settings)?,
        notify: notify_targets::notify(&settings.notify),
        patience: Patience { once: args.flags.once, ..task_flags::patience(&settings) },
        checks: [settings.verify.commands, args.checks.clone()].concat(),
        checks_in: settings.verify.checks_in,
        setup: settings.workspace.setup,
        criteria: args.criteria.iter().map(|text| submit_args::criterion(text)).collect(),
        constraints: args.constraints.clone(),
        inputs: submit_args::inputs(&args.inputs)?,
        expects: submit_args::expects(&args.expects)?,
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
fn prompts(place: &Place, settings: &Settings) -> Result<BTreeMap<String, String>, CliError> {
    let prompts = prompt_files::read(&Sources::of_process(&place.project)?, settings)?;
    for (name, path) in &prompts.files {
        out::note(&format!("prompt {name}: {}", out::safe(&path.display().to_string())));
    }
    Ok(prompts.templates)
}

/// A text of the command line; `-` reads it from standard input.
pub(crate) fn text_or_stdin(text: &str) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    std::io::read_to_string(std::io::stdin().lock())
        .map_err(|error| CliError::new(Code::Usage, "cannot read standard input").because(&error))
}

/// Paths are stored as text; one that is none is refused rather than stored wrongly.
pub(crate) fn utf8(path: &std::path::Path) -> Result<String, CliError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        CliError::new(Code::Usage, format!("`{}` is not UTF-8", path.display())).hint("rename the directory")
    })
}

/// Tells a detached caller how to go on.
pub(super) async fn told(opened: &Opened, task: TaskId, json: bool) -> Result<Code, CliError> {
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

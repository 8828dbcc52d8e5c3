//! A person's submission, from a request and the configuration of the project. Creates nothing.
//! Called by the operation `submit`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use longhaul_core::names::TaskName;
use longhaul_core::task::{Patience, Right, Submission};

use super::changes::FREE;
use super::{agent_choice, declared, default_agent, files, notify_targets, workspace_choice};
use crate::app::Call;
use crate::config::{self, FreeKeys, Overrides, Profile, Settings, Sources};
use crate::copied_files;
use crate::directory_wait::DirectoryWait;
use crate::error::{AppError, ErrorKind};
use crate::handover::Request;
use crate::operation::FrontEnd;
use crate::operations::SubmitInput;
use crate::project::Project;
use crate::{lookup, prompt_files};

/// A request, and what a person should know about it.
pub(crate) struct Prepared {
    pub(crate) request: Request,
    pub(crate) notes: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// What a person asks for, with the rest from the configuration, and whether it is to work in the person's own checkout.
pub(crate) async fn person_request(call: &Call, input: &SubmitInput) -> Result<(Prepared, bool), AppError> {
    agent_choice::refuse_twice(&input.settings)?;
    call.permit_settings(&input.settings)?;
    let workspace = input.workspace.as_deref().unwrap_or(Path::new("."));
    let project = call.project_at(workspace)?;
    let (environment, caller) = (&call.app.system.environment, &call.caller);
    let overrides = Overrides::of(&input.settings)?.with_profile(profile(call, input));
    let loaded = config::load(environment, caller, &project.root, &overrides)?;
    let mut warnings: Vec<String> = loaded.warnings().collect();
    let settings = loaded.settings;
    refuse_missing_variables(call, &settings.env.need)?;
    let (tables, in_place) = (settings.agents.clone(), settings.workspace.in_place || input.in_place);
    let prompts = prompt_files::read(&Sources::of(environment, caller, &project.root)?, &settings)?;
    let mut notes: Vec<String> = prompts.files.iter().map(prompt_note).collect();
    let agent = match settings.agent.clone() {
        Some(agent) if input.no_preflight => agent,
        Some(agent) => {
            default_agent::refuse_unusable(call, &agent, &tables).await?;
            agent
        }
        None => {
            let (agent, note) = default_agent::pick(call, &files::utf8(&project.root)?, &tables).await?;
            notes.push(note);
            agent
        }
    };
    let mut submission = submission(call, input, &project, settings, agent, prompts.templates).await?;
    warnings.extend(declared::fill(&mut submission, &tables));
    // A flag counts before what the configuration declares about an agent.
    config::changes(&input.settings)?.0.iter().for_each(|setting| submission.set(setting));
    warnings.extend(agent_choice::check_switch(&submission, &input.settings)?);
    let request = Request::new(call, input.name.clone(), submission);
    Ok((Prepared { request, notes, warnings }, in_place))
}

/// The profile, of which a caller without the right to approve gets only what it could choose itself.
fn profile(call: &Call, input: &SubmitInput) -> Option<Profile> {
    let free = if call.caller.rights.include(Right::Approve) { FreeKeys::All } else { FreeKeys::Only(&FREE) };
    input.profile.clone().map(|name| Profile { name, free })
}

/// Refuses a task whose agent would miss a variable. Some MCP clients start their servers with an almost empty environment, and nobody sees it;
/// a person at a shell may set the variable where the worker runs.
fn refuse_missing_variables(call: &Call, needed: &[String]) -> Result<(), AppError> {
    let is_missing = |name: &&String| call.app.system.environment.get(name).is_none();
    let missing: Vec<String> = needed.iter().filter(is_missing).map(|name| format!("`{name}`")).collect();
    if call.caller.channel != FrontEnd::Mcp || missing.is_empty() {
        return Ok(());
    }
    let what = format!("the task needs variables that the MCP client did not pass on: {}", missing.join(", "));
    Err(AppError::new(ErrorKind::Usage, what)
        .hint("add them to the environment of this server in the client's settings"))
}

/// Templates are instructions to agents, so a person sees which are used.
fn prompt_note((name, path): (&String, &PathBuf)) -> String {
    format!("prompt {name}: {}", path.display())
}

async fn submission(
    call: &Call,
    input: &SubmitInput,
    project: &Project,
    settings: Settings,
    agent: String,
    prompts: BTreeMap<String, String>,
) -> Result<Submission, AppError> {
    let provisional =
        TaskName::new("provisional").map_err(|error| AppError::new(ErrorKind::Usage, error.to_string()))?;
    let directory = files::utf8(&project.directory)?;
    let bare = Submission::new(input.goal.clone(), provisional, directory, agent.clone());
    let after = match &input.after {
        Some(other) => Some(lookup::find_executed(call, Some(other)).await?.task.id),
        None => None,
    };
    Ok(Submission {
        project: files::utf8(&project.root)?,
        fallbacks: agent_choice::others(&agent, &settings.fallbacks),
        sandbox: settings.sandbox,
        network: settings.network,
        context: settings.session.context,
        on_limit: settings.session.on_limit,
        hours: settings.session.hours,
        prompts,
        notify: notify_targets::notify(&settings.notify, &call.app.system.environment),
        patience: Patience { once: input.once, ..settings.patience },
        checks: [settings.verify.commands, input.checks.clone()].concat(),
        checks_in: settings.verify.checks_in,
        setup: settings.workspace.setup,
        copy: settings.workspace.copy,
        criteria: input.criteria.iter().map(|text| files::criterion(text)).collect(),
        constraints: input.constraints.clone(),
        inputs: files::inputs(call, &input.inputs)?,
        expects: files::expects(&input.expects)?,
        model: settings.model,
        needs_env: settings.env.need,
        secret_names: settings.redact.extra,
        env_only: settings.env.only,
        priority: input.priority,
        after,
        ..bare
    })
}

/// Gives the task its own worktree where git allows it, and reports who already works in the directory otherwise.
pub(crate) async fn choose_place(
    call: &Call,
    prepared: &mut Prepared,
    input: &SubmitInput,
    in_place: bool,
) -> Result<(), AppError> {
    let submission = &mut prepared.request.submission;
    let base = input.base.as_deref();
    if in_place && base.is_some() {
        let what = "a task that works in place starts from what is checked out, so it cannot have another base";
        return Err(AppError::new(ErrorKind::Usage, what).hint("leave out --base, or --in-place"));
    }
    if !in_place {
        let (chosen, notes) = workspace_choice::choose(call, Path::new(&submission.project), base)?;
        submission.place = chosen;
        submission.destination = workspace_choice::destination(call, Path::new(&submission.project), base);
        prepared.notes.extend(notes);
        prepared.notes.extend(copied_files::preview(call, submission)?);
    }
    let Some(directory) = submission.directory() else { return Ok(()) };
    let Some(taken) = DirectoryWait::in_directory(call, directory).await? else { return Ok(()) };
    let who = taken.who();
    if input.no_wait {
        let what = format!("{who} works in this directory, a parent or a subdirectory, and --no-wait was given");
        let hint = "nothing was submitted; without --no-wait the task waits until the directory is free";
        return Err(AppError::new(ErrorKind::Conflict, what).hint(taken.help().unwrap_or_else(|| hint.to_owned())));
    }
    prepared.notes.push(format!(
        "{who} works in this directory, a parent or a subdirectory: the new task waits until it is finished"
    ));
    Ok(())
}

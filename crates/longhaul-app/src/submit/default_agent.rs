//! Which agent works on a new task that names none, and whether the one it names can work at all.
//! Decided before anything is stored, so that every front end refuses in the same way. The demo agent is never picked.

use std::collections::BTreeMap;

use longhaul_agents::choose;
use longhaul_store::Filter;
use serde_json::Value;

use crate::agent_readiness::{self, Candidate, Readiness};
use crate::app::Call;
use crate::blocking;
use crate::choices::Choices;
use crate::error::{AppError, ErrorKind};
use crate::text;

/// How many of a project's tasks are looked at for the agent last used.
const RECENT: u32 = 50;

/// Picks an agent, and says which and why.
pub(super) async fn pick(
    call: &Call,
    project: &str,
    tables: &BTreeMap<String, Value>,
) -> Result<(String, String), AppError> {
    let (here, tables) = (call.clone(), tables.clone());
    let all = blocking(move || agent_readiness::of_all(&here, &tables)).await;
    let of = |readiness| all.iter().filter(move |one| one.readiness == readiness).map(|one| one.name.clone());
    let (ready, unknown): (Vec<String>, Vec<String>) =
        (of(Readiness::Ready).collect(), of(Readiness::Unknown).collect());
    let (usable, what) = match ready.is_empty() {
        false => (ready, "that is installed and logged in"),
        true => (unknown, "that is installed; whether it is logged in is unknown"),
    };
    match usable.as_slice() {
        [] => Err(none_usable(&all)),
        [only] => Ok((only.clone(), format!("using {only}, the only agent {what}"))),
        several => match last_used(call, project, several).await? {
            Some(agent) => {
                let note = format!("using {agent}, the agent last used in this project; `--agent` chooses another");
                Ok((agent, note))
            }
            None => Err(several_usable(several)),
        },
    }
}

async fn last_used(call: &Call, project: &str, usable: &[String]) -> Result<Option<String>, AppError> {
    let newest = Filter { project: Some(project.to_owned()), limit: Some(RECENT), ..Filter::default() };
    match call.summaries(newest).await {
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        found => Ok(found?.tasks.into_iter().map(|task| task.agent).find(|agent| usable.contains(agent))),
    }
}

fn several_usable(usable: &[String]) -> AppError {
    let first = &usable[0];
    AppError::new(ErrorKind::Usage, format!("several agents can work here: {}", usable.join(", ")))
        .hint(format!("choose one with `--agent {first}`, or for every task with `longhaul config set agent {first}`"))
        .coded("agent_not_chosen")
        .choose(Choices::of_agents(usable))
}

fn none_usable(all: &[Candidate]) -> AppError {
    let error = AppError::new(ErrorKind::Usage, "no agent is installed and logged in").coded("no_usable_agent");
    let lines = all.iter().map(|one| {
        let state = if one.readiness == Readiness::NotLoggedIn { "not logged in" } else { "not installed" };
        format!("{}: {state}; {}", text::safe(&one.name), one.help)
    });
    lines.fold(error, AppError::hint).hint("`longhaul demo` shows how a task runs, without any agent")
}

/// Refuses a named agent that certainly cannot work. What is unknown passes.
pub(super) async fn refuse_unusable(call: &Call, name: &str, tables: &BTreeMap<String, Value>) -> Result<(), AppError> {
    let Ok(agent) = choose(name, tables) else { return Ok(()) };
    let here = call.clone();
    let Some(one) = blocking(move || agent_readiness::of_one(&here, &agent)).await else { return Ok(()) };
    let what = match one.readiness {
        Readiness::Ready | Readiness::Unknown => return Ok(()),
        Readiness::NotLoggedIn => "is not logged in",
        Readiness::NotInstalled => "is not installed",
    };
    Err(AppError::new(ErrorKind::Usage, format!("the agent `{}` {what}; nothing was submitted", text::safe(name)))
        .hint(one.help)
        .hint("`longhaul agents` shows every agent; `--no-preflight` submits anyway")
        .coded("agent_not_usable"))
}

//! What the configuration declares about the agents that a task names, as the task stores it: a worker without this configuration
//! continues with it. Filled in by `run`, read again by `retry` and by every change of the agents.

use std::collections::BTreeMap;
use std::path::Path;

use crate::needs_env;
use longhaul_core::task::{Setting, Submission};
use serde_json::Value;

use crate::caller::Caller;
use crate::config::{Overrides, load};
use crate::error::{AppError, ErrorKind};
use longhaul_keeper::Environment;

/// The tables of the agents that a new task names, and a word where one of them cannot do what was asked.
pub(crate) fn fill(submission: &mut Submission, tables: &BTreeMap<String, Value>) -> Vec<String> {
    submission.declared = named(submission, tables);
    let without_model =
        |name: &&str| longhaul_agents::choose(name, &submission.declared).is_ok_and(|agent| !agent.takes_model());
    let named = submission.agents().filter(|_| submission.model.is_some()).filter(without_model);
    named.map(|name| format!("`{name}` gets no model: its `argv` has no `{{model}}`")).collect()
}

/// The same for a task that was there: tables of now, and of then where the configuration of now does not know the agent.
pub(crate) fn refreshed(
    environment: &Environment,
    caller: &Caller,
    submission: &Submission,
) -> Result<BTreeMap<String, Value>, AppError> {
    let now = load(environment, caller, Path::new(&submission.project), &Overrides::default())?.settings.agents;
    let gone = submission.declared.iter().filter(|(name, _)| longhaul_agents::find(name).is_err());
    let mut known: BTreeMap<String, Value> = gone.map(|(name, table)| (name.clone(), table.clone())).collect();
    known.extend(now);
    for name in submission.agents() {
        longhaul_agents::choose(name, &known).map_err(|unknown| {
            AppError::new(ErrorKind::Usage, unknown.to_string()).hint("`longhaul agents` lists all agents")
        })?;
    }
    Ok(named(submission, &known))
}

/// What follows from a change of a task's agents: what is declared about them now is stored with it, and which variables they need.
pub(crate) fn complete(
    environment: &Environment,
    caller: &Caller,
    before: &Submission,
    after: &mut Submission,
    settings: &mut Vec<Setting>,
) -> Result<(), AppError> {
    if !settings.iter().any(|setting| matches!(setting, Setting::Agent(_) | Setting::Fallbacks(_))) {
        return Ok(());
    }
    let declared = refreshed(environment, caller, after)?;
    if declared != after.declared {
        after.declared.clone_from(&declared);
        settings.push(Setting::Declared(declared));
    }
    let needed = needs_env(environment, before, after);
    if needed != after.needs_env {
        after.needs_env.clone_from(&needed);
        settings.push(Setting::NeedsEnv(needed));
    }
    Ok(())
}

fn named(submission: &Submission, tables: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    submission
        .agents()
        .filter_map(|name| tables.get_key_value(name))
        .map(|(name, table)| (name.clone(), table.clone()))
        .collect()
}

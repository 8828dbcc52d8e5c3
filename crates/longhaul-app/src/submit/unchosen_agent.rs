//! The warning of `run` when no agent was chosen: the built-in demo agent only simulates work, and a person may not expect that.
//! Looks for programs on PATH and asks them nothing.

use crate::caller::Caller;
use crate::config::{Loaded, Origin};
use crate::{agent_status, text};
use longhaul_keeper::Environment;

/// The warning when no flag, variable or file chose the agent. Inside a session nobody who could choose would read it.
pub(super) fn warning(environment: &Environment, caller: &Caller, loaded: &Loaded) -> Option<String> {
    if loaded.origins["agent"] != Origin::Default || caller.actor.session.is_some() {
        return None;
    }
    let agent = &loaded.settings.agent;
    let found = found(environment, loaded);
    let others = match found.is_empty() {
        true => "no other agent is installed; `longhaul agents` shows how to install one".to_owned(),
        false => format!("installed agents: {}", text::safe(&found.join(", "))),
    };
    let example = found.first().map_or("codex", String::as_str);
    Some(format!(
        "no agent is chosen: the built-in `{agent}` agent only simulates work and ignores your goal; {others}; choose one with \
         `--agent {example}`, or permanently with the key `agent` (`longhaul config`)"
    ))
}

/// The agents whose program is installed.
fn found(environment: &Environment, loaded: &Loaded) -> Vec<String> {
    let mut agents = agent_status::every(&loaded.settings.agents);
    agents.retain(|agent| agent.program().is_some_and(|program| environment.find_program(program).is_some()));
    agents.iter().map(|agent| agent.about().name.to_string()).collect()
}

//! An agent as a task has chosen it: the agent's file or its declaration, what a person declared about it, and the account it uses.
//! Found by name for every session, from the table and from what the task stored at submit. An unknown name is an error that lists the
//! known names, declared ones included.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Deref;
use std::sync::Arc;

use longhaul_core::edit_distance::distance;
use serde_json::Value;

use crate::AGENTS;
use crate::agent::Agent;
use crate::custom::Custom;
use crate::declared::{BadDeclaration, Declared};

/// No usable agent has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownAgent {
    /// The name is unknown.
    #[error("unknown agent `{name}`; known: {}", known.join(", "))]
    Name {
        /// What was asked for.
        name: String,
        /// What there is, nearest first.
        known: Vec<String>,
    },
    /// It was declared in a way that this version cannot read.
    #[error("the declaration of agent `{name}` is invalid: {why}")]
    Unreadable {
        /// Which.
        name: String,
        /// What is wrong with it.
        #[source]
        why: Box<BadDeclaration>,
    },
}

/// An agent with what was declared about it.
#[derive(Clone)]
pub struct Chosen {
    agent: Origin,
    declared: Declared,
}

#[derive(Clone)]
enum Origin {
    BuiltIn(&'static dyn Agent),
    Custom(Arc<Custom>),
}

impl Chosen {
    /// What was declared about it.
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// Whether it is not built in.
    pub fn is_custom(&self) -> bool {
        matches!(self.agent, Origin::Custom(_))
    }

    /// Whether a model can be chosen for it.
    pub fn takes_model(&self) -> bool {
        match &self.agent {
            Origin::BuiltIn(_) => true,
            Origin::Custom(agent) => agent.takes_model(),
        }
    }

    /// The program to run, by its name on PATH or by its path; `None` if it is this binary.
    pub fn program(&self) -> Option<&str> {
        self.declared.program.as_deref().or(self.about().program.as_deref())
    }
}

impl Deref for Chosen {
    type Target = dyn Agent;

    fn deref(&self) -> &Self::Target {
        match &self.agent {
            Origin::BuiltIn(agent) => *agent,
            Origin::Custom(agent) => &**agent,
        }
    }
}

/// The built-in agent with this name, or an error with the known names.
pub fn find(name: &str) -> Result<&'static dyn Agent, UnknownAgent> {
    let found = AGENTS.iter().copied().find(|agent| agent.about().name == name);
    found.ok_or_else(|| unknown(name, std::iter::empty()))
}

/// The agent with this name and what was declared about it: a built-in one first, else a declared one, else an error with the known names.
pub fn choose(name: &str, declared: &BTreeMap<String, Value>) -> Result<Chosen, UnknownAgent> {
    let built_in = find(name).ok();
    let table = declared.get(name);
    let declared = match table {
        Some(table) => Declared::read(name, table)
            .map_err(|why| UnknownAgent::Unreadable { name: name.to_owned(), why: Box::new(why) })?,
        None if built_in.is_some() => Declared::default(),
        None => return Err(unknown(name, declared.keys().map(String::as_str))),
    };
    match (built_in, &declared.custom) {
        (Some(agent), _) => Ok(Chosen { agent: Origin::BuiltIn(agent), declared }),
        (None, Some(custom)) => Ok(Chosen { agent: Origin::Custom(custom.clone()), declared }),
        (None, None) => Err(unknown(name, std::iter::empty())),
    }
}

/// The error with all known names, declared ones included.
fn unknown<'a>(name: &str, declared: impl Iterator<Item = &'a str>) -> UnknownAgent {
    let mut known: Vec<String> = AGENTS.iter().map(|agent| agent.about().name.to_string()).collect();
    known.extend(declared.map(str::to_owned));
    known.sort_by_key(|candidate| distance(candidate, name));
    UnknownAgent::Name { name: name.to_owned(), known }
}

/// Which account an agent works with, as far as its environment shows, in words that people can read: a usage limit belongs to it and is
/// shared by all tasks that use it. Made of the agent's name, the model that was asked for, the directories that hold its login, and the
/// names of its other variables that are set; the variables are those the agent will see. Never of a key, not even a digest: two keys
/// under one name count as one account.
pub fn account(agent: &Chosen, model: Option<&str>, variable: &dyn Fn(&str) -> Option<OsString>) -> String {
    let about = agent.about();
    let chosen = model.map(|model| format!("model {model}"));
    let set = about.env.iter().filter_map(|name| {
        let value = variable(name)?;
        Some(if is_directory(name) { format!("{name}={}", value.to_string_lossy()) } else { name.to_string() })
    });
    std::iter::once(about.name.to_string()).chain(chosen).chain(set).collect::<Vec<_>>().join(", ")
}

/// Whether the variable of this name holds a place, which is no secret.
fn is_directory(name: &str) -> bool {
    name.ends_with("_HOME") || name.ends_with("_DIR")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_comes_first() {
        for (written, meant) in [("cdex", "codex"), ("cluade", "claude"), ("open-code", "opencode"), ("mime", "mine")] {
            let UnknownAgent::Name { known, .. } = unknown(written, ["mine"].into_iter()) else { panic!("{written}") };
            assert_eq!(known[0], meant, "{written}: {known:?}");
        }
    }

    fn of(agent: &str, model: Option<&str>, set: &[(&str, &str)]) -> String {
        let agent = choose(agent, &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}"));
        let variable = |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, value)| OsString::from(value));
        account(&agent, model, &variable)
    }

    #[test]
    fn an_account_is_told_by_places_and_names_and_holds_no_key() {
        let subscription = [("CLAUDE_CONFIG_DIR", "/home/ann/.claude"), ("EDITOR", "vi")];
        assert_eq!(of("claude", None, &subscription), "claude, CLAUDE_CONFIG_DIR=/home/ann/.claude");
        assert_eq!(of("claude", None, &[]), "claude");
        assert_eq!(of("codex", Some("gpt-5.5"), &[("CODEX_HOME", "/c")]), "codex, model gpt-5.5, CODEX_HOME=/c");
        for agent in ["claude", "codex", "opencode", "pi", "gemini"] {
            let about = choose(agent, &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}")).about().env.to_vec();
            let all: Vec<(&str, &str)> = about.iter().map(|name| (&**name, "sk-secret")).collect();
            let places = all.iter().filter(|(name, _)| is_directory(name)).count();
            assert_eq!(of(agent, None, &all).matches("sk-secret").count(), places, "{agent}");
        }
        assert!(of("claude", None, &[("ANTHROPIC_API_KEY", "k")]).ends_with("ANTHROPIC_API_KEY"), "the control");
    }
}

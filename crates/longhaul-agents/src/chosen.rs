//! An agent as a task has chosen it: the agent's file or its declaration, and what a person declared about it.
//! Found by name for every session, from the table and from what the task stored at submit.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;

use crate::agent::Agent;
use crate::custom::Custom;
use crate::declared::Declared;
use crate::table::{self, UnknownAgent};

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

/// The agent with this name and what was declared about it: a built-in one first, else a declared one, else an error with the known names.
pub fn choose(name: &str, declared: &BTreeMap<String, Value>) -> Result<Chosen, UnknownAgent> {
    let built_in = crate::find(name).ok();
    let table = declared.get(name);
    let declared = match table {
        Some(table) => Declared::read(name, table)
            .map_err(|why| UnknownAgent::Unreadable { name: name.to_owned(), why: Box::new(why) })?,
        None if built_in.is_some() => Declared::default(),
        None => return Err(table::unknown(name, declared.keys().map(String::as_str))),
    };
    match (built_in, &declared.custom) {
        (Some(agent), _) => Ok(Chosen { agent: Origin::BuiltIn(agent), declared }),
        (None, Some(custom)) => Ok(Chosen { agent: Origin::Custom(custom.clone()), declared }),
        (None, None) => Err(table::unknown(name, std::iter::empty())),
    }
}

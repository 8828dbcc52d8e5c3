//! Parses an agent's name on the command line: any well-formed name, because the configuration may declare more agents.
//! Completions offer the built-in ones. Whether the agent exists is checked once the configuration is loaded.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use longhaul_agents::{AGENTS, Agent};
use longhaul_core::names::TaskName;

/// A name that an agent can have.
#[derive(Debug, Clone)]
pub(crate) struct AgentName;

impl TypedValueParser for AgentName {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        let text = value.to_string_lossy();
        if TaskName::new(&text).is_ok() {
            return Ok(text.into_owned());
        }
        let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
        if let Some(argument) = argument {
            error.insert(ContextKind::InvalidArg, ContextValue::String(argument.to_string()));
        }
        error.insert(ContextKind::InvalidValue, ContextValue::String(text.escape_debug().to_string()));
        Err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |agent: &'static dyn Agent| PossibleValue::new(&*agent.about().name).help(&*agent.about().summary);
        Some(Box::new(AGENTS.iter().copied().map(value)))
    }
}

//! Who sent an input. Scopes are checked in `decide`, not in the front ends, so that none can forget to.
//! Made by the front ends and the worker; stored with every event.

use serde::{Deserialize, Serialize};

use crate::ids::SessionId;

/// Who sent an input: a principal, what it may do, and the session it came from, if any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// A user name, or the part of Longhaul that observed something.
    pub principal: String,
    /// What this actor may ask for.
    pub scope: Scope,
    /// The agent session the input came from; set exactly for [`Scope::Session`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<SessionId>,
    /// The server's channel that the input came through; none for the command line and for Longhaul itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub channel: Option<Channel>,
    /// The id of the API key that the input came with; never the key itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<String>,
}

/// How an input reached a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// A tool of the MCP server.
    Mcp,
    /// A route of the HTTP server.
    Http,
}

/// What an actor may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// A person at a front end: every command.
    Person,
    /// The owner of the task: observations only, no command.
    Worker,
    /// Files changed in the workspace between sessions: plan changes only.
    Workspace,
    /// Something below an agent session: may read, submit child tasks, and report on its own task; it commands nothing.
    Session,
    /// It is unknown whether this is an agent: may only read.
    Unknown,
}

impl Actor {
    /// A person by name.
    pub fn person(name: impl Into<String>) -> Actor {
        Actor::new(name, Scope::Person)
    }

    /// Somebody of this name who may be an agent.
    pub fn unknown(name: impl Into<String>) -> Actor {
        Actor::new(name, Scope::Unknown)
    }

    /// The worker that owns the task.
    pub fn worker() -> Actor {
        Actor::new("worker", Scope::Worker)
    }

    /// The files of the workspace, changed by whoever can write there.
    pub fn workspace() -> Actor {
        Actor::new("workspace", Scope::Workspace)
    }

    /// An agent, or anything it started.
    pub fn below(session: SessionId) -> Actor {
        Actor { session: Some(session), ..Actor::new("agent", Scope::Session) }
    }

    fn new(principal: impl Into<String>, scope: Scope) -> Actor {
        Actor { principal: principal.into(), scope, session: None, channel: None, key: None }
    }
}

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
    /// Something below an agent session: may read and submit child tasks, and command nothing.
    Session,
    /// It is unknown whether this is an agent: may only read.
    Unknown,
}

impl Actor {
    /// A person by name.
    pub fn person(name: impl Into<String>) -> Actor {
        Actor { principal: name.into(), scope: Scope::Person, session: None }
    }

    /// Somebody of this name who may be an agent.
    pub fn unknown(name: impl Into<String>) -> Actor {
        Actor { principal: name.into(), scope: Scope::Unknown, session: None }
    }

    /// The worker that owns the task.
    pub fn worker() -> Actor {
        Actor { principal: "worker".into(), scope: Scope::Worker, session: None }
    }

    /// The files of the workspace, changed by whoever can write there.
    pub fn workspace() -> Actor {
        Actor { principal: "workspace".into(), scope: Scope::Workspace, session: None }
    }

    /// An agent, or anything it started.
    pub fn below(session: SessionId) -> Actor {
        Actor { principal: "agent".into(), scope: Scope::Session, session: Some(session) }
    }
}

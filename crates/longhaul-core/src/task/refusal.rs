//! Saying no to a person: a value, not an error. A refused command writes nothing.
//! Made by `decide`; front ends map it to an exit code and never match its text.

use super::{Reached, state_phrase};

/// Why a command was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The verb has no edge from this state.
    #[error("cannot {verb} a task that {}: {why}", state_phrase(.from))]
    WrongState {
        /// The verb.
        verb: &'static str,
        /// The state's stored name.
        from: &'static str,
        /// What would be possible.
        why: &'static str,
    },
    /// The actor may not ask for this.
    #[error(
        "{principal} may not {verb}: an agent session may only read, submit child tasks, and report on its own task while it runs"
    )]
    Scope {
        /// Who asked.
        principal: String,
        /// The verb.
        verb: &'static str,
    },
    /// The caller was not given the right.
    #[error("cannot {verb}: this needs the right `{right}`, which the caller does not have")]
    Right {
        /// What for.
        verb: &'static str,
        /// The name of the right.
        right: &'static str,
    },
    /// The caller may be an agent.
    #[error(
        "cannot {verb}: this process and a worker of this home are in different PID namespaces, so Longhaul cannot tell whether an \
         agent started it; run the command where the worker runs, or stop that worker first"
    )]
    UnknownCaller {
        /// The verb.
        verb: &'static str,
    },
    /// `needs_help` is left only with a reason.
    #[error("the task needs you: say what you changed with `resume --reason`")]
    ReasonMissing,
    /// The limit that stopped the task is still used up.
    #[error("{reached}; raise the limit with `resume --{flag}`")]
    LimitReached {
        /// Which.
        reached: Reached,
        /// The flag that raises it.
        flag: &'static str,
    },
    /// Something in the input makes no sense.
    #[error("{why}")]
    BadInput {
        /// What, and what to do.
        why: String,
    },
    /// The goal cannot be used.
    #[error("{why}")]
    BadGoal {
        /// What is wrong with it.
        why: &'static str,
    },
}

impl Refusal {
    /// Text that must not be empty is empty.
    pub(super) fn empty(what: &str) -> Refusal {
        Refusal::BadInput { why: format!("empty {what}: write one, or drop it") }
    }
}

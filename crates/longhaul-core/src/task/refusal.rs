//! Saying no to a person: a value, not an error. A refused command writes nothing.
//! Made by `decide`; front ends map it to an exit code and never match its text.

use super::Reached;

/// Why a command was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The verb has no edge from this state.
    #[error("cannot {verb} a task that is {from}: {why}")]
    WrongState {
        /// The verb.
        verb: &'static str,
        /// The state's name.
        from: &'static str,
        /// What would be possible.
        why: &'static str,
    },
    /// The actor may not ask for this.
    #[error("{principal} may not {verb}: below an agent session only reading and submitting child tasks is allowed")]
    Scope {
        /// Who asked.
        principal: String,
        /// The verb.
        verb: &'static str,
    },
    /// Nobody can tell whether an agent asks.
    #[error(
        "cannot {verb}: this process is in another PID namespace than a worker of this home, so Longhaul cannot tell whether an \
         agent started it; run the command where the worker runs, or stop that worker first"
    )]
    UnknownCaller {
        /// The verb.
        verb: &'static str,
    },
    /// `needs_help` is left only with a reason.
    #[error("the task needs help: say what changed, with `resume --reason`")]
    ReasonMissing,
    /// The limit that stopped the task is still used up.
    #[error("{reached}: raise it with `resume --{flag}`")]
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
    /// A goal that is no goal.
    #[error("{why}")]
    BadGoal {
        /// What is wrong with it.
        why: &'static str,
    },
}

impl Refusal {
    /// Something that has to say something says nothing.
    pub(super) fn empty(what: &str) -> Refusal {
        Refusal::BadInput { why: format!("a {what} is empty: say something, or leave it away") }
    }
}

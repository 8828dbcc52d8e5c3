//! Saying no to a person: a value, not an error. A refused command writes nothing.
//! Made by `decide`; front ends map it to an exit code and never match its text.

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
    /// `needs_help` is left only with a reason.
    #[error("the task needs help: say what changed, with `resume --reason`")]
    ReasonMissing,
    /// A goal that is no goal.
    #[error("{why}")]
    BadGoal {
        /// What is wrong with it.
        why: &'static str,
    },
}

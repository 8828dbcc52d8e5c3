//! The states of a task: one closed enum, data inside the variants, no second status anywhere.
//!
//! Read by `decide`, `apply` and `due`, and by the store for its columns. Nothing here moves a task.

use serde::{Deserialize, Serialize};

use super::{Cause, HelpReason, HelpRequest, Reached, SessionRun, StopMode, Verdict, Wait};
use crate::ids::SessionId;
use crate::time::Time;

/// The state of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// Wants a worker. Left by a claim.
    Queued,
    /// The owner looks at workspace and plan before a session. Left by what it finds.
    Preparing,
    /// A follow-up lands, discards or restores the work of a finished task. Left by what came of it.
    Landing,
    /// The setup command runs in the task's new worktree. Left by its observed end.
    SettingUp {
        /// The live session.
        session: SessionRun,
    },
    /// A session writes the plan. Left by its observed end.
    Planning {
        /// The live session.
        session: SessionRun,
    },
    /// A session takes steps. Left by its observed end.
    Working {
        /// The live session.
        session: SessionRun,
    },
    /// A check runs. Left by its observed end.
    Verifying {
        /// The live session.
        session: SessionRun,
    },
    /// The session was asked to stop. Left only by its observed end, so a resume can never start a second agent.
    Stopping {
        /// The live session.
        session: SessionRun,
        /// Whether it is ended at once or by its stop recipe.
        mode: StopMode,
        /// What follows.
        then: Then,
    },
    /// Waits. Left by the clock, or by what it waits for.
    Waiting {
        /// Why it waits.
        why: Wait,
        /// Until when; none where no clock ends it.
        until: Option<Time>,
        /// How long at most, whatever happens to the wall clock; none where only the wall clock counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        span_ms: Option<u64>,
    },
    /// Trying again without a person is pointless. Left by a person's `resume --reason` or cancel.
    NeedsHelp {
        /// Why.
        reason: HelpReason,
    },
    /// A person paused it. Left by a person.
    Paused,
    /// A person works in the agent's conversation. Left when that has ended.
    Held {
        /// Who.
        person: String,
    },
    /// A limit of the task is used up. Left by a person who raises it.
    Stopped {
        /// Which limit.
        reached: Reached,
    },
    /// Something outside is missing. Left by the owner's probe or by a person, as the cause says.
    Blocked {
        /// What is missing.
        cause: Cause,
    },
    /// An outside program executes it and reports here. Left by that program, or by a person's cancel. What it reported is in the task,
    /// because it outlasts this state.
    Tracked {
        /// When it last reported.
        reported: Time,
        /// What it needs a person for, if it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        help: Option<HelpRequest>,
    },
    /// Finished. Final.
    Done {
        /// What is known of the result.
        verdict: Verdict,
    },
    /// The outside program that executed it gave up, or a follow-up could not do what it is for. Final.
    Failed {
        /// Why, if it said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Cancelled by a person. Final.
    Cancelled {
        /// Who did it.
        by: String,
        /// Why, if given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// The part of its life a task is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// No plan is accepted yet.
    Plan,
    /// Sessions work on the plan's steps, or fix what the checks found.
    Work,
    /// All is ticked; the checks are run.
    Verify,
}

/// What follows once a stopping session has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// Paused.
    Pause,
    /// Cancelled, by whom and why.
    Cancel {
        /// Who asked.
        by: String,
        /// Why, if given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A person takes the conversation over.
    Hold {
        /// Who.
        person: String,
    },
    /// A limit of the task is used up.
    Stop {
        /// Which.
        reached: Reached,
    },
    /// The task waits for a person, because the agent asked.
    Ask {
        /// What.
        reason: HelpReason,
    },
    /// The next session: a pause was taken back, or the session was longer than it may be now.
    GoOn,
}

/// What kind of state it is: everything that holds for several states alike. Rules ask for the stage, so that most new states are
/// one line in [`State::stage`] and nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage<'a> {
    /// Wants a worker.
    Queued,
    /// Its owner is about to start a session, or to act on git.
    Preparing,
    /// A session runs.
    Live(&'a SessionRun),
    /// A session was asked to stop, and may still run.
    Stopping {
        /// The session.
        session: &'a SessionRun,
        /// How it is stopped.
        mode: StopMode,
        /// What follows.
        then: &'a Then,
    },
    /// Its owner watches a clock, another task, or something that is missing.
    Waiting,
    /// Only a person can move it on.
    ForPerson,
    /// A person works in the agent's conversation.
    Held,
    /// An outside program executes it.
    Tracked {
        /// What it needs a person for, if it does.
        help: Option<&'a HelpRequest>,
    },
    /// Nothing moves it any more.
    Final {
        /// The result, if it has one.
        verdict: Option<&'a Verdict>,
    },
}

/// Who moves a task out of its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WokenBy {
    /// Nobody: it is final.
    Nobody,
    /// Its owner, which acts, or watches a clock, another task or something that is missing.
    Worker,
    /// A person.
    Person,
    /// The outside program that executes it.
    Program,
}

impl<'a> Stage<'a> {
    /// Who moves the task on.
    pub fn woken_by(self) -> WokenBy {
        match self {
            Stage::Queued | Stage::Preparing | Stage::Live(_) | Stage::Stopping { .. } | Stage::Waiting => {
                WokenBy::Worker
            }
            Stage::ForPerson | Stage::Held | Stage::Tracked { help: Some(_) } => WokenBy::Person,
            Stage::Tracked { help: None } => WokenBy::Program,
            Stage::Final { .. } => WokenBy::Nobody,
        }
    }

    /// The session whose process may be alive.
    pub fn session(self) -> Option<&'a SessionRun> {
        match self {
            Stage::Live(session) | Stage::Stopping { session, .. } => Some(session),
            Stage::Queued
            | Stage::Preparing
            | Stage::Waiting
            | Stage::ForPerson
            | Stage::Held
            | Stage::Tracked { .. }
            | Stage::Final { .. } => None,
        }
    }

    /// The session in which an agent works, unless it is being stopped.
    pub fn agent(self) -> Option<&'a SessionRun> {
        if let Stage::Live(session) = self { Some(session).filter(|session| session.purpose.is_agent()) } else { None }
    }

    /// The result of a task that is done; none for every other.
    pub fn verdict(self) -> Option<&'a Verdict> {
        match self {
            Stage::Final { verdict } => verdict,
            Stage::Queued
            | Stage::Preparing
            | Stage::Live(_)
            | Stage::Stopping { .. }
            | Stage::Waiting
            | Stage::ForPerson
            | Stage::Held
            | Stage::Tracked { .. } => None,
        }
    }

    /// Whether an open round of checks continues. Anything else is an interruption, in which files may change.
    pub fn continues_round(self) -> bool {
        match self {
            Stage::Preparing => true,
            Stage::Live(session) => !session.purpose.is_agent(),
            Stage::Queued
            | Stage::Stopping { .. }
            | Stage::Waiting
            | Stage::ForPerson
            | Stage::Held
            | Stage::Tracked { .. }
            | Stage::Final { .. } => false,
        }
    }
}

impl State {
    /// The name of the state in which an owner is about to start a session.
    pub const PREPARING: &'static str = "preparing";
    /// The name of the state in which a follow-up acts on the work of a finished task.
    pub const LANDING: &'static str = "landing";
    /// The name of the state in which the setup command runs.
    pub const SETTING_UP: &'static str = "setting_up";
    /// The name of the state in which a session was asked to stop.
    pub const STOPPING: &'static str = "stopping";
    /// The name of the state in which a task waits for a time or for another task.
    pub const WAITING: &'static str = "waiting";
    /// The name of the state in which a person works in the agent's conversation.
    pub const HELD: &'static str = "held";

    /// The name of the state in which a task cannot continue without a person.
    pub const NEEDS_HELP: &'static str = "needs_help";

    /// The name of the state in which an outside program executes a task.
    pub const TRACKED: &'static str = "tracked";
    /// The name of the state of a task that its outside program gave up.
    pub const FAILED: &'static str = "failed";

    /// The name of every state, in the order of the enum.
    pub const NAMES: &'static [&'static str] = &[
        "queued",
        State::PREPARING,
        State::LANDING,
        State::SETTING_UP,
        "planning",
        "working",
        "verifying",
        State::STOPPING,
        State::WAITING,
        State::NEEDS_HELP,
        "paused",
        State::HELD,
        "stopped",
        "blocked",
        State::TRACKED,
        "done",
        State::FAILED,
        "cancelled",
    ];

    /// The one list of the states: the stored and documented spelling of each, and its stage.
    fn about(&self) -> (&'static str, Stage<'_>) {
        match self {
            State::Queued => ("queued", Stage::Queued),
            State::Preparing => (State::PREPARING, Stage::Preparing),
            State::Landing => (State::LANDING, Stage::Preparing),
            State::SettingUp { session } => (State::SETTING_UP, Stage::Live(session)),
            State::Planning { session } => ("planning", Stage::Live(session)),
            State::Working { session } => ("working", Stage::Live(session)),
            State::Verifying { session } => ("verifying", Stage::Live(session)),
            State::Stopping { session, mode, then } => {
                (State::STOPPING, Stage::Stopping { session, mode: *mode, then })
            }
            State::Waiting { .. } => (State::WAITING, Stage::Waiting),
            State::NeedsHelp { .. } => (State::NEEDS_HELP, Stage::ForPerson),
            State::Paused => ("paused", Stage::ForPerson),
            State::Held { .. } => (State::HELD, Stage::Held),
            State::Stopped { .. } => ("stopped", Stage::ForPerson),
            State::Blocked { cause } if cause.is_probed() => ("blocked", Stage::Waiting),
            State::Blocked { .. } => ("blocked", Stage::ForPerson),
            State::Tracked { help, .. } => (State::TRACKED, Stage::Tracked { help: help.as_ref() }),
            State::Done { verdict } => ("done", Stage::Final { verdict: Some(verdict) }),
            State::Failed { .. } => (State::FAILED, Stage::Final { verdict: None }),
            State::Cancelled { .. } => ("cancelled", Stage::Final { verdict: None }),
        }
    }

    /// The stored and documented spelling.
    pub fn name(&self) -> &'static str {
        self.about().0
    }

    /// What kind of state it is.
    pub fn stage(&self) -> Stage<'_> {
        self.about().1
    }

    /// Final states have no exits.
    pub fn is_final(&self) -> bool {
        self.stage().woken_by() == WokenBy::Nobody
    }

    /// Only a person can move it on.
    pub fn waits_for_person(&self) -> bool {
        self.stage().woken_by() == WokenBy::Person
    }

    /// Whether an owner has something to do now or later. The lease is given up in the commit that makes this false.
    pub fn wants_owner(&self) -> bool {
        self.stage().woken_by() == WokenBy::Worker
    }

    /// The result of a task that is done; none for every other.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.stage().verdict()
    }

    /// Whether a person works in the agent's conversation.
    pub fn is_held(&self) -> bool {
        self.stage() == Stage::Held
    }

    /// What the agent asked a person, while nobody has answered: the question, and what would let it continue.
    pub fn question(&self) -> Option<(&str, Option<&str>)> {
        let (State::NeedsHelp { reason } | State::Stopping { then: Then::Ask { reason }, .. }) = self else {
            return None;
        };
        let HelpReason::Asked { question, hint } = reason else { return None };
        Some((question, hint.as_deref()))
    }

    /// The session whose process may be alive.
    pub fn session(&self) -> Option<&SessionRun> {
        self.stage().session()
    }

    /// The live session, if it is this one.
    pub fn live(&self, id: SessionId) -> Option<&SessionRun> {
        self.session().filter(|session| session.id == id)
    }
}

/// A stored state name as people read it after a task's name: `is paused`, or `needs you` for `needs_help`.
pub fn state_phrase(name: &str) -> String {
    match name {
        State::NEEDS_HELP => "needs you".to_owned(),
        State::FAILED => "has failed".to_owned(),
        State::SETTING_UP => "is running its setup".to_owned(),
        name => format!("is {name}"),
    }
}

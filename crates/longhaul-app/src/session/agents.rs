//! The agent of a session by its name, and what the task's events declared about agents so far.
//! Used by everyone who reads what sessions printed.

use std::collections::BTreeMap;

use longhaul_agents::Chosen;
use longhaul_core::task::{Event, SessionRun, Setting, Submission};
use serde_json::Value;

/// The agents of a task as its events named them so far.
#[derive(Default)]
pub(crate) struct Agents {
    declared: BTreeMap<String, Value>,
}

impl Agents {
    /// Those of a task as it is.
    pub(crate) fn of_task(submission: &Submission) -> Agents {
        Agents { declared: submission.declared.clone() }
    }

    /// Takes what one more event says.
    pub(crate) fn note(&mut self, event: &Event) {
        match event {
            Event::Submitted { submission } => *self = Agents::of_task(submission),
            Event::Edited { settings, .. } => settings.iter().for_each(|setting| {
                if let Setting::Declared(tables) = setting {
                    self.declared.clone_from(tables);
                }
            }),
            _ => {}
        }
    }

    /// The agent of a session; none for a check, and for an agent that this binary does not know.
    pub(crate) fn of(&self, session: &SessionRun) -> Option<Chosen> {
        let known = session.purpose.is_agent().then(|| longhaul_agents::choose(&session.agent, &self.declared));
        known.and_then(Result::ok)
    }
}

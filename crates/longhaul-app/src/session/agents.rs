//! Which agent a session is of, learnt from the events of its task: by the session itself, or by the task where it names none.
//! Used by everyone who reads what sessions printed.

use std::collections::BTreeMap;

use longhaul_agents::Chosen;
use longhaul_core::task::{Event, SessionRun, Setting, Submission};
use serde_json::Value;

/// The agents of a task as its events told them so far.
#[derive(Default)]
pub struct Agents {
    /// The task's first choice.
    first: String,
    declared: BTreeMap<String, Value>,
}

impl Agents {
    /// Those of a task as it stands.
    pub fn of_task(submission: &Submission) -> Agents {
        Agents { first: submission.agent.clone(), declared: submission.declared.clone() }
    }

    /// Takes what one more event says.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::Submitted { submission } => *self = Agents::of_task(submission),
            Event::Edited { settings, .. } => settings.iter().for_each(|setting| match setting {
                Setting::Agent(name) => self.first.clone_from(name),
                Setting::Declared(tables) => self.declared.clone_from(tables),
                _ => {}
            }),
            _ => {}
        }
    }

    /// The name of a session's agent.
    pub fn name_of<'a>(&'a self, session: &'a SessionRun) -> &'a str {
        if session.agent.is_empty() { &self.first } else { &session.agent }
    }

    /// The agent of a session; none for a check, and for an agent that this binary does not know.
    pub fn of(&self, session: &SessionRun) -> Option<Chosen> {
        let known = session.purpose.is_agent().then(|| longhaul_agents::choose(self.name_of(session), &self.declared));
        known.and_then(Result::ok)
    }
}

//! What happened on the way, picked from the events: questions and answers, guidance, refused plans, kills and gaps.
//! Pure: it gets the events and gives lists, newest last.

use longhaul_core::task::{Ended, Event, Exit, Gap, Role, StoppedBy, Task, narrate};
use longhaul_store::StoredEvent;
use schemars::JsonSchema;
use serde::Serialize;

use crate::views::ActorView;

/// Something that happened.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Happening {
    pub at: String,
    pub by: String,
    pub what: String,
}

/// A question to a person, and the answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Question {
    pub at: String,
    pub asked: String,
    /// Null while it is open.
    pub answer: Option<Happening>,
}

/// A message from a person to the next session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Guidance {
    pub at: String,
    pub by: String,
    pub text: String,
    /// Whether it still waits for a session.
    pub waiting: bool,
}

/// Plan changes that were not accepted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RefusedPlan {
    /// When.
    pub at: String,
    /// What was refused, in words.
    pub what: String,
    /// The refused list is kept under this name in the task directory, if there was a readable file.
    pub kept_as: String,
}

/// One event in words.
pub(super) fn happening(event: &StoredEvent) -> Happening {
    Happening { at: event.at.rfc3339(), by: by(event), what: narrate(&event.event) }
}

fn by(event: &StoredEvent) -> String {
    ActorView::new(&event.actor).words()
}

/// Every time only a person could help.
pub(super) fn questions(events: &[StoredEvent]) -> Vec<Question> {
    let mut found: Vec<Question> = Vec::new();
    for event in events {
        match event.event.role() {
            Role::Asks => {
                found.push(Question { at: event.at.rfc3339(), asked: narrate(&event.event), answer: None });
            }
            Role::Answers => {
                if let Some(question) = found.last_mut().filter(|question| question.answer.is_none()) {
                    question.answer = Some(happening(event));
                }
            }
            Role::Rests | Role::Trouble | Role::Moves | Role::Beside => {}
        }
    }
    found
}

/// Everything a person said; the last ones may still wait.
pub(super) fn guidance(task: &Task, events: &[StoredEvent]) -> Vec<Guidance> {
    let mut found: Vec<Guidance> = Vec::new();
    for event in events {
        if let Event::Told { text } = &event.event {
            let (at, by) = (event.at.rfc3339(), by(event));
            found.push(Guidance { at, by, text: text.clone(), waiting: false });
        }
    }
    let waiting = task.guidance.len();
    found.iter_mut().rev().take(waiting).for_each(|guidance| guidance.waiting = true);
    found
}

/// Every plan that was not taken as it was.
pub(crate) fn refused_plans(events: &[StoredEvent]) -> Vec<RefusedPlan> {
    let refused = events.iter().filter_map(|event| match &event.event {
        Event::PlanRefused { restore, .. } => Some(RefusedPlan {
            at: event.at.rfc3339(),
            what: narrate(&event.event),
            kept_as: format!("task_list.rejected-{}.md", restore.keep_as),
        }),
        _ => None,
    });
    refused.collect()
}

/// Every time an agent had used up what it may use.
pub(super) fn usage_limits(events: &[StoredEvent]) -> Vec<Happening> {
    events.iter().filter(|event| matches!(event.event, Event::AgentLimited { .. })).map(happening).collect()
}

/// Deaths, kills, lost output: what a reader should know before trusting the rest.
pub(super) fn trouble(events: &[StoredEvent]) -> Vec<Happening> {
    let is_trouble = |event: &Event| match event {
        Event::Claimed { from, .. } => from.is_some(),
        Event::SessionEnded { ended, .. } => is_unclean(ended),
        other => other.role() == Role::Trouble,
    };
    events.iter().filter(|event| is_trouble(&event.event)).map(happening).collect()
}

fn is_unclean(ended: &Ended) -> bool {
    let by_itself = matches!(ended.exit, Exit::Signal(_) | Exit::Unknown | Exit::NeverStarted | Exit::NotExecutable(_))
        && ended.stopped_by != StoppedBy::Task;
    let stopped = matches!(ended.stopped_by, StoppedBy::Shutdown | StoppedBy::Silence | StoppedBy::Wall);
    by_itself || stopped || ended.gap != Gap::None || ended.leftovers > 0 || ended.starved.is_some()
}

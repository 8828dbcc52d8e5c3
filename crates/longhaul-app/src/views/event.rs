//! One event of a task's history, as lists and streams of events show it.
//! Its data is what is stored; the text beside it is for people.

use longhaul_core::task::{Actor, narrate};
use longhaul_store::StoredEvent;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::operation::View;

/// Something that happened to a task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EventView {
    /// Counts from 1 within the task, without gaps.
    pub seq: u64,
    pub at: String,
    pub actor: ActorView,
    /// The stored name of what happened, such as `session_started`.
    pub kind: &'static str,
    /// What happened, in words.
    pub text: String,
    /// Everything stored about it; its fields depend on `kind`.
    pub data: Value,
}

/// Who did something.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ActorView {
    /// A user name, or `worker`.
    pub principal: String,
    /// `person`, `worker`, `workspace`, `session` or `unknown`.
    pub scope: String,
    /// The agent session that it came from.
    pub session: Option<String>,
}

impl View for EventView {
    const KIND: &'static str = "event";
}

impl EventView {
    /// An event as stored.
    pub fn new(stored: &StoredEvent) -> EventView {
        let mut data = serde_json::to_value(&stored.event).unwrap_or_default();
        // Serde tags the data with the kind, which is a field of its own here.
        data.as_object_mut().map(|data| data.remove("kind"));
        // Addresses of targets, prompts and the definitions of agents are the submitter's; what became of them is in `show`.
        if let Some(submission) = data.get_mut("submission").and_then(Value::as_object_mut) {
            ["notify", "declared", "prompts"].iter().for_each(|field| drop(submission.remove(*field)));
        }
        EventView {
            seq: stored.seq,
            at: stored.at.rfc3339(),
            actor: ActorView::new(&stored.actor),
            kind: stored.event.kind(),
            text: narrate(&stored.event),
            data,
        }
    }
}

impl ActorView {
    fn new(actor: &Actor) -> ActorView {
        let scope = serde_json::to_value(actor.scope).ok();
        ActorView {
            principal: actor.principal.clone(),
            scope: scope.and_then(|scope| Some(scope.as_str()?.to_owned())).unwrap_or_default(),
            session: actor.session.map(|session| session.to_string()),
        }
    }
}

//! The live session of a task: who runs, how it began, whether its processes live and when it last said something.
//! From the store and the operating system; it never asks the agent.

use std::time::Duration;

use longhaul_core::causes::with_causes;
use longhaul_core::task::Task;
use longhaul_keeper::SessionDir;
use longhaul_keeper::process::{self, Process};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Call;
use crate::describe;

/// A session that has not been observed to end.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Live {
    number: u32,
    id: String,
    purpose: String,
    /// Null for a check, which has no agent.
    agent: Option<String>,
    /// Which attempt at this piece of work it is.
    attempt: u32,
    started: String,
    pub opening: String,
    /// Whether it lost the conversation it should have continued.
    degraded: bool,
    conversation: Option<String>,
    /// Null until it is started.
    processes: Option<Processes>,
    /// How long it has printed nothing; null if unknown.
    silent_ms: Option<u64>,
    /// Why its output waits, if it does.
    stalled: Option<String>,
}

/// The two processes of a session.
#[derive(Debug, Serialize, JsonSchema)]
struct Processes {
    agent: Health,
    keeper: Health,
}

/// A process as the operating system shows it.
#[derive(Debug, Serialize, JsonSchema)]
struct Health {
    pid: u32,
    /// Null if unknown.
    alive: Option<bool>,
    stopped: bool,
}

/// The task's live session, if it has one.
pub(crate) fn live(call: &Call, task: &Task) -> Option<Live> {
    let run = task.state.session()?;
    let dir = SessionDir::at(&call.home().session(run.id)).ok();
    let identity = dir.as_ref().and_then(|dir| dir.identity().ok().flatten());
    let processes = identity.map(|identity| Processes {
        agent: health(&identity.child, &identity.boot),
        keeper: health(&identity.keeper, &identity.boot),
    });
    let printed = dir.as_ref().and_then(SessionDir::last_output);
    let stalled = dir.as_ref().and_then(|dir| dir.stalled().ok().flatten());
    Some(Live {
        number: run.number,
        id: run.id.to_string(),
        purpose: run.purpose.to_string(),
        agent: run.purpose.is_agent().then(|| run.agent.clone()),
        attempt: run.attempt,
        started: run.started.rfc3339(),
        opening: describe::opening(run),
        degraded: describe::is_degraded(run),
        conversation: run.conversation.clone(),
        processes,
        silent_ms: printed.and_then(|at| at.elapsed().ok()).map(millis),
        stalled: stalled.map(|stalled| format!("since {} ({})", stalled.since.rfc3339(), stalled.cause)),
    })
}

/// Why nothing is known of the live session, where its directory cannot be read.
pub(crate) fn unreadable(call: &Call, task: &Task) -> Option<String> {
    let session = task.state.session()?;
    let error = SessionDir::at(&call.home().session(session.id)).ok()?.identity().err()?;
    Some(format!("its session cannot be inspected: {}", with_causes(&error)))
}

fn health(process: &Process, boot: &str) -> Health {
    let alive = process::is_alive(process, boot).ok();
    Health { pid: process.pid, alive, stopped: alive == Some(true) && process::is_stopped(process.pid) }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

impl Live {
    /// All but how it began, on one line.
    pub fn words(&self) -> String {
        let by = self.agent.as_ref().map_or_else(String::new, |agent| format!(" by {agent}, try {}", self.attempt));
        let what = format!("{}{by}, session {}", self.purpose, self.id);
        let Some(processes) = &self.processes else { return format!("{}, not started yet; {what}", self.number) };
        let silent = self.silent_ms.map_or_else(
            || "no output yet".to_owned(),
            |ms| format!("last output {} ago", longhaul_core::units::span(Duration::from_millis(ms))),
        );
        let stalled = self.stalled.as_ref().map_or_else(String::new, |why| format!(", waits for disk space {why}"));
        let (agent, keeper) = (processes.agent.words(), processes.keeper.words());
        format!("{}, agent pid {agent}, keeper pid {keeper}, {silent}{stalled}; {what}", self.number)
    }

    /// Whether an agent runs, and so began somehow.
    pub fn is_agents(&self) -> bool {
        self.agent.is_some()
    }
}

impl Health {
    fn words(&self) -> String {
        match self.alive {
            Some(true) if self.stopped => format!("{} (stopped, does not answer)", self.pid),
            Some(true) => self.pid.to_string(),
            Some(false) => format!("{} (dead)", self.pid),
            None => format!("{} (unknown)", self.pid),
        }
    }
}

//! Measures for monitoring, read from the feed: how many events of each kind, how long sessions and tasks took, what was used.
//!
//! A meter remembers where it has read to, so that each look costs only what is new. Nothing is lost with it: another one reads again.

use std::collections::{BTreeMap, HashMap};

use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::task::{Event, Purpose, Right};
use longhaul_core::time::Time;
use longhaul_store::{Filter, StoredEvent, Which};

use crate::app::Call;
use crate::error::AppError;
use crate::operation::Operation;
use crate::operations::List;

/// One read of the feed.
const EVENTS: u32 = 1_000;
const BYTES: u64 = 4 << 20;

/// Something to add to a figure.
#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    /// An event of this kind.
    Event(&'static str),
    /// A session of this purpose took so many seconds.
    Session(String, f64),
    /// A task that ended like this took so many seconds since it was submitted: the name of a result, `cancelled` or `failed`.
    Task(&'static str, f64),
    /// Tokens that a session reported.
    Tokens(u64),
    /// Money that a session reported, in millionths of a dollar.
    Cost(u64),
}

/// Reads measures.
#[derive(Debug, Default)]
pub struct Meter {
    position: u64,
    sessions: HashMap<SessionId, Purpose>,
    tasks: HashMap<TaskId, Time>,
}

impl Meter {
    /// What happened since the last time, a part at a time; empty when there is no more. An administrator measures the whole home, anybody
    /// else their own tenant's tasks.
    pub async fn read(&mut self, call: &Call) -> Result<Vec<Measure>, AppError> {
        let call = scope(call)?;
        loop {
            let page = call.store()?.feed(self.position, EVENTS, BYTES).await?;
            let measures: Vec<Measure> =
                page.events.iter().flat_map(|found| self.take(found.task, &found.event)).collect();
            self.position = page.position;
            if !measures.is_empty() || !page.more {
                return Ok(measures);
            }
        }
    }

    fn take(&mut self, task: TaskId, stored: &StoredEvent) -> Vec<Measure> {
        let mut measures = vec![Measure::Event(stored.event.kind())];
        match &stored.event {
            Event::Submitted { .. } => drop(self.tasks.insert(task, stored.at)),
            Event::SessionStarted { session } => drop(self.sessions.insert(session.id, session.purpose)),
            Event::SessionRead { said, .. } => {
                measures.extend(said.usage.total().map(Measure::Tokens));
                measures.extend(said.usage.cost_micros.map(Measure::Cost));
            }
            Event::SessionEnded { session, ended, .. } => {
                let purpose = self.sessions.remove(session);
                let seconds = ended.lasted_ms as f64 / 1_000.0;
                measures.extend(purpose.map(|purpose| Measure::Session(purpose.to_string(), seconds)));
            }
            Event::Finished { verdict } => measures.extend(self.end(task, verdict.kind().word(), stored.at)),
            Event::Cancelled { .. } => measures.extend(self.end(task, "cancelled", stored.at)),
            Event::Failed { .. } => measures.extend(self.end(task, "failed", stored.at)),
            _ => {}
        }
        measures
    }

    fn end(&mut self, task: TaskId, end: &'static str, at: Time) -> Option<Measure> {
        let submitted = self.tasks.remove(&task)?;
        Some(Measure::Task(end, at.since(submitted).as_secs_f64()))
    }
}

/// How many unfinished tasks are in each state.
pub async fn unfinished(call: &Call) -> Result<BTreeMap<String, u64>, AppError> {
    let mut states = BTreeMap::new();
    let filter = Filter { which: Which::Unfinished, ..Filter::default() };
    for task in scope(call)?.store()?.summaries(filter).await?.tasks {
        *states.entry(task.state).or_default() += 1;
    }
    Ok(states)
}

/// Whose tasks the caller measures.
fn scope(call: &Call) -> Result<Call, AppError> {
    List::ABOUT.permit(&call.caller)?;
    Ok(if call.caller.rights.include(Right::Admin) { call.of_all_tenants() } else { call.clone() })
}

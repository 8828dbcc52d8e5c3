//! `store_check`: reads everything stored, recomputes every hash chain, rebuilds every task, and compares sessions with their directories.
//! It repairs nothing.

use std::collections::HashSet;

use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::task::{Action, Exit, SessionRecord};
use longhaul_store::{Filter, TaskSummary};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, COMMAND_LINE, NoInput, Operation, Permit, View};
use crate::session::on_disk::survey;
use crate::session::recorded::recorded;

use super::list::DamagedRow;
use crate::views::{Page, PageInput};

/// The operation `store_check`.
pub struct StoreCheck;

/// What the check found.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct StoreHealth {
    /// Whether nothing is damaged or lost. A half-swept task and a stray directory are no damage.
    pub sound: bool,
    /// How many tasks were read.
    pub tasks: usize,
    /// Rows that cannot be read or do not fit together.
    pub damaged: Vec<DamagedRow>,
    /// Sessions that ran and whose directory is gone.
    pub missing: Vec<MissingSession>,
    /// Session directories of no task.
    pub strays: Vec<String>,
    /// The three lists are one list of at most 1,000 items, in this order: so many more were found. One check finds all, so there is no
    /// next page.
    pub omitted: usize,
}

/// A session that ran and whose directory is gone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MissingSession {
    /// The name of its task.
    pub task_name: String,
    /// Its number within the task.
    pub session: u32,
    /// Its id, which is the name of the directory.
    pub session_id: String,
    /// Whether the task is finished: then a sweep was cut off, and the next one finishes it.
    pub half_swept: bool,
}

impl View for StoreHealth {
    const KIND: &'static str = "store_check";
}

impl Operation for StoreCheck {
    const ABOUT: About = About::new(
        "store_check",
        "Read and verify everything stored, and list damage",
        Action::ReadAll("check or copy the store"),
        COMMAND_LINE,
    );
    type Input = NoInput;
    type Output = StoreHealth;

    async fn run(call: &Call, _: Permit, _: NoInput) -> Result<Answer<StoreHealth>, AppError> {
        let call = &call.of_all_tenants();
        let damaged = call.app.whole_store()?.check().await?;
        let tasks = call.store()?.summaries(Filter::default()).await?.tasks;
        let mut health = StoreHealth {
            tasks: tasks.len(),
            damaged: damaged.into_iter().map(|row| DamagedRow { row: row.row, what: row.what }).collect(),
            ..StoreHealth::default()
        };
        compare(call, &tasks, &mut health).await?;
        health.sound = health.damaged.is_empty() && health.missing.iter().all(|missing| missing.half_swept);
        let found = health.findings();
        let mut page = Page::new(PageInput::default());
        page.cut(&mut health.damaged);
        page.cut(&mut health.missing);
        page.cut(&mut health.strays);
        health.omitted = found - health.findings();
        Ok(Answer::new(health))
    }
}

impl StoreHealth {
    fn findings(&self) -> usize {
        self.damaged.len() + self.missing.len() + self.strays.len()
    }
}

/// Compares the sessions that events name with the directories on disk.
async fn compare(call: &Call, tasks: &[TaskSummary], health: &mut StoreHealth) -> Result<(), AppError> {
    let on_disk = survey(call.home())?;
    let existing: HashSet<SessionId> = on_disk.sessions.iter().map(|session| session.id).collect();
    let mut named = HashSet::new();
    for outline in tasks {
        let records = match recorded(call, outline.task).await {
            // Listed already as damaged.
            Err(error) if error.kind == ErrorKind::Damaged => Vec::new(),
            records => records?,
        };
        named.extend(records.iter().map(|record| record.run.id));
        let lost = records.iter().filter(|record| ran(record) && !existing.contains(&record.run.id));
        health.missing.extend(lost.map(|record| MissingSession {
            task_name: outline.name.clone(),
            session: record.run.number,
            session_id: record.run.id.to_string(),
            half_swept: outline.is_final,
        }));
    }
    let known: HashSet<TaskId> = tasks.iter().map(|outline| outline.task).collect();
    let is_stray =
        |task: Option<TaskId>, id: SessionId| !named.contains(&id) && task.is_none_or(|task| !known.contains(&task));
    let strays = on_disk.sessions.iter().filter(|session| is_stray(session.task, session.id));
    health.strays = strays.map(|session| session.id.to_string()).chain(on_disk.strange.iter().cloned()).collect();
    Ok(())
}

/// Whether the session has ended and must have left a directory.
fn ran(record: &SessionRecord) -> bool {
    let exit = record.ended.as_ref().map(|ended| &ended.exit);
    matches!(exit, Some(Exit::Code(_) | Exit::Signal(_) | Exit::Unknown))
}

//! The outbox: notices written with the change they report, then claimed and settled by compare-and-set on their tries.
//!
//! Writing is called by the writer within its transaction, reading by the handle. It delivers nothing, and a damaged row is left out.

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Event, Occasion, Task, notice};
use longhaul_core::time::Time;
use rusqlite::{Connection, Row, params};

use super::read::sound_rows;
use super::row::{TaskRow, text_of};
use super::statement::execute;
use crate::{Damaged, Notice, NoticeState, Settled, StoreError, Tenant};

/// As many notices as are read at once. The rest of the pending ones comes when these are settled.
const LOOK: u32 = 256;

/// Puts what a change is worth telling into the outbox, once for each target.
pub(super) fn enqueue(
    connection: &Connection,
    before: Option<&Task>,
    events: &[Event],
    row: &TaskRow,
) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO outbox (task, seq, target, occasion, stands, state, tries, next_at, created) \
         VALUES (?1, ?2, ?3, ?4, ?5, 'pending', 0, ?6, ?6)";
    let after = &row.stored.task;
    let wanted = &after.submission.notify;
    let (Some(before), false) = (before, wanted.is_empty()) else { return Ok(()) };
    let Some(occasion) = notice(before, events, after).filter(|occasion| wanted.wants(*occasion)) else {
        return Ok(());
    };
    for target in 0..wanted.targets.len() {
        let values = params![
            row.number,
            after.version,
            u32::try_from(target).unwrap_or(u32::MAX),
            occasion.word(),
            after.state.name(),
            after.updated.0
        ];
        execute(connection, SQL, values)?;
    }
    Ok(())
}

/// Begins a try to deliver a notice; no, when somebody else was faster or it is gone.
pub(super) fn claim(connection: &Connection, id: u64, tries_seen: u32, until: Time) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE outbox SET tries = tries + 1, next_at = ?3 \
         WHERE id = ?1 AND tries = ?2 AND state = 'pending'";
    Ok(execute(connection, SQL, params![id, tries_seen, until.0])? == 1)
}

/// Records what came of the try with this number; no, when another one began meanwhile.
pub(super) fn settle(connection: &Connection, id: u64, tries: u32, settled: &Settled) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE outbox SET state = ?3, next_at = coalesce(?4, next_at), error = ?5, tries = tries - ?6 \
         WHERE id = ?1 AND tries = ?2 AND state = 'pending'";
    let (at, error, uncounted) = match settled {
        Settled::Delivered => (None, None, 0),
        Settled::Again { at, error } => (Some(at.0), Some(error), 0),
        Settled::GivenBack { at, error } => (Some(at.0), Some(error), 1),
        Settled::Failed { error } => (None, Some(error), 0),
    };
    Ok(execute(connection, SQL, params![id, tries, settled.state().word(), at, error, uncounted])? == 1)
}

const COLUMNS: &str =
    "outbox.id, tasks.id, seq, target, occasion, stands, outbox.state, tries, next_at, outbox.created, error";

/// What is still to be delivered, the longest due first.
pub(super) fn pending(connection: &Connection) -> Result<Vec<Notice>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM outbox JOIN tasks ON tasks.number = outbox.task \
         WHERE outbox.state = 'pending' ORDER BY next_at, outbox.id LIMIT {LOOK}"
    );
    sound_rows(connection, &sql, [], read)
}

/// The newest notices of a task, in the order they were made.
pub(super) fn of_task(
    connection: &Connection,
    tenant: Option<&Tenant>,
    task: TaskId,
) -> Result<Vec<Notice>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM outbox JOIN tasks ON tasks.number = outbox.task \
         WHERE tasks.id = ?1 AND (?2 IS NULL OR tenant = ?2) ORDER BY seq DESC, target DESC LIMIT {LOOK}"
    );
    let newest_first = sound_rows(connection, &sql, (task.to_string(), tenant.map(Tenant::name)), read)?;
    Ok(newest_first.into_iter().rev().collect())
}

/// Every notice for `check`, with the version of its task.
pub(super) fn looked_at() -> String {
    format!("SELECT {COLUMNS}, tasks.version FROM outbox JOIN tasks ON tasks.number = outbox.task ORDER BY outbox.id")
}

/// What is wrong with a row of [`looked_at`].
pub(super) fn damage(row: &Row<'_>) -> Option<Damaged> {
    let what = match read(row) {
        Ok(Some(notice)) => match row.get::<_, u64>(11) {
            Ok(version) if notice.seq <= version => return None,
            Ok(_) | Err(_) => "it refers to an event that its task does not have".into(),
        },
        Ok(None) => "its task, occasion or state is not valid".into(),
        Err(error) => error.to_string(),
    };
    Some(Damaged { row: format!("outbox/{}", text_of(row, 0)), what })
}

fn read(row: &Row<'_>) -> rusqlite::Result<Option<Notice>> {
    let (task, occasion, state): (String, String, String) = (row.get(1)?, row.get(4)?, row.get(6)?);
    let parsed = (task.parse().ok(), Occasion::from_word(&occasion), NoticeState::from_word(&state));
    let (Some(task), Some(occasion), Some(state)) = parsed else { return Ok(None) };
    Ok(Some(Notice {
        id: row.get(0)?,
        task,
        seq: row.get(2)?,
        target: row.get(3)?,
        occasion,
        stands: row.get(5)?,
        state,
        tries: row.get(7)?,
        next_at: Time(row.get(8)?),
        created: Time(row.get(9)?),
        error: row.get(10)?,
    }))
}

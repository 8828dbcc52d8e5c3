//! Events appended to one task inside the transaction: applied, chained, and written with the task's new row.
//!
//! Used by commits and claims alike, so that there is one way a task moves. It checks no guard; whoever calls it has.

use longhaul_core::ids::{SessionId, TaskId, WorkerId};
use longhaul_core::task::{Actor, Event, IllegalEvent, Task};
use longhaul_core::time::Time;
use rusqlite::{Connection, params};

use super::failure::{damaged, store_error};
use super::row::{Columns, TaskRow};
use crate::{ChainEntry, ChainHead, CommitError, Lease, NewLease, Owner, StoreError, Stored, link};

/// A task on its way from the stored row to the next one.
pub(super) struct Append {
    id: TaskId,
    is_new: bool,
    /// Where the stored row stands in the indexes.
    indexed: Option<Indexed>,
    task: Option<Task>,
    epoch: u64,
    owner: Option<Owner>,
    claimed_on: Option<String>,
    head: ChainHead,
    events: Vec<NewEvent>,
}

/// An event's texts as they will be stored.
pub(super) struct EventText {
    /// Who, as JSON.
    pub(super) actor: String,
    /// What, as JSON.
    pub(super) payload: String,
}

/// The values that place a row in the indexes and may change.
#[derive(PartialEq, Eq)]
struct Indexed {
    is_final: bool,
    wants_owner: bool,
    live_session: Option<SessionId>,
    owner: Option<WorkerId>,
}

impl Indexed {
    fn of(task: &Task, owner: Option<&Owner>) -> Indexed {
        Indexed {
            is_final: task.state.is_final(),
            wants_owner: task.state.wants_owner(),
            live_session: task.state.session().map(|session| session.id),
            owner: owner.map(|owner| owner.worker),
        }
    }
}

struct NewEvent {
    seq: u64,
    at: Time,
    epoch: u64,
    kind: &'static str,
    text: EventText,
    hash: ChainHead,
}

impl Append {
    /// Goes on from a stored row, or from nothing for a new task.
    pub(super) fn to(id: TaskId, found: Option<TaskRow>) -> Append {
        let is_new = found.is_none();
        let indexed = found.as_ref().map(|row| Indexed::of(&row.stored.task, row.stored.owner.as_ref()));
        let (task, epoch, owner, head) = match found {
            Some(TaskRow { stored, head }) => (Some(stored.task), stored.epoch, stored.owner, head),
            None => (None, 0, None, ChainHead::empty(id)),
        };
        Append { id, is_new, indexed, task, epoch, owner, claimed_on: None, head, events: Vec::new() }
    }

    /// Applies one event; an event without an edge is refused.
    pub(super) fn event(&mut self, event: &Event, text: EventText, at: Time) -> Result<(), IllegalEvent> {
        let task = match &self.task {
            None => Task::begin(self.id, event, at)?,
            Some(task) => task.apply(event, at)?,
        };
        let (seq, epoch, kind) = (task.version, self.epoch, event.kind());
        let entry = ChainEntry { seq, at, epoch, actor: &text.actor, kind, payload: &text.payload };
        self.head = link(&self.head, self.id, &entry);
        self.task = Some(task);
        self.events.push(NewEvent { seq, at, epoch, kind, text, hash: self.head });
        Ok(())
    }

    /// Takes the lease: the next epoch, and a `Claimed` event under it.
    pub(super) fn claim(&mut self, lease: &NewLease, from: Option<WorkerId>, at: Time) -> Result<(), CommitError> {
        let event = Event::Claimed { worker: lease.worker, host: lease.host.clone(), from };
        let text = EventText { actor: as_json(&Actor::worker())?, payload: as_json(&event)? };
        self.epoch += 1;
        self.event(&event, text, at)?;
        self.owner = Some(Owner {
            worker: lease.worker,
            host: lease.host.clone(),
            lease: Lease { epoch: self.epoch, id: lease.id },
            since: at,
        });
        self.claimed_on = Some(lease.host.clone());
        Ok(())
    }

    /// Writes the task's row and its new events, and gives the lease up if the task wants no owner any more.
    pub(super) fn write(mut self, connection: &Connection, principal: &str) -> Result<Stored, CommitError> {
        let Some(task) = self.task.take() else {
            return Err(IllegalEvent { state: "nothing", event: "nothing" }.into());
        };
        if !task.state.wants_owner() {
            self.owner = None;
        }
        if self.is_new {
            self.insert(connection, &task, principal)?;
        } else {
            self.update(connection, &task)?;
        }
        self.insert_events(connection)?;
        Ok(Stored { task, epoch: self.epoch, owner: self.owner })
    }

    fn insert(&self, connection: &Connection, task: &Task, principal: &str) -> Result<(), CommitError> {
        const SQL: &str = "INSERT INTO tasks (id, project, name, parent, driver, state, final, wants_owner, \
             waits_for_person, live_session, version, created, updated, epoch, owner, owner_host, lease_id, owner_since, \
             host, head, snapshot, tenant, principal) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, \
             'default', ?22)";
        let columns = Columns::of(task);
        let owner = self.owner.as_ref();
        let inserted = connection.prepare_cached(SQL).map_err(store_error)?.execute(params![
            columns.id,
            columns.project,
            columns.name,
            columns.parent,
            columns.driver,
            columns.state,
            columns.is_final,
            columns.wants_owner,
            columns.waits_for_person,
            columns.live_session,
            columns.version,
            columns.created,
            columns.updated,
            self.epoch,
            owner.map(|owner| owner.worker.to_string()),
            owner.map(|owner| &owner.host),
            owner.map(|owner| owner.lease.id.to_string()),
            owner.map(|owner| owner.since.0),
            self.claimed_on,
            self.head.to_string(),
            as_json(task)?,
            principal,
        ]);
        match inserted {
            Ok(_) => Ok(()),
            Err(error) if is_name_clash(&error) => Err(CommitError::NameTaken { name: columns.name }),
            Err(error) => Err(store_error(error).into()),
        }
    }

    fn update(&self, connection: &Connection, task: &Task) -> Result<(), StoreError> {
        const MOVED: &str = "UPDATE tasks SET state = ?2, final = ?3, wants_owner = ?4, waits_for_person = ?5, \
             live_session = ?6, version = ?7, updated = ?8, epoch = ?9, owner = ?10, owner_host = ?11, lease_id = ?12, \
             owner_since = ?13, host = coalesce(?14, host), head = ?15, snapshot = ?16 WHERE id = ?1";
        // SQLite writes every index anew that a statement names a column of, even if its value stays: four pages a commit.
        const STAYED: &str = "UPDATE tasks SET state = ?2, waits_for_person = ?5, version = ?7, updated = ?8, \
             epoch = ?9, owner_host = ?11, lease_id = ?12, owner_since = ?13, host = coalesce(?14, host), head = ?15, \
             snapshot = ?16 WHERE id = ?1";
        let snapshot = as_json(task)?;
        let owner = self.owner.as_ref();
        let stayed = self.indexed == Some(Indexed::of(task, owner));
        let changed = connection
            .prepare_cached(if stayed { STAYED } else { MOVED })
            .and_then(|mut statement| {
                statement.execute(params![
                    self.id.to_string(),
                    task.state.name(),
                    task.state.is_final(),
                    task.state.wants_owner(),
                    task.state.waits_for_person(),
                    task.state.session().map(|session| session.id.to_string()),
                    task.version,
                    task.updated.0,
                    self.epoch,
                    owner.map(|owner| owner.worker.to_string()),
                    owner.map(|owner| &owner.host),
                    owner.map(|owner| owner.lease.id.to_string()),
                    owner.map(|owner| owner.since.0),
                    self.claimed_on,
                    self.head.to_string(),
                    snapshot,
                ])
            })
            .map_err(store_error)?;
        if changed == 1 { Ok(()) } else { Err(damaged(format!("tasks/{}: not one row but {changed}", self.id))) }
    }

    fn insert_events(&self, connection: &Connection) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO events (task, seq, at, epoch, actor, kind, payload, hash) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let mut statement = connection.prepare_cached(SQL).map_err(store_error)?;
        let task = self.id.to_string();
        for event in &self.events {
            let EventText { actor, payload } = &event.text;
            let hash = event.hash.to_string();
            let values = params![task, event.seq, event.at.0, event.epoch, actor, event.kind, payload, hash];
            statement.execute(values).map_err(store_error)?;
        }
        Ok(())
    }
}

/// A value of ours as the JSON text that is stored.
pub(super) fn as_json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .map_err(|error| StoreError::Failed { what: format!("a value has no JSON spelling: {error}") })
}

/// The only unique index of `tasks` beside its primary key is the one over unfinished names.
fn is_name_clash(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|failure| failure.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE)
}

//! The database as rows, read anew without the store's code.

use rusqlite::Connection;
use serde_json::Value;

use crate::env::TestEnv;

/// One row of `tasks` with its events.
pub(super) struct TaskRow {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) state: String,
    pub(super) version: i64,
    pub(super) epoch: i64,
    pub(super) owner: Option<String>,
    pub(super) live_session: Option<String>,
    pub(super) head: String,
    /// The last one, if there is one yet.
    pub(super) snapshot: Option<Value>,
    pub(super) events: Vec<EventRow>,
}

/// One row of `events`.
pub(super) struct EventRow {
    pub(super) seq: i64,
    pub(super) at: i64,
    pub(super) epoch: i64,
    pub(super) actor: String,
    pub(super) kind: String,
    pub(super) payload: String,
    pub(super) hash: String,
    /// The payload, parsed.
    pub(super) event: Value,
}

/// A session as the events tell of it.
pub(super) struct SessionRow<'a> {
    pub(super) id: &'a str,
    /// As it was committed.
    pub(super) run: &'a Value,
    /// The `ended` of its end, once it was observed.
    pub(super) ended: Option<&'a Value>,
    /// What was committed as read from it, in order.
    pub(super) readings: Vec<&'a Value>,
}

impl TaskRow {
    /// The sessions of this task in the order of their starts.
    pub(super) fn sessions(&self) -> Vec<SessionRow<'_>> {
        let mut sessions: Vec<SessionRow<'_>> = Vec::new();
        for row in &self.events {
            let id = row.event["session"].as_str().unwrap_or_default();
            match row.kind.as_str() {
                "session_started" => {
                    let run = &row.event["session"];
                    let id = run["id"].as_str().unwrap_or_default();
                    sessions.push(SessionRow { id, run, ended: None, readings: Vec::new() });
                }
                "session_read" => with(&mut sessions, id, |session| session.readings.push(&row.event)),
                "session_ended" => with(&mut sessions, id, |session| session.ended = Some(&row.event["ended"])),
                _ => {}
            }
        }
        sessions
    }
}

fn with<'s, 'a>(sessions: &'s mut [SessionRow<'a>], id: &str, change: impl FnOnce(&'s mut SessionRow<'a>)) {
    if let Some(session) = sessions.iter_mut().find(|session| session.id == id) {
        change(session);
    }
}

/// Every task with its events; an empty list when the home has no database.
pub(super) fn read(env: &TestEnv) -> Result<Vec<TaskRow>, String> {
    if !env.home().join("longhaul.db").exists() {
        return Ok(Vec::new());
    }
    let connection = env.database().ok_or("it does not open")?;
    rows(&connection).map_err(|error| error.to_string())
}

fn rows(connection: &Connection) -> rusqlite::Result<Vec<TaskRow>> {
    const SQL: &str = "SELECT id, name, state, tasks.version, tasks.epoch, owner, live_session, tasks.head, body FROM tasks \
         LEFT JOIN snapshots ON snapshots.task = number ORDER BY created, id";
    let mut statement = connection.prepare(SQL)?;
    let found = statement.query_map([], |row| {
        let snapshot: Option<String> = row.get(8)?;
        Ok(TaskRow {
            id: row.get(0)?,
            name: row.get(1)?,
            state: row.get(2)?,
            version: row.get(3)?,
            epoch: row.get(4)?,
            owner: row.get(5)?,
            live_session: row.get(6)?,
            head: row.get(7)?,
            snapshot: snapshot.map(|text| serde_json::from_str(&text).unwrap_or_default()),
            events: Vec::new(),
        })
    })?;
    let mut tasks = found.collect::<rusqlite::Result<Vec<TaskRow>>>()?;
    for task in &mut tasks {
        task.events = events(connection, &task.id)?;
    }
    Ok(tasks)
}

fn events(connection: &Connection, task: &str) -> rusqlite::Result<Vec<EventRow>> {
    const SQL: &str = "SELECT seq, at, epoch, actor, kind, payload, hash FROM events \
         WHERE task = (SELECT number FROM tasks WHERE id = ?1) ORDER BY seq";
    let mut statement = connection.prepare(SQL)?;
    let found = statement.query_map([task], |row| {
        let payload: String = row.get(5)?;
        Ok(EventRow {
            seq: row.get(0)?,
            at: row.get(1)?,
            epoch: row.get(2)?,
            actor: row.get(3)?,
            kind: row.get(4)?,
            hash: row.get(6)?,
            event: serde_json::from_str(&payload).unwrap_or_default(),
            payload,
        })
    })?;
    found.collect()
}

/// All events as lines, for the message of a failed test.
pub(super) fn story(env: &TestEnv) -> String {
    let tasks = read(env).unwrap_or_default();
    let lines = tasks.iter().flat_map(|task| {
        let line = |row: &EventRow| format!("{} {} e{} {}", task.name, row.seq, row.epoch, row.payload);
        task.events.iter().map(line).collect::<Vec<String>>()
    });
    lines.collect::<Vec<String>>().join("\n")
}

//! What durable commits cost: one task in sequence, and many tasks at once, beside plain SQLite on the same disk.
//! Called by `bench`. Plain SQLite is the least such a commit can be: in one transaction each, with the same durability, one
//! event is inserted with the same bytes and one row of the task is updated.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use longhaul_core::ids::SessionId;
use longhaul_core::task::Purpose;
use longhaul_store::Stored;
use longhaul_store::sqlite::SqliteStore;
use rusqlite::Connection;
use tokio::task::JoinSet;

use super::compare::in_turn;
use super::sample_task::{advance, output_read, planned, started};
use super::scene::{Outcome, Scene, ensure, now, random, runtime};
use super::table::{Bound, Row};

const ROUNDS: usize = 20;
const IN_SEQUENCE: u32 = 200;
const TASKS_AT_ONCE: u32 = 64;
const EACH_AT_ONCE: u32 = 20;

/// Measures rates of commits.
pub(super) fn measure(scene: &Scene) -> Outcome<Vec<Row>> {
    let home = scene.directory("commits")?;
    let (runtime, store) = (runtime()?, Arc::new(SqliteStore::open(&home)?));
    let plain = PlainTables::open(&home.join("plain.db"))?;
    let mut single = runtime.block_on(Working::new(&store, &home, "single"))?;
    let mut many = runtime.block_on(many_tasks(&store, &home))?;
    let [raw, in_sequence, at_once] = in_turn(scene.rounds(ROUNDS), |_| {
        Ok([
            per_second(IN_SEQUENCE, || plain.commit(IN_SEQUENCE))?,
            per_second(IN_SEQUENCE, || runtime.block_on(single.commit(&store, IN_SEQUENCE)))?,
            per_second(TASKS_AT_ONCE * EACH_AT_ONCE, || runtime.block_on(commit_at_once(&store, &mut many)))?,
        ])
    })?;
    let row = |what: String, figures| {
        Row::new(what, "/s", figures).beside("plain SQLite: one insert, one update, commit", &raw)
    };
    Ok(vec![
        row("durable commits of one task in sequence".to_owned(), &in_sequence).gate(Bound::AtLeast(0.7)),
        row(format!("durable commits of {TASKS_AT_ONCE} tasks at once"), &at_once).gate(Bound::AtLeast(5.0)),
    ])
}

/// A task with a live session.
struct Working {
    stored: Stored,
    session: SessionId,
    byte: u64,
}

impl Working {
    async fn new(store: &SqliteStore, project: &Path, name: &str) -> Outcome<Working> {
        let stored = planned(store, project, name).await?;
        let session = SessionId::mint(now(), random());
        let stored = advance(store, &stored, started(&stored, session, Purpose::Work)).await?;
        Ok(Working { stored, session, byte: 0 })
    }

    /// Commits one after the other, each on what the one before made.
    async fn commit(&mut self, store: &SqliteStore, count: u32) -> Outcome {
        for _ in 0..count {
            self.byte += 512;
            self.stored = advance(store, &self.stored, output_read(self.session, self.byte)).await?;
        }
        Ok(())
    }
}

async fn many_tasks(store: &SqliteStore, project: &Path) -> Outcome<Vec<Working>> {
    let mut many = Vec::new();
    for number in 0..TASKS_AT_ONCE {
        many.push(Working::new(store, project, &format!("task-{number}")).await?);
    }
    Ok(many)
}

async fn commit_at_once(store: &Arc<SqliteStore>, many: &mut Vec<Working>) -> Outcome {
    let mut running = JoinSet::new();
    for mut working in many.drain(..) {
        let store = Arc::clone(store);
        running.spawn(async move { working.commit(&store, EACH_AT_ONCE).await.map(|()| working) });
    }
    *many = running.join_all().await.into_iter().collect::<Result<_, _>>()?;
    Ok(())
}

/// The least a durable commit of one event can be.
struct PlainTables {
    connection: Connection,
    payload: String,
}

impl PlainTables {
    fn open(path: &Path) -> Outcome<PlainTables> {
        let connection = Connection::open(path)?;
        let mode: String = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
        connection.pragma_update(None, "synchronous", "full")?;
        let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
        ensure(mode == "wal" && synchronous == 2, || format!("plain SQLite has {mode} and {synchronous}"))?;
        connection.execute_batch(
            "CREATE TABLE events (id INTEGER PRIMARY KEY, payload TEXT NOT NULL) STRICT; \
             CREATE TABLE tasks (id INTEGER PRIMARY KEY, version INTEGER NOT NULL) STRICT; \
             INSERT INTO tasks VALUES (1, 0);",
        )?;
        let payload = serde_json::to_string(&output_read(SessionId::mint(now(), random()), 0))?;
        Ok(PlainTables { connection, payload })
    }

    /// Commits one after the other.
    fn commit(&self, count: u32) -> Outcome {
        let run = |sql| self.connection.prepare_cached(sql)?.execute([]);
        for _ in 0..count {
            run("BEGIN IMMEDIATE")?;
            self.connection.prepare_cached("INSERT INTO events (payload) VALUES (?1)")?.execute([&self.payload])?;
            run("UPDATE tasks SET version = version + 1 WHERE id = 1")?;
            run("COMMIT")?;
        }
        Ok(())
    }
}

fn per_second(count: u32, work: impl FnOnce() -> Outcome) -> Outcome<f64> {
    let begin = Instant::now();
    work()?;
    Ok(f64::from(count) / begin.elapsed().as_secs_f64())
}

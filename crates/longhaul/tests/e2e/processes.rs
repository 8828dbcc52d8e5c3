//! Who lives in a scratch home: owners, keepers and agents, found by what is on disk, and their sudden death.
//!
//! Used by the kill tests. Reads the database by itself, so that it never trusts what a verb says about it.

use std::fs::File;
use std::path::Path;

use nix::sys::signal::Signal;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use serde_json::Value;

use crate::env::{TestEnv, processes_with, wait_for};
use crate::sight::{alive, threads};

/// One process: a number alone is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) start: u64,
}

impl Process {
    /// The process that has this number now.
    pub(crate) fn now(pid: i32) -> Option<Process> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may contain blanks and brackets; the last bracket ends it. The start is the twenty-second field.
        let start = stat.rsplit_once(") ")?.1.split(' ').nth(19)?.parse().ok()?;
        Some(Process { pid, start })
    }

    /// A process as a lock or an identity names it.
    pub(crate) fn read(value: &Value) -> Option<Process> {
        Some(Process { pid: value["pid"].as_i64()?.try_into().ok()?, start: value["start"].as_u64()? })
    }

    /// Whether exactly this process lives: a zombie does not, but one whose last threads still hold its locks does.
    pub(crate) fn is_alive(self) -> bool {
        Process::now(self.pid) == Some(self) && alive(self.pid)
    }

    /// Ends it as the machine would, and waits until it is gone.
    pub(crate) fn kill_9(self) {
        self.signal(Signal::SIGKILL);
        wait_for("a killed process to be gone", || (!self.is_alive()).then_some(()));
    }

    pub(crate) fn signal(self, signal: Signal) {
        if self.is_alive() {
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.pid), signal).ok();
        }
    }

    /// Whether it is stopped and will do nothing until it is continued.
    pub(crate) fn is_stopped(self) -> bool {
        self.every_thread_is("T")
    }

    /// Whether it runs no code of its own until it is continued; a parent may wait in the kernel for a stopped child's exec.
    fn stands_still(self) -> bool {
        self.every_thread_is("TD")
    }

    fn every_thread_is(self, states: &str) -> bool {
        let threads = threads(self.pid);
        !threads.is_empty() && threads.chars().all(|state| states.contains(state))
    }

    /// Lets an agent with the fault `stop` go on, once it stands still.
    pub(crate) fn release(self) {
        wait_for("the agent to stand still", || self.is_stopped().then_some(()));
        self.signal(Signal::SIGCONT);
    }

    /// The file it runs, even when its name is gone.
    pub(crate) fn executable(self) -> Option<std::fs::Metadata> {
        std::fs::metadata(format!("/proc/{}/exe", self.pid)).ok()
    }
}

impl TestEnv {
    /// The database of this home, for reading.
    pub(crate) fn database(&self) -> Option<Connection> {
        let connection =
            Connection::open_with_flags(self.home().join("longhaul.db"), OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        connection.busy_timeout(std::time::Duration::from_secs(10)).ok()?;
        Some(connection)
    }

    /// One column of a task's row, by the task's name.
    pub(crate) fn column(&self, task: &str, column: &str) -> Option<String> {
        let sql = format!("SELECT CAST({column} AS TEXT) FROM tasks WHERE name = ?1");
        let found = self.database()?.query_row(&sql, [task], |row| row.get(0)).optional();
        found.ok()?.flatten()
    }

    /// The worker that owns a task and lives.
    pub(crate) fn owner(&self, task: &str) -> Option<Process> {
        let lock = self.home().join("workers").join(format!("{}.lock", self.column(task, "owner")?));
        if is_free(&lock) {
            return None;
        }
        let text = std::fs::read_to_string(lock).ok()?;
        Process::read(&serde_json::from_str(&text).ok()?)
    }

    /// Keeper and agent of a session, as the keeper wrote them down.
    pub(crate) fn identity(&self, session: &str) -> Option<(Process, Process)> {
        let text = std::fs::read_to_string(self.home().join("sessions").join(session).join("identity")).ok()?;
        let identity: Value = serde_json::from_str(&text).ok()?;
        Some((Process::read(&identity["keeper"])?, Process::read(&identity["child"])?))
    }

    /// Waits for the live session of a task and its keeper's identity.
    pub(crate) fn live_session(&self, task: &str) -> (String, Process, Process) {
        wait_for("a live session", || {
            let session = self.column(task, "live_session")?;
            let (keeper, agent) = self.identity(&session)?;
            Some((session, keeper, agent))
        })
    }

    /// Waits until the live session's conversation is durable.
    pub(crate) fn known_conversation(&self, task: &str) -> String {
        wait_for("a committed conversation", || Some(self.recorded_session(task)?["conversation"].as_str()?.to_owned()))
    }

    /// The live session as the committed events tell of it: as it started, with the conversation that was read since.
    pub(crate) fn recorded_session(&self, task: &str) -> Option<Value> {
        const SQL: &str = "SELECT payload FROM events JOIN tasks ON number = task \
             WHERE name = ?1 AND events.kind IN ('session_started', 'session_read', 'session_ended') ORDER BY seq";
        let database = self.database()?;
        let mut statement = database.prepare(SQL).ok()?;
        let payloads = statement.query_map([task], |row| row.get::<_, String>(0)).ok()?;
        let mut live = None;
        for payload in payloads {
            let event: Value = serde_json::from_str(&payload.ok()?).ok()?;
            match (event["kind"].as_str()?, &mut live) {
                ("session_started", _) => live = Some(event["session"].clone()),
                ("session_read", Some(session)) if event["said"]["conversation"].is_string() => {
                    session["conversation"] = event["said"]["conversation"].clone();
                }
                ("session_ended", _) => live = None,
                _ => {}
            }
        }
        live
    }

    /// Every living process of this home.
    pub(crate) fn processes(&self) -> Vec<Process> {
        let home = format!("LONGHAUL_HOME={}", self.home().display());
        let found = [processes_with(&home), self.grouped()].concat();
        found.into_iter().filter_map(Process::now).collect()
    }

    /// Ends all processes of this home in one instant, as a power cut would: none sees another die.
    pub(crate) fn power_cut(&self) {
        loop {
            let all = self.processes();
            if all.is_empty() {
                return;
            }
            all.iter().for_each(|process| process.signal(Signal::SIGSTOP));
            wait_for("all to stand still", || {
                all.iter().all(|process| process.stands_still() || !process.is_alive()).then_some(())
            });
            all.iter().for_each(|process| process.signal(Signal::SIGKILL));
            wait_for("all to be gone", || all.iter().all(|process| !process.is_alive()).then_some(()));
        }
    }

    /// Waits until every process of this home has left by itself.
    pub(crate) fn wait_until_empty(&self) {
        wait_for("every process of the home to leave", || self.processes().is_empty().then_some(()));
    }

    /// Waits until no worker of this home lives, by their locks.
    pub(crate) fn wait_until_workers_are_dead(&self) {
        wait_for("the workers to be dead", || {
            let entries = std::fs::read_dir(self.home().join("workers")).ok()?;
            entries.flatten().all(|entry| is_free(&entry.path())).then_some(())
        });
    }
}

/// Whether nobody holds this lock file.
pub(crate) fn is_free(lock: &Path) -> bool {
    File::open(lock).map_or(true, |file| file.try_lock_shared().is_ok())
}

//! What a test sees of a running world: states, owners, sessions and processes, read from the outside only.
//!
//! Used by the modules that act as a user. Signals go to processes this world started, never by name.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::env::{Done, TestEnv, done, wait_for};

/// The processes of a session whose agent has told its conversation.
pub(crate) struct Live {
    pub(crate) session: String,
    pub(crate) conversation: String,
    pub(crate) keeper: i32,
    pub(crate) agent: i32,
}

impl TestEnv {
    /// Waits until a task is in a state.
    pub(crate) fn reach(&self, task: &str, state: &str) {
        wait_for(&format!("{task} to be {state}"), || (self.state(task) == state).then_some(()));
    }

    /// Waits until the agent of this task's session number has told its conversation.
    pub(crate) fn live(&self, task: &str, number: u64) -> Live {
        wait_for(&format!("session {number} of {task}"), || {
            let session = self.recorded_session(task)?;
            if session["number"] != number {
                return None;
            }
            let conversation = session["conversation"].as_str()?.to_owned();
            let id = session["id"].as_str()?.to_owned();
            let (keeper, agent) = self.identity(&id)?;
            Some(Live { session: id, conversation, keeper: keeper.pid, agent: agent.pid })
        })
    }

    /// The process that owns a task, by the lock that proves it.
    pub(crate) fn worker_pid(&self, task: &str) -> i32 {
        self.owner(task).expect("the task has a living owner").pid
    }

    /// Waits until nothing of this world is alive.
    pub(crate) fn deserted(&self) {
        self.wait_until_empty();
        for line in self.ledger_lines() {
            let daemons = line["pids"].as_array().cloned().unwrap_or_default();
            for pid in daemons.iter().filter_map(Value::as_i64) {
                assert!(!alive(i32::try_from(pid).unwrap()), "daemon {pid} was left behind");
            }
        }
    }

    /// Starts a command and leaves it running.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs a command with this text on its standard input.
    pub(crate) fn feed(&self, args: &[&str], input: &[u8]) -> Done {
        let mut command = self.command(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A command that refuses before reading closes the pipe; its exit code tells.
        stdin.write_all(input).ok();
        drop(stdin);
        finish(child)
    }

    /// The ledger's lines of one kind.
    pub(crate) fn ledger_of(&self, event: &str) -> Vec<Value> {
        self.ledger_lines().into_iter().filter(|line| line["event"] == event).collect()
    }
}

/// Waits for a command and takes what it printed.
pub(crate) fn finish(child: Child) -> Done {
    done(&child.wait_with_output().unwrap())
}

/// The letters of what the threads of a process do; none when there is no such process. They die and stop one by one.
pub(crate) fn threads(pid: i32) -> String {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let stats = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("stat")).ok());
    stats.filter_map(|stat| stat.rsplit_once(") ")?.1.chars().next()).collect()
}

/// Whether any thread of a process lives: its first one may be dead while another still holds its files and locks.
pub(crate) fn alive(pid: i32) -> bool {
    threads(pid).contains(|state| !"ZX".contains(state))
}

/// Waits until a process is gone.
pub(crate) fn gone(pid: i32) {
    wait_for(&format!("process {pid} to be gone"), || (!alive(pid)).then_some(()));
}

pub(crate) fn send(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).unwrap();
}

/// Kills without a word, and waits until it is so.
pub(crate) fn kill_9(pid: i32) {
    send(pid, Signal::SIGKILL);
    gone(pid);
}

/// Every file, directory and link below a directory, with the content's length; what a command must not have changed.
pub(crate) fn listing(root: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Ok(meta) = entry.path().symlink_metadata() else { continue };
            if meta.is_dir() {
                open.push(entry.path());
            }
            found.insert(entry.path(), if meta.is_dir() { 0 } else { meta.len() });
        }
    }
    found
}

/// A process id that is surely dead: its process was waited for.
pub(crate) fn dead_pid() -> u32 {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    pid
}

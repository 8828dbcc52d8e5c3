//! The ledger: a file that tests read to learn which agents were alive, when, and whether two were on one task at once.
//!
//! Called by `session.rs` when `DEMO_LEDGER` is set. A lock held for the life of the process proves the overlap, not the clock.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::files::{self, Access, FileError};
use super::memory::now_ms;

/// The open ledger of this process; dropping it lets go of the task.
#[derive(Debug)]
pub(super) struct Ledger {
    path: PathBuf,
    about: Map<String, Value>,
    lock: File,
}

impl Ledger {
    /// Takes the task of this place, then writes the start line with the prompt, and an overlap line if another agent is alive there.
    pub(super) fn start(path: &Path, place: &[u8], about: Map<String, Value>, prompt: &str) -> Result<Self, FileError> {
        let mut lock_path = path.as_os_str().to_owned();
        lock_path.push(format!(".lock.{}", files::sha256_hex(place)));
        let lock = files::open_lock(Path::new(&lock_path))?;
        let alone = lock.try_lock().is_ok();
        let ledger = Self { path: path.to_owned(), about, lock };
        ledger.write("start", &[("prompt", json!(prompt))])?;
        if !alone {
            ledger.write("overlap", &[])?;
        }
        Ok(ledger)
    }

    /// Writes the line of a normal end.
    pub(super) fn end(&self, exit_code: u8) -> Result<(), FileError> {
        self.write("end", &[("exit_code", json!(exit_code))])
    }

    /// Writes down the processes that were left behind.
    pub(super) fn daemons(&self, pids: &[u32]) -> Result<(), FileError> {
        self.write("daemon", &[("pids", json!(pids))])
    }

    /// Lets the lock outlive an exec, so that the program after it still counts as this agent.
    pub(super) fn keep_over_exec(&self) -> std::io::Result<()> {
        Ok(rustix::io::fcntl_setfd(&self.lock, rustix::io::FdFlags::empty())?)
    }

    fn write(&self, event: &str, more: &[(&str, Value)]) -> Result<(), FileError> {
        let mut line = self.about.clone();
        line.insert("event".into(), json!(event));
        line.insert("pid".into(), json!(std::process::id()));
        line.insert("at_ms".into(), json!(now_ms()));
        line.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        files::append(&self.path, &format!("{}\n", Value::Object(line)), Access::Private)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(path: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap();
        let event = |line: &str| serde_json::from_str::<Value>(line).unwrap()["event"].as_str().unwrap().to_owned();
        text.lines().map(event).collect()
    }

    #[test]
    fn tells_overlap_from_succession_and_from_other_places() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger");
        let first = Ledger::start(&path, b"a", Map::new(), "p").unwrap();
        first.end(0).unwrap();
        // Closing would not do: a process that another test is just starting may share the lock for a moment.
        first.lock.unlock().unwrap();
        let second = Ledger::start(&path, b"a", Map::new(), "p").unwrap();
        let other_place = Ledger::start(&path, b"b", Map::new(), "p").unwrap();
        assert_eq!(events(&path), ["start", "end", "start", "start"]);
        let overlapping = Ledger::start(&path, b"a", Map::new(), "p").unwrap();
        assert_eq!(events(&path)[4..], ["start", "overlap"]);
        drop((second, other_place, overlapping));
    }
}

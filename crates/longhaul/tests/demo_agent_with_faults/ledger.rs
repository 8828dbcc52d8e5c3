//! The ledger: a file that tests read to learn which agents were alive, when, and whether two were on one task at once.
//!
//! Written when `DEMO_LEDGER` is set. A lock held for the life of the process proves the overlap, not the clock.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use demo_agent::{Request, Role};
use longhaul_core::fingerprint;
use serde_json::{Value, json};

use crate::invocation::{Invocation, now_ms};

/// The open ledger of this process; dropping it releases the task.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    about: Value,
    lock: File,
}

impl Ledger {
    /// Starts the ledger that the environment names, if it names one.
    pub(crate) fn of(request: &Request, invocation: Invocation) -> io::Result<Option<Self>> {
        let Some(path) = std::env::var_os("DEMO_LEDGER").filter(|path| !path.is_empty()) else { return Ok(None) };
        let prompt = &request.prompt;
        let about = json!({
            "invocation": invocation.number,
            "session": std::env::var("LONGHAUL_SESSION").ok(),
            // The id of a new one is not known yet.
            "conversation": request.arguments.resume,
            "resume": request.arguments.resume.is_some(),
            "prompt_sha": fingerprint::of_bytes(prompt.text.as_bytes()),
            "prompt_mark": prompt.text.lines().find_map(|line| line.strip_prefix("Session:")).map(str::trim),
        });
        let directory = match &prompt.role {
            Role::Plan(directory) | Role::Work(directory) | Role::Fix(directory) => directory.as_path(),
            Role::Answer => Path::new(""),
        };
        let place = [request.workspace.as_os_str().as_bytes(), b"\0", directory.as_os_str().as_bytes()].concat();
        Self::start(Path::new(&path), &place, about, &prompt.text).map(Some)
    }

    /// Takes the task of this place, then writes the start line with the prompt, and an overlap line if another agent is alive there.
    fn start(path: &Path, place: &[u8], about: Value, prompt: &str) -> io::Result<Self> {
        let mut lock_path = path.as_os_str().to_owned();
        lock_path.push(format!(".lock.{}", fingerprint::of_bytes(place)));
        let lock = open(Path::new(&lock_path))?;
        let alone = lock.try_lock().is_ok();
        let ledger = Self { path: path.to_owned(), about, lock };
        ledger.write("start", &[("prompt", json!(prompt))])?;
        if !alone {
            ledger.write("overlap", &[])?;
        }
        Ok(ledger)
    }

    /// Writes the line of a normal end.
    pub(crate) fn end(&self, exit_code: u8) -> io::Result<()> {
        self.write("end", &[("exit_code", json!(exit_code))])
    }

    /// Writes down the processes that were left behind.
    pub(crate) fn daemons(&self, pids: &[u32]) -> io::Result<()> {
        self.write("daemon", &[("pids", json!(pids))])
    }

    /// Lets the lock outlive an exec, so that the program after it still counts as this agent.
    pub(crate) fn keep_over_exec(&self) -> io::Result<()> {
        Ok(rustix::io::fcntl_setfd(&self.lock, rustix::io::FdFlags::empty())?)
    }

    fn write(&self, event: &str, more: &[(&str, Value)]) -> io::Result<()> {
        let mut line = self.about.clone();
        let always = [("event", json!(event)), ("pid", json!(std::process::id())), ("at_ms", json!(now_ms()))];
        for (name, value) in always.iter().chain(more) {
            line[*name] = value.clone();
        }
        // In a single write, so that lines of several processes do not mix.
        open(&self.path)?.write_all(format!("{line}\n").as_bytes())
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
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
        let first = Ledger::start(&path, b"a", json!({}), "p").unwrap();
        first.end(0).unwrap();
        // Closing would not do: a process that another test is just starting may share the lock for a moment.
        first.lock.unlock().unwrap();
        let second = Ledger::start(&path, b"a", json!({}), "p").unwrap();
        let other_place = Ledger::start(&path, b"b", json!({}), "p").unwrap();
        assert_eq!(events(&path), ["start", "end", "start", "start"]);
        let overlapping = Ledger::start(&path, b"a", json!({}), "p").unwrap();
        assert_eq!(events(&path)[4..], ["start", "overlap"]);
        drop((second, other_place, overlapping));
    }
}

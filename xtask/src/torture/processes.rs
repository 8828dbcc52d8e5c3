//! The processes of a scene, found in `/proc` by the home in their environment, the scene in their arguments, or a parent that is one.
//! Used to choose whom to signal and to look for what was left behind. Nobody else is ever signalled.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// What a process is in the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Worker,
    Keeper,
    Agent,
    Child,
    /// A check, or the setup of its checkout.
    Check,
    Git,
    /// Not chosen for a signal: what the others run.
    Other,
}

/// Those who are signalled.
pub(super) const VICTIMS: [Kind; 6] = [Kind::Worker, Kind::Keeper, Kind::Agent, Kind::Child, Kind::Check, Kind::Git];

/// One process, which its start time tells from a later one of the same number.
#[derive(Debug, Clone)]
pub(super) struct Process {
    pid: i32,
    start: u64,
    parent: i32,
    pub(super) kind: Kind,
    pub(super) command: String,
}

impl Process {
    fn read(pid: i32) -> Option<Process> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let name = stat.get(stat.find('(')? + 1..stat.rfind(')')?)?.to_owned();
        let fields: Vec<&str> = stat.get(stat.rfind(')')? + 2..)?.split(' ').collect();
        if fields.first() == Some(&"Z") {
            return None;
        }
        let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).trim_end_matches('\0').replace('\0', " ");
        let (parent, start) = (fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?);
        Some(Process { pid, start, parent, kind: kind_of(&name, &command), command })
    }

    /// Sends a signal, if it is still the same process; says whether it was.
    pub(super) fn signal(&self, signal: Signal) -> bool {
        let is_same = Process::read(self.pid).is_some_and(|now| now.start == self.start);
        is_same && Pid::from_raw(self.pid).is_some_and(|pid| kill_process(pid, signal).is_ok())
    }
}

fn kind_of(name: &str, command: &str) -> Kind {
    match command.split(' ').nth(1) {
        _ if name == "git" => Kind::Git,
        Some("worker") => Kind::Worker,
        Some("keep") => Kind::Keeper,
        Some(script) if script.ends_with("/agent.sh") => Kind::Agent,
        Some(script) if script.ends_with("/check.sh") => Kind::Check,
        _ if command.contains(" child ") => Kind::Child,
        Some(_) | None => Kind::Other,
    }
}

/// All processes of a scene but this one.
pub(super) fn of(scene: &Path, home: &Path) -> Vec<Process> {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut others: Vec<Process> = numbers.filter_map(Process::read).collect();
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    others.retain(|process| process.pid != own);
    let (scene, home) = (scene.display().to_string(), format!("LONGHAUL_HOME={}", home.display()));
    let mut found: Vec<Process> = Vec::new();
    let mut known = BTreeSet::new();
    loop {
        let belongs = |process: &mut Process| {
            known.contains(&process.parent) || process.command.contains(&scene) || has_variable(process.pid, &home)
        };
        let more: Vec<Process> = others.extract_if(.., belongs).collect();
        if more.is_empty() {
            return found;
        }
        known.extend(more.iter().map(|process| process.pid));
        found.extend(more);
    }
}

fn has_variable(pid: i32, wanted: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
}

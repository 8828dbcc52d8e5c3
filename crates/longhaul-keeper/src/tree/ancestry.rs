//! Who a process is to a home: a person, something below an agent session, or unknown; and its line of ancestors.
//!
//! Every verb of the command line asks about itself, because below a session it has that session's scope only; a worker asks about
//! whoever hands it something. Four signs, since an
//! agent can scrub its environment: our own marker, our control group, the marker of an ancestor, a keeper among them.
//! A process in another PID namespace than a worker of the home can hide all four, so it is unknown.

use std::path::Path;

use longhaul_core::ids::SessionId;

use crate::layout::{SESSION_VARIABLE, SessionDir};
use crate::lock::WorkerLock;
use crate::os;
use crate::tree::process::Process;

/// Who a process is to a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// Nothing ties it to a session.
    Person,
    /// Below this agent session.
    Session(SessionId),
    /// No sign of a session, but in another PID namespace than a live worker of the home.
    Unknown,
}

impl Caller {
    /// Who the process with this number is to the home whose worker locks are in `workers`.
    pub fn of(pid: u32, workers: &Path) -> Caller {
        match session_above(pid) {
            Some(session) => Caller::Session(session),
            None if WorkerLock::lives_elsewhere(workers, os::pid_namespace(pid)) => Caller::Unknown,
            None => Caller::Person,
        }
    }

    /// Who the calling process is.
    pub fn own(workers: &Path) -> Caller {
        let marked = std::env::var(SESSION_VARIABLE).ok().and_then(|value| value.parse().ok());
        marked.map_or_else(|| Caller::of(os::own_number(), workers), Caller::Session)
    }
}

/// The session that a process runs below, if there is any sign of one.
fn session_above(pid: u32) -> Option<SessionId> {
    let grouped = os::control_groups(pid).and_then(|groups| crate::tree::cgroup::session_in(&groups));
    grouped.or_else(|| line_from(pid).into_iter().find_map(|process| session_of(process.pid)))
}

/// The calling process, its parent, and so on up to where it can not be followed.
pub(crate) fn line_of_ancestors() -> Vec<Process> {
    line_from(std::process::id())
}

fn line_from(pid: u32) -> Vec<Process> {
    let mut line: Vec<Process> = Vec::new();
    let mut next = pid;
    // Numbers can be used again while we walk; a loop would never end.
    while next != 0 && line.iter().all(|seen| seen.pid != next) {
        let Ok(Some(seen)) = os::process(next) else { break };
        line.push(seen.process);
        next = seen.parent;
    }
    line
}

fn session_of(pid: u32) -> Option<SessionId> {
    marker_of(pid).or_else(|| kept_by(&os::command_line(pid)?))
}

fn marker_of(pid: u32) -> Option<SessionId> {
    let environment = os::environment(pid)?;
    environment.split(|&byte| byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(SESSION_VARIABLE.as_bytes())?.strip_prefix(b"=")?;
        std::str::from_utf8(value).ok()?.parse().ok()
    })
}

fn kept_by(command_line: &[u8]) -> Option<SessionId> {
    let mut arguments = command_line.split(|&byte| byte == 0).skip(1).skip_while(|argument| *argument != b"keep");
    arguments.next()?;
    let directory = std::str::from_utf8(arguments.next()?).ok()?;
    SessionDir::at(Path::new(directory)).ok().map(|directory| directory.session())
}

#[cfg(test)]
mod tests {
    use super::kept_by;

    #[test]
    fn a_keeper_is_known_by_its_command_line() {
        let id = "0190c5a4-7d4e-7c3a-8f00-0123456789ab";
        let line = format!("longhaul\0keep\0/home/x/sessions/{id}\0");
        assert_eq!(kept_by(line.as_bytes()).map(|session| session.to_string()).as_deref(), Some(id));
        assert_eq!(kept_by(b"longhaul\0keep\0/home/x/other\0"), None);
        assert_eq!(kept_by(b"keep\0"), None);
    }
}

//! What a session's files say about its end, once its keeper is gone. What a dead keeper left running is ended here.
//!
//! An exit that nobody waited for is unknown, and unknown is never success.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use longhaul_core::causes::with_causes;
use longhaul_core::ids::SessionId;
use longhaul_core::task::{Exit, Gap, StoppedBy};
use longhaul_core::time::Time;
use longhaul_keeper::{
    EndRecord, ExitRecord, ExitStatus, InspectError, PROMPT, SessionDir, SessionStatus, Swept, Why, end_strays,
    inspect_session,
};

/// Between two tries at something that should have succeeded; what keeps failing is tried less and less often.
const TRY_AGAIN: Duration = Duration::from_millis(20);
const SELDOM: Duration = Duration::from_secs(5);

/// The observed end of a session's process tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Observed {
    pub(super) exit: Exit,
    pub(super) stopped_by: StoppedBy,
    pub(super) leftovers: u32,
    pub(super) gap: Gap,
    pub(super) at: Option<Time>,
    /// How long it ran, if its keeper knew.
    pub(super) ran_ms: Option<u64>,
}

/// Looks until the session's end is known and nothing of its tree is left. Blocks: a sweep may take several rounds.
pub(super) fn observe(dir: &SessionDir, tell: &dyn Fn(&str)) -> Observed {
    let mut pause = TRY_AGAIN;
    loop {
        match inspect_session(dir) {
            // Its keeper has gone, so only another look can hold the lock, and only for a moment.
            Ok(SessionStatus::Alive(_)) => {}
            Ok(SessionStatus::NeverStarted(_guard)) => return never_started(),
            Ok(SessionStatus::Ended { exit, end: Some(end), identity, guard }) => {
                return clean(&exit, &end, || sweep(tell, || guard.end_tree(identity.as_ref())));
            }
            Ok(SessionStatus::Ended { exit, end: None, identity, guard }) => {
                let leftovers = sweep(tell, || guard.end_tree(identity.as_ref()));
                return Observed { leftovers, gap: Gap::UnknownSize, ..known(&exit) };
            }
            Ok(SessionStatus::Lost { identity, guard }) => {
                return lost(sweep(tell, || guard.end_tree(Some(&identity))));
            }
            // Whatever the damaged records said, the marker still finds the tree.
            Ok(SessionStatus::Unreadable { error, guard }) => {
                tell(&with_causes(&error));
                return lost(sweep(tell, || guard.end_tree(None)));
            }
            Err(InspectError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return gone(dir.session(), tell);
            }
            Err(error) => tell(&with_causes(&error)),
        }
        std::thread::sleep(pause);
        pause = SELDOM.min(pause * 2);
    }
}

/// The session's directory is gone, or was never made. What carries its marker is ended in either case; only when there was
/// nothing has nothing been executed.
pub(super) fn gone(session: SessionId, tell: &dyn Fn(&str)) -> Observed {
    match sweep(tell, || end_strays(session)) {
        0 => never_started(),
        killed => lost(killed),
    }
}

/// Removes the prompt, which is of no use any more and may hold what nobody else should read, and what a killed process had half
/// written: the session has ended, so nobody writes into its directory.
pub(super) fn tidy(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let is_over = |name: &str| name == PROMPT || (name.starts_with('.') && name.ends_with(".tmp"));
        if entry.file_name().to_str().is_some_and(is_over) {
            std::fs::remove_file(entry.path()).ok();
        }
    }
}

/// Nothing was executed, and the session id can never be used again.
fn never_started() -> Observed {
    unrecorded(Exit::NeverStarted, 0, Gap::None)
}

fn clean(exit: &ExitRecord, end: &EndRecord, sweep: impl FnOnce() -> u32) -> Observed {
    let gap = match (end.gap_bytes, &end.log_error) {
        _ if end.sync_failed => Gap::UnknownSize,
        (0, None) => Gap::None,
        (0, Some(_)) => Gap::UnknownSize,
        (bytes, _) => Gap::Bytes(bytes),
    };
    let more = if end.tree_empty { 0 } else { sweep() };
    Observed { leftovers: end.killed_leftovers + more, gap, ..known(exit) }
}

fn lost(leftovers: u32) -> Observed {
    unrecorded(Exit::Unknown, leftovers, Gap::UnknownSize)
}

/// An end of which no keeper wrote when it was.
fn unrecorded(exit: Exit, leftovers: u32, gap: Gap) -> Observed {
    Observed { exit, stopped_by: StoppedBy::Itself, leftovers, gap, at: None, ran_ms: None }
}

/// Sweeps until nothing is left, however long that takes: the next session must not start beside the last one.
fn sweep(tell: &dyn Fn(&str), end_tree: impl Fn() -> io::Result<Swept>) -> u32 {
    let (mut killed, mut pause) = (0, TRY_AGAIN);
    loop {
        match end_tree() {
            Ok(swept) => {
                killed += swept.killed;
                if swept.left == 0 {
                    return killed;
                }
                tell(&format!("cannot kill {} processes of the session", swept.left));
            }
            Err(error) => tell(&format!("cannot inspect the session's processes: {error}")),
        }
        std::thread::sleep(pause);
        pause = SELDOM.min(pause * 2);
    }
}

fn known(record: &ExitRecord) -> Observed {
    let exit = match &record.status {
        ExitStatus::Code(code) => Exit::Code(*code),
        ExitStatus::Signal { number, .. } => Exit::Signal(*number),
        ExitStatus::ExecFailed { message, .. } => Exit::NotExecutable(message.clone()),
    };
    let stopped_by = match record.why {
        Why::Own => StoppedBy::Itself,
        // Whether the task had asked for it, `decide` knows.
        Why::Terminated | Why::EndedNow => StoppedBy::Shutdown,
        Why::Silence => StoppedBy::Silence,
        Why::Wall => StoppedBy::Wall,
    };
    Observed { exit, stopped_by, leftovers: 0, gap: Gap::None, at: Some(record.at), ran_ms: record.ran_ms }
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn the_prompt_and_half_written_files_go_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        for name in [".exit.1-0.tmp", "prompt", "exit", "notes.tmp", ".hidden"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        tidy(dir.path());
        let mut left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".hidden", "exit", "notes.tmp"]);
        tidy(&dir.path().join("gone"));
    }
}

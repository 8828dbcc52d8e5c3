//! Keeps the machine awake while a session runs, with the system's own program: systemd-inhibit on Linux, caffeinate on macOS.
//! Held by the attend effect. Where there is no such program nothing happens; `doctor` tells.

use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use crate::exit_watch::reap;
use longhaul_app::sleep_inhibitor;

/// Who holds the machine awake; shared by all sessions of a worker.
#[derive(Debug, Clone, Default)]
pub(crate) struct Awake {
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    sessions: usize,
    /// The input of the program. It ends when this does.
    input: Option<ChildStdin>,
}

/// One session's hold; given back when dropped.
#[derive(Debug)]
pub(crate) struct Hold(Option<Awake>);

impl Awake {
    /// Keeps the machine awake until the hold is dropped, if the task wants that.
    pub(crate) fn hold(&self, wanted: bool) -> Hold {
        if !wanted {
            return Hold(None);
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.sessions += 1;
        if held.sessions == 1 {
            held.input = start();
        }
        Hold(Some(self.clone()))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let Some(awake) = &self.0 else { return };
        let mut held = awake.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.sessions -= 1;
        if held.sessions == 0 {
            held.input = None;
        }
    }
}

/// The program waits on a pipe of ours, so that it also ends when this worker is killed.
fn start() -> Option<ChildStdin> {
    let [program, arguments @ ..] = sleep_inhibitor() else { return None };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut program = command.spawn().ok()?;
    let input = program.stdin.take();
    // One that may not hold the machine awake ends at once.
    drop(reap(program));
    input
}

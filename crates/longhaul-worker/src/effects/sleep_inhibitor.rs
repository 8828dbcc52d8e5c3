//! Keeps the machine awake while a session runs, with the system's own program: systemd-inhibit on Linux, caffeinate on macOS.
//! Held by the attend effect, and for a moment longer, so that sessions in a row share one program. Where there is no such program
//! nothing happens; `doctor` tells.

use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::exit_watch::reap;
use longhaul_app::sleep_inhibitor;

/// How long the machine is kept awake after a session: usually the next one has begun by then.
const LINGER: Duration = Duration::from_secs(1);

/// Who holds the machine awake; shared by all sessions of a worker.
#[derive(Debug, Clone, Default)]
pub(crate) struct Awake {
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    sessions: usize,
    /// Counts the sessions there ever were.
    begun: u64,
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
        let mut held = self.lock();
        held.sessions += 1;
        held.begun += 1;
        if held.input.is_none() {
            held.input = start();
        }
        Hold(Some(self.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the machine sleep, unless a session began meanwhile.
    fn release(&self, begun: u64) {
        let mut held = self.lock();
        if held.sessions == 0 && held.begun == begun {
            held.input = None;
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let Some(awake) = self.0.take() else { return };
        let begun = {
            let mut held = awake.lock();
            held.sessions -= 1;
            held.begun
        };
        // Without a runtime the worker is ending, and the program with it.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                tokio::time::sleep(LINGER).await;
                awake.release(begun);
            })),
            Err(_) => awake.release(begun),
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

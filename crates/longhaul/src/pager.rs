//! The pager of long output: on a terminal, what a verb prints goes through `$LONGHAUL_PAGER`, `$PAGER` or `less -FRX`.
//! Registered by `commands::main` for verbs that read, started by `out` with the first line. Whoever leaves the pager early ends the output.

use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::stdio::{dup2_stdout, stdout};

use crate::out;
use crate::start;

static WANTED: OnceLock<()> = OnceLock::new();
static RUNNING: Mutex<Option<Running>> = Mutex::new(None);

struct Running {
    program: Child,
    terminal: OwnedFd,
    /// What was noted meanwhile; it would disturb the pager's screen.
    notes: Vec<String>,
}

/// From now on, what is printed goes through the pager.
pub(crate) fn want() {
    if command().is_some() && out::is_on_terminal() {
        WANTED.get_or_init(|| ());
    }
}

/// The command of the pager; none if it was turned off with an empty variable or `cat`.
fn command() -> Option<String> {
    let set = |name: &str| std::env::var(name).ok();
    let command = set("LONGHAUL_PAGER").or_else(|| set("PAGER")).unwrap_or_else(|| "less -FRX".to_owned());
    Some(command).filter(|command| !["", "cat"].contains(&command.trim()))
}

/// Starts the pager if it is wanted and does not run yet. Where that fails, output goes to the terminal as without one.
pub(crate) fn start() {
    if WANTED.get().is_none() {
        return;
    }
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    if running.is_some() {
        return;
    }
    let Some(command) = command() else { return };
    let Ok(terminal) = stdout().try_clone_to_owned() else { return };
    if let Ok(mut program) = start::pager(&command) {
        if let Some(input) = program.stdin.take() {
            dup2_stdout(&input).ok();
        }
        *running = Some(Running { program, terminal, notes: Vec::new() });
    }
}

/// Keeps a note for after the pager, if one runs; else returns it.
pub(crate) fn keep(note: String) -> Option<String> {
    match &mut *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(running) => {
            running.notes.push(note);
            None
        }
        None => Some(note),
    }
}

/// Ends the output and waits until the person has left the pager.
pub(crate) fn finish() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Running { mut program, terminal, notes }) = running {
        // The pager sees the end of its input once standard output is something else. What it did not read is not shown after it.
        match std::fs::File::options().write(true).open("/dev/null") {
            Ok(nowhere) if out::is_closed() => dup2_stdout(&nowhere).ok(),
            Ok(_) | Err(_) => dup2_stdout(&terminal).ok(),
        };
        program.wait().ok();
        notes.iter().for_each(|note| out::note(note));
    }
}

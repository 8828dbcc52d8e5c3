//! The terminal while an agent's own program uses it: the program gets the keys and their signals, and the terminal is restored afterwards.
//! Used by `takeover` only. Starts and ends no process.

use std::io::{self, IsTerminal};

use longhaul_keeper::process::is_stopped;
use nix::sys::signal::{SigSet, Signal as Blocked};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpgrp, getpid, kill_process, waitpid};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp};
use tokio::signal::unix::{Signal as Listened, SignalKind, signal};

use longhaul_app::{AppError, ErrorKind};

/// The terminal of this process, which is in its foreground.
pub(crate) struct Foreground {
    before: Option<Termios>,
    /// Signals of the terminal, meant for the program. While we listen for them they do not end this process.
    _ignored: Vec<Listened>,
}

/// Checks that a program can use this process's terminal.
pub(crate) fn permit() -> Result<(), AppError> {
    let refused = |what: &str| Err(AppError::new(ErrorKind::Usage, what));
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return refused("a takeover needs a terminal on standard input and output").map_err(|error| {
            error.hint("run it in a terminal, or send a message to the next session with `longhaul tell`")
        });
    }
    // Only the controlling terminal stops background processes.
    if tcgetpgrp(io::stdin()).is_ok_and(|group| group != getpgrp()) {
        return refused("a takeover must run in the foreground").map_err(|error| error.hint("start it without `&`"));
    }
    Ok(())
}

impl Foreground {
    /// Saves the terminal's settings, and ignores its signals from now on.
    pub(crate) fn take() -> Result<Foreground, AppError> {
        let kinds = [SignalKind::interrupt(), SignalKind::quit(), SignalKind::hangup()];
        let ignored = kinds.into_iter().map(listen).collect::<Result<_, _>>()?;
        Ok(Foreground { before: tcgetattr(io::stdin()).ok(), _ignored: ignored })
    }

    /// Takes the terminal back and restores its settings; unread input is discarded.
    pub(crate) fn take_back(&self) {
        let mut background = SigSet::empty();
        background.add(Blocked::SIGTTOU);
        // Unless blocked, this signal stops a background process that touches the terminal.
        background.thread_block().ok();
        if tcgetpgrp(io::stdin()).is_ok_and(|group| group != getpgrp()) {
            tcsetpgrp(io::stdin(), getpgrp()).ok();
        }
        if let Some(before) = &self.before {
            tcsetattr(io::stdin(), OptionalActions::Flush, before).ok();
        }
        background.thread_unblock().ok();
    }

    /// The line a person types; none if they press Ctrl+C.
    pub(crate) async fn answer(&self) -> Result<Option<String>, AppError> {
        // Starts here, so that a Ctrl+C meant for the program does not count.
        let mut interrupt = interrupts()?;
        let line = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            io::stdin().read_line(&mut line).map(|_| line)
        });
        Ok(tokio::select! {
            line = line => line.ok().and_then(Result::ok),
            _ = interrupt.recv() => None,
        })
    }
}

/// Every Ctrl+C from now on.
pub(crate) fn interrupts() -> Result<Listened, AppError> {
    listen(SignalKind::interrupt())
}

fn listen(kind: SignalKind) -> Result<Listened, AppError> {
    signal(kind).map_err(|error| AppError::new(ErrorKind::Failure, "cannot listen for signals").because(&error))
}

/// Waits for a program to end. If it is stopped, this process stops too, so that the shell gets its terminal back.
pub(crate) fn wait(pid: u32) -> io::Result<WaitStatus> {
    let child = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("no such process"))?;
    loop {
        match waitpid(Some(child), WaitOptions::UNTRACED) {
            Err(rustix::io::Errno::INTR) | Ok(None) => {}
            Err(error) => return Err(error.into()),
            // The shell may have continued both already.
            Ok(Some((_, status))) if status.stopped() && !is_stopped(pid) => {}
            Ok(Some((_, status))) if status.stopped() => kill_process(getpid(), Signal::STOP)?,
            Ok(Some((_, status))) => return Ok(status),
        }
    }
}

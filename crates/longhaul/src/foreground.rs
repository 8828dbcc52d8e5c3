//! This process's terminal while an agent's own program has it: keys and their signals are for the program, and afterwards the terminal is
//! as it was. Used by `takeover` only. It starts nothing and ends nothing.

use std::io::{self, IsTerminal};

use longhaul_keeper::process::is_stopped;
use nix::sys::signal::{SigSet, Signal as Blocked};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpgrp, getpid, kill_process, waitpid};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp};
use tokio::signal::unix::{Signal as Listened, SignalKind, signal};

use longhaul_app::{AppError, ErrorKind};

/// A terminal in whose foreground this process is.
pub(crate) struct Foreground {
    before: Option<Termios>,
    /// From the terminal's keys or from its loss; they are for the program. Heard here, they do not end this process.
    _deaf_to: Vec<Listened>,
}

/// Whether a program can be given this process's terminal.
pub(crate) fn permit() -> Result<(), AppError> {
    let refused = |what: &str| Err(AppError::new(ErrorKind::Usage, what));
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return refused("a takeover needs a terminal: standard input and output are none")
            .map_err(|error| error.hint("run it in a terminal; without one, `longhaul tell` guides the next session"));
    }
    // A terminal that is not the controlling one stops nobody.
    if tcgetpgrp(io::stdin()).is_ok_and(|group| group != getpgrp()) {
        return refused("a takeover needs the terminal's foreground")
            .map_err(|error| error.hint("start it without `&`"));
    }
    Ok(())
}

impl Foreground {
    /// Remembers the terminal as it is, and leaves its signals to the program from now on.
    pub(crate) fn take() -> Result<Foreground, AppError> {
        let kinds = [SignalKind::interrupt(), SignalKind::quit(), SignalKind::hangup()];
        let deaf_to = kinds.into_iter().map(listen).collect::<Result<_, _>>()?;
        Ok(Foreground { before: tcgetattr(io::stdin()).ok(), _deaf_to: deaf_to })
    }

    /// Takes the terminal back from whoever had it last, as it was; what was typed and not read is forgotten.
    pub(crate) fn take_back(&self) {
        let mut background = SigSet::empty();
        background.add(Blocked::SIGTTOU);
        // A process outside of the foreground is stopped by this signal when it touches the terminal, unless it is blocked.
        background.thread_block().ok();
        if tcgetpgrp(io::stdin()).is_ok_and(|group| group != getpgrp()) {
            tcsetpgrp(io::stdin(), getpgrp()).ok();
        }
        if let Some(before) = &self.before {
            tcsetattr(io::stdin(), OptionalActions::Flush, before).ok();
        }
        background.thread_unblock().ok();
    }

    /// A line that a person types, or none when they do not want to answer.
    pub(crate) async fn answer(&self) -> Result<Option<String>, AppError> {
        // From now on: a Ctrl+C that was meant for the program is no answer.
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

/// Waits for a program's end. When it is stopped this process stops too, so that the shell that started both has its terminal again.
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

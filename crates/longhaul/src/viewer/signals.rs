//! The signals of a viewer: Ctrl+C pauses the task; TERM and HUP end only the viewer and restore the terminal; Ctrl+Z stops it after it
//! has given the terminal back.
//! `run` listens before it submits, so that an early Ctrl+C cannot kill it half-way.

use rustix::process::{Signal as KernelSignal, getpgid, getpgrp, getpid, getppid, getsid, kill_process};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Code;
use longhaul_app::{AppError, ErrorKind};

/// Signals received since `listen`.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// None if hang-ups are ignored, as below `nohup`.
    hang_up: Option<Signal>,
    /// Sent by Ctrl+Z.
    stop: Signal,
    /// Sent by a shell's `fg`.
    continued: Signal,
}

/// What a signal asks the viewer to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    /// Pause the task.
    Pause,
    /// Stop the viewer, by `stop`, once the terminal is as the shell expects it.
    Stop,
    /// The viewer was stopped and runs again: the terminal is as the shell left it.
    Continued,
    /// End the viewer and leave the task running.
    Leave(Code),
}

impl Signals {
    /// Starts to listen; no later signal is lost.
    pub(crate) fn listen() -> Result<Signals, AppError> {
        let listen = |kind| {
            signal(kind).map_err(|error| AppError::new(ErrorKind::Failure, "cannot listen for signals").because(&error))
        };
        let hang_up = if hang_ups_are_ignored() { None } else { Some(listen(SignalKind::hangup())?) };
        Ok(Signals {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up,
            stop: listen(SignalKind::from_raw(KernelSignal::TSTP.as_raw()))?,
            continued: listen(SignalKind::from_raw(KernelSignal::CONT.as_raw()))?,
        })
    }

    /// Waits for one of them while there is no task yet.
    pub(crate) async fn interrupted(&mut self) {
        loop {
            match self.next().await {
                Request::Stop => stop(),
                Request::Continued => {}
                Request::Pause | Request::Leave(_) => return,
            }
        }
    }

    /// The next request.
    pub(crate) async fn next(&mut self) -> Request {
        tokio::select! {
            _ = self.interrupt.recv() => Request::Pause,
            _ = self.stop.recv() => Request::Stop,
            _ = self.continued.recv() => Request::Continued,
            _ = self.terminate.recv() => Request::Leave(Code::Terminated),
            () = received(self.hang_up.as_mut()) => Request::Leave(Code::HungUp),
        }
    }
}

/// Stops this process until a shell continues it. Without a shell that could, as directly below tmux, nothing happens.
pub(crate) fn stop() {
    let parent = getppid();
    let is_of_shell = getsid(parent).ok() == getsid(None).ok()
        && parent.is_some_and(|shell| getpgid(Some(shell)).ok() != Some(getpgrp()));
    if is_of_shell {
        kill_process(getpid(), KernelSignal::STOP).ok();
    }
}

async fn received(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// Whether our parent set hang-ups to be ignored; false where this cannot be read.
fn hang_ups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

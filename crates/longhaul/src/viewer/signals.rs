//! The signals a viewer answers: Ctrl+C pauses the task, TERM and HUP end the viewer only and leave the terminal as it was.
//! Listened for from before the submission on, so that no Ctrl+C of a starting `run` kills it half-way.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Code;
use longhaul_app::{AppError, ErrorKind};

/// Signals that have come since the listening began.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// None where hang-ups are ignored, as below `nohup`.
    hang_up: Option<Signal>,
}

/// What a signal asks of a viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Pause the task.
    Pause,
    /// Leave it alone and go.
    Leave(Code),
}

impl Signals {
    /// Listens from now on; nothing that comes is lost.
    pub(crate) fn listen() -> Result<Signals, AppError> {
        let listen = |kind| {
            signal(kind).map_err(|error| AppError::new(ErrorKind::Failure, "cannot listen for signals").because(&error))
        };
        let hang_up = if hang_ups_are_ignored() { None } else { Some(listen(SignalKind::hangup())?) };
        Ok(Signals {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up,
        })
    }

    /// The next one.
    pub(super) async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.interrupt.recv() => Asked::Pause,
            _ = self.terminate.recv() => Asked::Leave(Code::Terminated),
            () = received(self.hang_up.as_mut()) => Asked::Leave(Code::HungUp),
        }
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

/// Whether whoever started us wants hang-ups ignored. Where that can not be asked they are not.
fn hang_ups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

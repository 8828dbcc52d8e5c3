//! How patient a task is: attempts, backoff and the limits of one session. Stored with the task, so that they hold over restarts.
//! Read by the recovery table and, for the limits of one session, handed to its keeper.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The patience of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Failed sessions in a row, without progress between them, after which a person is asked.
    pub attempts: u32,
    /// Completed sessions in a row without a new tick, after which a person is asked.
    pub idle_sessions: u32,
    /// The first backoff after a failed session; each further one doubles it.
    pub backoff_ms: u64,
    /// The longest backoff.
    pub backoff_cap_ms: u64,
    /// A session without output for this long is stopped.
    pub silence_ms: Option<u64>,
    /// A session longer than this is stopped.
    pub wall_ms: Option<u64>,
}

impl Default for Policy {
    fn default() -> Self {
        const MINUTE: u64 = 60_000;
        Policy {
            attempts: 5,
            idle_sessions: 3,
            backoff_ms: 2_000,
            backoff_cap_ms: 10 * MINUTE,
            silence_ms: Some(30 * MINUTE),
            wall_ms: Some(5 * 60 * MINUTE),
        }
    }
}

impl Policy {
    /// How long to wait after the given number of failures in a row (1 = the first).
    pub fn backoff(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(32);
        let span = self.backoff_ms.saturating_mul(1 << doublings);
        Duration::from_millis(span.min(self.backoff_cap_ms))
    }
}

//! How patient a task is: attempts, backoff, and the limits of a session and of the whole task. Stored with the task, so that they
//! hold over restarts.
//! Read by the recovery table and, for the limits of one session, handed to its keeper.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The patience of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patience {
    /// Failed sessions in a row, without progress between them, after which a person is asked.
    pub attempts: u32,
    /// Completed sessions in a row without progress, after which a person is asked.
    pub idle_sessions: u32,
    /// The first backoff after a failed session; each further one doubles it.
    pub backoff_ms: u64,
    /// The longest backoff.
    pub backoff_cap_ms: u64,
    /// A usage limit that ends later than this from now is not waited out: a person is asked.
    pub longest_wait_ms: u64,
    /// A session without output for this long is stopped.
    pub silence_ms: Option<u64>,
    /// A silent session that keeps the processors busy is left alone.
    pub spare_busy: bool,
    /// A session longer than this is stopped.
    pub wall_ms: Option<u64>,
    /// How long what an agent left running is waited for once its turn is over.
    pub linger_ms: u64,
    /// The pause between two sessions.
    pub delay_ms: u64,
    /// The task pauses after each session of the agent.
    pub once: bool,
    /// Sessions of the agent in all.
    pub max_sessions: Option<u32>,
    /// Working time in all.
    pub max_time_ms: Option<u64>,
    /// Tokens in all, as far as they are known.
    pub max_tokens: Option<u64>,
    /// Money in all, as far as it is known.
    pub max_cost_micros: Option<u64>,
    /// Unfinished tasks below the one at the top of a family.
    pub max_children: u32,
    /// How deep child tasks may have children of their own; 0 allows none.
    pub child_depth: u32,
    /// Fixing sessions after failed checks.
    pub fix_attempts: u32,
    /// A check longer than this has failed.
    pub check_ms: Option<u64>,
    /// Free memory without which no session starts.
    pub memory_floor: u64,
    /// Free disk space without which no session starts.
    pub disk_floor: u64,
    /// The machine is kept awake while a session runs.
    pub keep_awake: bool,
    /// Its sessions run in scopes of their own, where the system has any.
    pub scopes: bool,
    /// The size of one segment of a session's log; none leaves it to the keeper.
    pub log_segment: Option<u64>,
    /// The most that is kept of one stream of a session; none leaves it to the keeper.
    pub log_cap: Option<u64>,
}

impl Default for Patience {
    fn default() -> Self {
        const MINUTE: u64 = 60_000;
        Patience {
            attempts: 5,
            idle_sessions: 3,
            backoff_ms: 2_000,
            backoff_cap_ms: 10 * MINUTE,
            // A week and a day: weekly limits are waited out.
            longest_wait_ms: 8 * 24 * 60 * MINUTE,
            silence_ms: Some(30 * MINUTE),
            spare_busy: false,
            wall_ms: Some(5 * 60 * MINUTE),
            linger_ms: MINUTE,
            delay_ms: 3_000,
            once: false,
            max_sessions: None,
            max_time_ms: Some(5 * 60 * MINUTE),
            max_tokens: None,
            max_cost_micros: None,
            max_children: 20,
            child_depth: 2,
            fix_attempts: 3,
            check_ms: Some(30 * MINUTE),
            memory_floor: 256 << 20,
            disk_floor: 1 << 30,
            keep_awake: true,
            scopes: true,
            log_segment: None,
            log_cap: None,
        }
    }
}

impl Patience {
    /// How long to wait after the given number of failures in a row (1 = the first).
    pub fn backoff(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(32);
        let span = self.backoff_ms.saturating_mul(1 << doublings);
        Duration::from_millis(span.min(self.backoff_cap_ms))
    }
}

//! Notices as the store keeps them: who gets what, how often it was tried, and with which result.
//! Made in the commit that they report, claimed and settled by whoever delivers, shown by the front ends. No text of a message is kept.

use longhaul_core::ids::TaskId;
use longhaul_core::spelled;
use longhaul_core::task::Occasion;
use longhaul_core::time::Time;

/// One notice for one of a task's targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Its number; never used again.
    pub id: u64,
    /// The task it is about.
    pub task: TaskId,
    /// The last event of the change it reports.
    pub seq: u64,
    /// The index of its target in the submission's list.
    pub target: u32,
    /// What it tells.
    pub occasion: Occasion,
    /// The name of the state it reports; the task may have moved on.
    pub stands: String,
    /// What became of it.
    pub state: NoticeState,
    /// How often somebody set out to deliver it.
    pub tries: u32,
    /// While it is pending: when it is due next.
    pub next_at: Time,
    /// When the change happened.
    pub created: Time,
    /// Why the last try failed.
    pub error: Option<String>,
}

/// What became of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeState {
    /// It is still to be delivered.
    Pending,
    /// It was delivered, at least once.
    Delivered,
    /// It was given up.
    Failed,
}

/// What came of one try to deliver a notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// It is delivered.
    Delivered,
    /// It is not, and is due again then.
    Again {
        /// When.
        at: Time,
        /// Why it is not.
        error: String,
    },
    /// It was not tried for want of something that another process may have: no try is counted, and it is due again then.
    GivenBack {
        /// When.
        at: Time,
        /// What is wanting.
        error: String,
    },
    /// It is not, and nobody tries again.
    Failed {
        /// Why.
        error: String,
    },
}

spelled!(NoticeState: Pending = "pending", Delivered = "delivered", Failed = "failed");

impl Settled {
    /// What the notice is then.
    pub(crate) fn state(&self) -> NoticeState {
        match self {
            Settled::Delivered => NoticeState::Delivered,
            Settled::Again { .. } | Settled::GivenBack { .. } => NoticeState::Pending,
            Settled::Failed { .. } => NoticeState::Failed,
        }
    }
}

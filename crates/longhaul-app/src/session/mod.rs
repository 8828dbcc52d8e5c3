//! What is known of a task's sessions: which agent each is of, what it printed, whether its processes live, and its files on disk.
//! Read by `logs`, `show`, the report and every viewer. From the store and the keeper's files; it never asks an agent.

pub(crate) mod agents;
pub(crate) mod history;
pub(crate) mod live;
pub(crate) mod on_disk;
pub(crate) mod output;
pub(crate) mod position;
pub(crate) mod recorded;
pub(crate) mod turns;

//! What whoever follows a task should know and no event records: that it waits in line, and that a worker was started for it.
//! Made by `follow`; nothing of it is stored.

use longhaul_core::time::Time;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::View;

/// News about a followed task that is not part of its history.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StatusView {
    /// When it was seen.
    pub at: String,
    /// What kind of news it is.
    pub status: StatusKind,
    /// One sentence for people.
    pub sentence: String,
}

/// The kinds of news.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusKind {
    /// It waits for a free slot or for its directory.
    InLine,
    /// It had no worker that was alive, and one was started.
    WorkerStarted,
}

impl View for StatusView {
    const KIND: &'static str = "status";
}

impl StatusView {
    pub(crate) fn new(at: Time, status: StatusKind, sentence: impl Into<String>) -> StatusView {
        StatusView { at: at.rfc3339(), status, sentence: sentence.into() }
    }
}

//! The notices of a task: for whom, about what, and which of them are not delivered yet. Rows for JSON, words for people.
//! Used by `show` and the report; everything comes from the outbox.

use longhaul_core::task::Task;
use longhaul_store::{Notice, NoticeState};
use schemars::JsonSchema;
use serde::Serialize;

/// One notice for one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NoticeRow {
    /// What it is about.
    pub occasion: &'static str,
    /// When it was made.
    pub at: String,
    /// How it is sent: the name of the channel.
    pub channel: &'static str,
    /// The state of the notice: pending, delivered or failed.
    pub state: &'static str,
    /// How often it was sent.
    pub tries: u32,
    /// Why the last attempt failed.
    pub error: Option<String>,
}

/// The notices as rows, in the order they were made.
pub(crate) fn notices(task: &Task, notices: &[Notice]) -> Vec<NoticeRow> {
    notices.iter().map(|notice| row(task, notice)).collect()
}

/// How many are not delivered and why the last of them is not; nothing when all are.
pub fn undelivered(rows: &[NoticeRow]) -> Option<String> {
    let open: Vec<&NoticeRow> = rows.iter().filter(|row| row.state != NoticeState::Delivered.word()).collect();
    if open.is_empty() {
        return None;
    }
    let last = open.iter().rev().find_map(|row| Some((row, row.error.as_ref()?)));
    let why = last.map_or_else(String::new, |(row, error)| format!("; last error ({}): {error}", row.channel));
    Some(format!("{} of {} not delivered{why}", open.len(), rows.len()))
}

fn row(task: &Task, notice: &Notice) -> NoticeRow {
    let target = task.submission.notify.targets.get(notice.target as usize);
    NoticeRow {
        occasion: notice.occasion.word(),
        at: notice.created.rfc3339(),
        channel: target.map_or("unknown", |target| target.channel()),
        state: notice.state.word(),
        tries: notice.tries,
        error: notice.error.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(state: &'static str, error: Option<&str>) -> NoticeRow {
        let error = error.map(str::to_owned);
        NoticeRow { occasion: "done", at: String::new(), channel: "file", state, tries: 1, error }
    }

    #[test]
    fn what_is_not_delivered_is_counted_with_its_last_error() {
        assert_eq!(undelivered(&[]), None);
        assert_eq!(undelivered(&[row("delivered", None)]), None);
        let rows = [row("failed", Some("no room")), row("delivered", None), row("pending", None)];
        assert_eq!(undelivered(&rows).as_deref(), Some("2 of 3 not delivered; last error (file): no room"));
    }
}

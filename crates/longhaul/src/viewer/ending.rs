//! The last lines of a task that is done: the result with what it took, what changed and where, and the commands for what to do next.
//! Called by `follow`. Reads only.

use std::time::Duration;

use longhaul_app::operations::{Diff, DiffInput, DiffView};
use longhaul_app::views::Progress;
use longhaul_app::views::TaskView;
use longhaul_app::{Call, describe};
use longhaul_core::units::span;
use longhaul_store::Stored;

use super::status;
use crate::out;

/// The result on one line.
pub(super) fn headline(stored: &Stored, view: &TaskView) -> String {
    let mark = if view.result.is_some() { '✓' } else { '✗' };
    let count = |number: u32, one: &str| describe::count(number, one);
    let mut parts = vec![format!("{}: {}", view.name, out::safe(&describe::state(&stored.task)))];
    parts.extend(view.progress.map(|Progress { total, .. }| count(total, "step")));
    parts.push(count(view.sessions, "session"));
    parts.push(span(Duration::from_millis(view.worked_ms)));
    parts.extend(Some(status::cost(&stored.task)).filter(|cost| !cost.is_empty()));
    format!("{mark} {}", parts.join(" · "))
}

/// What changed and where, and what to do with it; nothing where git does not tell.
pub(super) async fn changes(call: &Call, view: &TaskView) -> Vec<String> {
    let Some(branch) = &view.branch else { return Vec::new() };
    let input = DiffInput { task: Some(view.id.clone()), stat: false };
    let Ok(answer) = call.perform::<Diff>(input).await else { return Vec::new() };
    let (name, branch) = (&view.name, out::safe(branch));
    if answer.view.files_total == 0 {
        return vec!["  no file was changed".to_owned()];
    }
    vec![
        format!("  {} on {branch}", changed(&answer.view)),
        format!("  review  longhaul diff {name}      land  longhaul land {name}"),
    ]
}

fn changed(diff: &DiffView) -> String {
    let patch = diff.patch.as_deref().unwrap_or_default();
    let lines = |sign: char, header: &str| {
        patch.lines().filter(|line| line.starts_with(sign) && !line.starts_with(header)).count()
    };
    let (added, removed) = (lines('+', "+++ "), lines('-', "--- "));
    let least = if diff.patch_is_cut { "at least " } else { "" };
    let files = describe::count(u32::try_from(diff.files_total).unwrap_or(u32::MAX), "file");
    format!("{files}, {least}+{added} -{removed}")
}

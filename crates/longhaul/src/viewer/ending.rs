//! Where a task is on one line: for whoever starts to watch it, and with its result, what changed and what to do next, at its end.
//! Called by `follow` and `attach`. Reads only.

use std::time::Duration;

use longhaul_app::operations::{Diff, DiffInput};
use longhaul_app::views::Progress;
use longhaul_app::views::TaskView;
use longhaul_app::{Call, describe, now};
use longhaul_core::units::span;
use longhaul_store::Stored;

use super::status;
use crate::commands::diff;
use crate::out;
use crate::when::When;

/// The result on one line.
pub(super) fn headline(stored: &Stored, view: &TaskView) -> String {
    let mark = if view.result.is_some() { '✓' } else { '✗' };
    let status = match &view.result {
        Some(result) if result == "verified" => verified(stored),
        Some(_) | None => out::safe(&describe::state(&stored.task)),
    };
    let steps = view.progress.map(|Progress { total, .. }| describe::count(total, "step"));
    format!("{mark} {}: {status}{}", view.name, used(stored, view, steps, Duration::from_millis(view.worked_ms)))
}

/// Where the task is, on one line.
pub(crate) fn standing(stored: &Stored, view: &TaskView) -> String {
    let steps = view.progress.map(|Progress { done, total }| format!("{done}/{total} steps"));
    let age = now().since(stored.task.created);
    let status = out::safe(&When::here().localized(&describe::state(&stored.task)));
    format!("{}: {status}{}", view.name, used(stored, view, steps, age))
}

fn used(stored: &Stored, view: &TaskView, steps: Option<String>, time: Duration) -> String {
    let cost = Some(status::cost(&stored.task)).filter(|cost| !cost.is_empty());
    let parts = steps.into_iter().chain([describe::count(view.sessions, "session"), span(time)]).chain(cost);
    parts.map(|part| format!(" · {part}")).collect()
}

/// By what: the tree is in `show` and the report.
fn verified(stored: &Stored) -> String {
    let checks = stored.task.submission.commands().len();
    match u32::try_from(checks).unwrap_or(u32::MAX) {
        0 => "verified".to_owned(),
        checks => format!("verified ({} passed)", describe::count(checks, "check")),
    }
}

/// What changed and where, and what to do with it; nothing where git does not tell.
pub(super) async fn changes(call: &Call, view: &TaskView) -> Vec<String> {
    let Some(branch) = &view.branch else { return Vec::new() };
    let input = DiffInput { task: Some(view.id.clone()), stat: true };
    let Ok(answer) = call.perform::<Diff>(input).await else { return Vec::new() };
    let (name, branch) = (&view.name, out::safe(branch));
    if answer.view.files_total == 0 {
        return vec!["  no file was changed".to_owned()];
    }
    vec![
        format!("  {} on {branch}", diff::changed(&answer.view)),
        format!("  review  longhaul diff {name}      land  longhaul land {name}"),
    ]
}

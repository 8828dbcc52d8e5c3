//! `longhaul run --dry-run`: what a task would run with, from the operation `preview`, as a person reads it.
//! Called by `run` before anything is submitted. Creates nothing.

use std::time::Duration;

use longhaul_app::operations::{Preview, PreviewView, SubmitInput};
use longhaul_app::{AppError, Call};

use crate::exit::Code;
use crate::out;

/// The limits that people ask for first; `--json` has all.
const SHOWN: [&str; 2] = [".max_", ".fix_attempts"];

/// Shows the task; nothing is submitted.
pub(super) async fn dry_run(call: &Call, input: SubmitInput, json: bool) -> Result<Code, AppError> {
    let answer = call.perform::<Preview>(input).await?;
    let code = out::answer(&answer, json, |view| preview(view).iter().for_each(|line| out::data(&out::safe(line))))?;
    if !json {
        out::note("nothing was submitted");
    }
    Ok(code)
}

/// What a person reads of a task that was not submitted.
fn preview(view: &PreviewView) -> Vec<String> {
    let or = |text: &Option<String>, none: &str| text.clone().unwrap_or_else(|| none.to_owned());
    let place = match (&view.base, &view.onto) {
        (None, _) => format!("in place, in {}", view.project),
        (Some(base), Some(onto)) => format!("a worktree of {} at {base:.12}; lands on {onto}", view.project),
        (Some(base), None) => format!("a worktree of {} at {base:.12}; `land` needs --onto", view.project),
    };
    let network = if view.network { "network allowed" } else { "no network" };
    let mut lines = vec![
        ("agent", [std::slice::from_ref(&view.agent), &view.fallbacks].concat().join(", then ")),
        ("model", or(&view.model, "the agent's own choice")),
        ("workspace", place),
        ("sandbox", format!("{}, {network}", view.sandbox)),
        ("setup", or(&view.setup, "none")),
    ];
    let none = ["none: the result will be unverified".to_owned()];
    let checks = if view.checks.is_empty() { &none[..] } else { &view.checks };
    lines.extend(checks.iter().map(|check| ("check", check.clone())));
    let limits = view.limits.iter().filter(|limit| SHOWN.iter().any(|part| limit.key.contains(part))).map(|limit| {
        let name = limit.key.rsplit('.').next().unwrap_or_default().replace('_', " ");
        format!("{name} {}", limit.value.as_deref().unwrap_or("none"))
    });
    lines.push(("limits", limits.collect::<Vec<_>>().join(", ")));
    lines.push(("at a limit", view.on_limit.clone()));
    lines.push(("hours", or(&view.hours, "any")));
    let past = &view.history;
    let (time, cost) = (past.median_worked_ms.map(Duration::from_millis).map(out::span), past.median_cost_usd);
    let cost = cost.map_or_else(|| "-".to_owned(), |usd| format!("${usd:.2}"));
    lines.push((
        "so far",
        match time {
            Some(time) => format!("median {time} and {cost} (last {} tasks of {} here)", past.tasks, view.agent),
            None => format!("no finished task of {} here yet", view.agent),
        },
    ));
    lines.into_iter().map(|(name, text)| format!("{name:11} {text}")).collect()
}

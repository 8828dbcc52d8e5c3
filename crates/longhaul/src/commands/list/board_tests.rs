//! Ten tasks at 80 columns: the groups, what each row says, and that every row fits.
//! Tests of `board.rs`; the clock and the width are fixed.

use jiff::tz::TimeZone;
use longhaul_app::views::{Outcome, Progress, TaskView, WaitView};
use longhaul_core::time::Time;

use super::Board;
use crate::paint::Paint;
use crate::when::When;
use crate::width::columns;

/// 2026-11-18T12:00:00Z.
pub(crate) const NOW: Time = Time(1_795_003_200_000_000);

pub(crate) fn task(name: &str, state: &str, outcome: Outcome, minutes: i64) -> TaskView {
    let then = Time(NOW.0 - minutes * 60_000_000).rfc3339();
    TaskView {
        id: format!("01a1e5b6-58d3-7000-8000-{name:0>12}"),
        name: name.into(),
        project: "/home/ann/work".into(),
        parent: None,
        follows: None,
        followed_up: None,
        goal: "goal".into(),
        agent: "claude".into(),
        driver: "supervised",
        reported: None,
        branch: None,
        state: state.into(),
        status: state.into(),
        outcome,
        result: None,
        remarks: 0,
        is_finished: false,
        needs_person: outcome == Outcome::NeedsPerson,
        wait: None,
        has_worker: Some(true),
        step: None,
        progress: Some(Progress { done: 2, total: 6 }),
        sessions: 3,
        worked_ms: 0,
        tokens: None,
        cost_usd: None,
        priority: 0,
        created: then.clone(),
        updated: then.clone(),
        since: then,
    }
}

fn finished(name: &str, status: &str, result: Option<&str>, minutes: i64) -> TaskView {
    let result = result.map(str::to_owned);
    TaskView { is_finished: true, status: status.into(), result, ..task(name, "done", Outcome::Done, minutes) }
}

pub(crate) fn ten() -> Vec<TaskView> {
    let limit =
        WaitView { why: "usage limit".into(), until: Some("2026-11-18T14:10:00Z".into()), agent: Some("codex".into()) };
    let delay = WaitView { why: "delay between sessions".into(), until: None, agent: None };
    let long = "a-name-that-a-person-chose-and-that-is-much-longer-than-a-generated-one";
    vec![
        finished("old", "done, verified on tree ab", Some("verified"), 60 * 50),
        TaskView { branch: Some("longhaul/lim".into()), ..finished("lim", "done, verified", Some("verified"), 120) },
        finished("gone", "cancelled", None, 130),
        TaskView {
            wait: Some(limit),
            status: "waiting (usage limit of codex) until 2026-11-18T14:10:00Z".into(),
            ..task("docs", "waiting", Outcome::Waiting, 5)
        },
        TaskView {
            wait: Some(delay),
            step: Some("list items".into()),
            ..task("pause", "waiting", Outcome::Waiting, 41)
        },
        TaskView {
            step: Some("修复解析器".repeat(20)),
            cost_usd: Some(3.12),
            ..task("parser", "working", Outcome::Running, 41)
        },
        TaskView { progress: None, ..task("new", "planning", Outcome::Running, 0) },
        TaskView { has_worker: Some(false), ..task(long, "verifying", Outcome::Running, 3) },
        TaskView {
            status: format!("needs you: the agent refuses to work: {}", "not logged in ".repeat(20)),
            ..task("auth", "needs_help", Outcome::NeedsPerson, 3)
        },
        task("held-up", "paused", Outcome::NeedsPerson, 12),
    ]
}

fn shown(width: Option<usize>, all: bool) -> (Vec<String>, usize) {
    let when = When::at(NOW, TimeZone::UTC);
    Board { width, when: &when, paint: Paint(false), all }.lines(&ten())
}

#[test]
fn what_needs_the_person_comes_first_and_every_row_fits() {
    let (lines, folded) = shown(Some(80), false);
    let is_title = |line: &&str| line.starts_with(|c: char| c.is_ascii_uppercase());
    let titles: Vec<&str> = lines.iter().map(|line| line.split("  ").next().unwrap()).filter(is_title).collect();
    assert_eq!(titles, ["NEEDS YOU", "RUNNING", "WAITING", "DONE"]);
    assert!(lines.iter().any(|line| line.starts_with("RUNNING ") && line.ends_with(" STEP  AGENT     TIME    COST")));
    assert!(lines.iter().all(|line| columns(line) <= 80), "{lines:#?}");
    assert_eq!(folded, 1, "one task is older than a day");
    let text = lines.join("\n");
    for part in [
        "! auth ",
        "    longhaul why auth",
        "    longhaul resume held-up",
        "    longhaul land lim",
        "● pause ",
        "usage limit of codex, back at 14:10 (in 2h 10m)",
        "● new ",
        "no worker: running",
        "✗ gone ",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let row = |name: &str| lines.iter().find(|line| line.contains(name)).unwrap();
    assert!(
        row("✓ lim").starts_with("✓ lim ") && row("✓ lim").contains("verified") && row("✓ lim").ends_with("2h ago")
    );
    assert!(row("parser").contains('…') && row("parser").contains("2/6  claude") && row("parser").ends_with("$3.12"));
    assert!(!text.contains("needs_help"), "no stored names:\n{text}");
}

#[test]
fn every_row_fits_a_narrow_terminal_and_commands_are_whole() {
    for width in [40, 60, 100] {
        let (lines, _) = shown(Some(width), false);
        let (commands, rows): (Vec<&String>, Vec<&String>) =
            lines.iter().partition(|line| line.starts_with("    longhaul "));
        assert!(rows.iter().all(|line| columns(line) <= width), "{width}: {rows:#?}");
        assert!(commands.len() >= 3, "{lines:#?}");
    }
}

#[test]
fn nothing_is_cut_in_a_pipe_and_all_shows_the_old_ones_and_projects() {
    let (lines, folded) = shown(None, true);
    let text = lines.join("\n");
    assert_eq!(folded, 0);
    assert!(text.contains("✓ old") && text.contains("    in /home/ann/work"), "{text}");
    assert!(text.contains("longer-than-a-generated-one") && text.contains("no worker: running the checks"), "{text}");
    assert!(text.contains(&"修复解析器".repeat(20)));
}

#[test]
fn of_two_tasks_with_one_name_the_command_names_the_id() {
    let when = When::at(NOW, TimeZone::UTC);
    let two = [task("t", "paused", Outcome::NeedsPerson, 1), task("t", "paused", Outcome::NeedsPerson, 2)];
    let (lines, _) = Board { width: Some(80), when: &when, paint: Paint(false), all: false }.lines(&two);
    assert!(lines.iter().any(|line| line.contains("longhaul resume 01a1e5b6-")), "{lines:#?}");
}

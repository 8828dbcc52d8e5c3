//! Reading what happened: logs narrowed down, the pager, the report on a terminal, and `why` in local time.

use crate::env::{PASSED, TestEnv};
use crate::rounds::one_step;
use crate::screen::Terminal;

fn look() -> TestEnv {
    let env = one_step();
    let run = env.run(&["run", "Look", "--check", "echo fine; echo oops >&2"]);
    assert_eq!(run.code, PASSED, "{}", run.stderr);
    env
}

#[test]
fn logs_have_their_headings_on_standard_output_and_can_be_narrowed() {
    let env = look();
    let whole = env.run(&["logs", "look"]);
    assert!(
        whole.stdout.contains("--- session 1: plan, started ") && !whole.stderr.contains("---"),
        "{}",
        whole.stderr
    );
    assert!(!whole.stdout.contains("Z\n"), "times are local: {}", whole.stdout);
    assert_eq!(env.ok(&["logs", "look", "--errors"]), "  2> oops\n");
    assert_eq!(env.ok(&["logs", "look", "--since", "1h"]), whole.stdout);
    assert_eq!(env.ok(&["logs", "look", "--since", "2099-01-01T00:00:00Z"]), "");
    let last: String = whole.stdout.split_inclusive('\n').rev().take(2).collect::<Vec<_>>().into_iter().rev().collect();
    assert_eq!(env.ok(&["logs", "look", "-n", "2"]), last);
    assert_eq!(env.ok(&["logs", "look", "-n", "2", "-f"]), last, "and then it follows");
    assert_eq!(env.ok(&["logs", "look", "-n", "1", "--since", "1h", "--errors", "-f"]), "  2> oops\n");
    let bad = env.run(&["logs", "look", "--since", "yesterday"]);
    assert!(bad.code == 2 && bad.stderr.contains("neither a time nor a span"), "{}", bad.stderr);
    let turns = env.ok(&["logs", "look", "--json"]);
    assert!(turns.lines().all(|line| line.contains("\"at\":\"2")), "each turn has its time: {turns}");
}

#[test]
fn long_output_goes_through_the_pager_on_a_terminal_only() {
    let mut env = look();
    env.set("LONGHAUL_PAGER", "sed 's/^/paged: /'");
    let paged = |env: &TestEnv, args: &[&str]| {
        let (code, shown) = Terminal::run(env, args).finish();
        assert_eq!(code, 0, "{shown}");
        shown.contains("paged: ")
    };
    for verb in ["logs", "events", "report", "show"] {
        assert!(paged(&env, &[verb, "look"]), "{verb}");
        assert!(!env.ok(&[verb, "look"]).contains("paged: "), "{verb} in a pipe");
        assert!(!paged(&env, &[verb, "look", "--no-pager"]), "{verb}");
    }
    assert!(!paged(&env, &["list"]) && !paged(&env, &["show", "look", "--json"]));
    // A person who leaves at once is no error.
    env.set("LONGHAUL_PAGER", "true");
    let (code, shown) = Terminal::run(&env, &["logs", "look"]).finish();
    assert_eq!((code, shown.as_str()), (0, ""));
    env.set("LONGHAUL_PAGER", "sed 's/^/mine: /'");
    env.set("PAGER", "sed 's/^/general: /'");
    assert!(Terminal::run(&env, &["logs", "look"]).finish().1.contains("mine: "));
    env.unset("LONGHAUL_PAGER");
    assert!(Terminal::run(&env, &["logs", "look"]).finish().1.contains("general: "));
    env.set("PAGER", "/nowhere/at/all");
    let (code, shown) = Terminal::run(&env, &["logs", "look"]).finish();
    assert!(code == 0 && !shown.contains("panicked"), "{shown}");
}

#[test]
fn a_report_begins_with_a_summary_and_is_rendered_on_a_terminal() {
    let env = look().var("NO_COLOR", "1");
    let page = env.ok(&["report", "look"]);
    let summary: Vec<&str> = page.lines().take_while(|line| *line != "## Goal").collect();
    assert!(summary.len() <= 15, "{summary:#?}");
    for part in ["**Done**", "- Checks: 1 of 1 passed", "- Steps: 1 of 1 done", "- Sessions: 3 sessions", "- Next: "] {
        assert!(summary.iter().any(|line| line.contains(part)), "`{part}` is missing in {summary:#?}");
    }
    let (_, shown) = Terminal::run_in_columns(&env, &["report", "look"], 80).finish();
    assert!(shown.contains("Report of task look\r\n") && shown.contains("- Checks: 1 of 1 passed"), "{shown}");
    for mark in ["**", "## ", "```", "`"] {
        assert!(!shown.contains(mark), "`{mark}` is in {shown}");
    }
}

#[test]
fn why_names_the_end_of_a_wait_once_and_in_local_time() {
    let env = one_step().var("DEMO_FAULT", "limit:+3600000@1").var("TZ", "America/New_York");
    env.submit("Do it", &["--name", "t"]);
    env.reach("t", "waiting");
    let why = env.ok(&["why", "t"]);
    let until = env.json(&["why", "t"])["task"]["wait"]["until"].as_str().unwrap().to_owned();
    let local =
        until.parse::<jiff::Timestamp>().unwrap().in_tz("America/New_York").unwrap().strftime("%H:%M").to_string();
    assert_eq!(why.matches(&local).count(), 1, "{why}");
    assert!(why.contains(" (in ") && why.contains("resumes automatically then"), "{why}");
    assert!(!why.split_whitespace().any(|word| word.len() > 18 && word.contains('Z')), "{why}");
}

#[test]
fn diff_stat_counts_lines() {
    let env = one_step();
    env.make_repository();
    std::fs::write(env.workspace().join("blob.bin"), [0, 1, 2]).unwrap();
    env.run(&["run", "Do it", "--name", "t"]);
    let stat = env.run(&["diff", "--stat", "t"]);
    assert!(
        stat.stdout.lines().any(|line| line.starts_with("added ") && line.contains(" -0 ") && line.contains('+')),
        "{}",
        stat.stdout
    );
    let total = stat.stderr.trim();
    assert!(total.contains(" file") && total.contains(", +") && total.contains(" -0"), "{total}");
    let files = env.json(&["diff", "--stat", "t"])["files"].clone();
    assert!(files[0]["added"].is_u64() && files[0]["removed"] == 0, "{files}");
}

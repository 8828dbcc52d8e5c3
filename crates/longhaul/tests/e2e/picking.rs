//! Which task is meant: suggestions for slips, a list where several fit, a menu on a terminal, and no guess where it would cost something.

use crate::env::{Done, TestEnv};
use crate::screen::Terminal;

const UP: &[u8] = b"\x1b[A";
const DOWN: &[u8] = b"\x1b[B";

/// Three paused tasks, the newest last.
fn three() -> TestEnv {
    let env = TestEnv::new();
    for (name, goal) in [("parser", "Port the parser"), ("docs", "Write the docs"), ("tests", "Fix the tests")] {
        env.submit(goal, &["--name", name, "--hours", "00:00-00:01"]);
        env.ok(&["pause", name]);
    }
    env
}

fn states(env: &TestEnv) -> [String; 3] {
    ["parser", "docs", "tests"].map(|name| env.state(name))
}

/// Everything shown, as a program without a terminal gets it.
fn refused(done: &Done, code: i32) -> &str {
    assert_eq!((done.code, done.stdout.as_str()), (code, ""), "{}", done.stderr);
    &done.stderr
}

#[test]
fn a_slip_is_corrected_and_what_resembles_nothing_is_not() {
    let env = three();
    for verb in ["show", "cancel", "logs", "retry"] {
        let done = env.run(&[verb, "praser"]);
        assert!(refused(&done, 7).contains("did you mean `parser`?"), "{verb}: {}", done.stderr);
    }
    let done = env.run(&["show", "kubernetes"]);
    assert!(!refused(&done, 7).contains("did you mean"), "{}", done.stderr);
    assert_eq!(env.state("parser"), "paused");
}

#[test]
fn several_tasks_are_listed_one_per_line_with_state_and_goal() {
    let env = three();
    let expected = "error: several unfinished tasks in this project\nhint: name one:\n  \
                    tests   paused  Fix the tests\n  docs    paused  Write the docs\n  parser  paused  Port the parser\n";
    for verb in ["show", "cancel", "resume", "diff", "takeover"] {
        assert_eq!(refused(&env.run(&[verb]), 2), expected, "{verb}");
    }
    let json = env.run(&["cancel", "--json"]);
    assert!(json.code == 2 && json.stdout.contains("task_not_chosen"), "{}", json.stdout);
    assert_eq!(states(&env), ["paused"; 3]);
}

#[test]
fn tasks_of_one_name_are_listed_by_id() {
    let env = TestEnv::new();
    for place in ["one", "two"] {
        std::fs::create_dir(env.path().join(place)).unwrap();
        let place = env.path().join(place).display().to_string();
        env.submit("Do it", &["--name", "twin", "--hours", "00:00-00:01", "--workspace", &place]);
    }
    let done = env.run(&["show", "twin"]);
    let rows: Vec<&str> = refused(&done, 2).lines().filter(|line| line.contains("(twin)")).collect();
    assert_eq!(rows.len(), 2, "{}", done.stderr);
    for row in rows {
        env.ok(&["show", row.split_whitespace().next().unwrap()]);
    }
}

#[test]
fn on_a_terminal_arrows_or_a_number_choose_a_task() {
    let env = three();
    for (keys, goal) in
        [(&[DOWN, b"\r"][..], "Write the docs"), (&[UP, b"\r"], "Port the parser"), (&[b"1\r"], "Fix the tests")]
    {
        let mut terminal = Terminal::run(&env, &["show"]);
        terminal.shows("Esc to cancel");
        assert!(terminal.shows_now("> 1  tests"), "the newest is selected first");
        terminal.press(&keys.concat());
        let (code, shown) = terminal.finish();
        assert_eq!(code, 0, "{shown}");
        let page = shown.rsplit("Esc to cancel").next().unwrap();
        assert!(page.contains(goal), "{page}");
    }
}

#[test]
fn the_chosen_task_alone_is_changed_and_escape_changes_nothing() {
    let env = three();
    let mut terminal = Terminal::run(&env, &["cancel"]);
    terminal.shows("Esc to cancel");
    terminal.press(b"\x1b");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 130, "{shown}");
    assert!(shown.contains("nothing was changed"), "{shown}");
    assert_eq!(states(&env), ["paused"; 3]);
    let mut terminal = Terminal::run(&env, &["cancel"]);
    terminal.shows("Esc to cancel");
    terminal.press(b"2\r");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("task docs is cancelled"), "{shown}");
    assert_eq!(states(&env), ["paused", "cancelled", "paused"]);
}

#[test]
fn nobody_is_asked_for_json() {
    let env = three();
    let (code, shown) = Terminal::run(&env, &["show", "--json"]).finish();
    assert!(code == 2 && shown.contains("task_not_chosen") && !shown.contains("Esc"), "{shown}");
}

/// It costs money: which of several finished tasks is meant is never guessed.
#[test]
fn retry_takes_the_only_finished_task_and_guesses_among_none() {
    let env = TestEnv::new();
    assert!(refused(&env.run(&["retry", "-d"]), 7).contains("no tasks yet"), "there is nothing to retry");
    assert_eq!(env.run(&["run", "First"]).code, 0);
    assert_eq!(env.ok(&["retry", "-d"]), "first-2\n");
    assert_eq!(env.settle("first-2"), "done");
    let done = env.run(&["retry", "-d"]);
    assert!(refused(&done, 2).contains("several finished tasks in this project"), "{}", done.stderr);
    assert!(done.stderr.contains("first    done, unverified") && done.stderr.contains("first-2  "), "{}", done.stderr);
    assert_eq!(env.json(&["list"])["tasks"].as_array().unwrap().len(), 2, "none was started");
    let mut terminal = Terminal::run(&env, &["retry", "-d"]);
    terminal.shows("Esc to cancel");
    terminal.press(b"2\r");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("retrying first ("), "{shown}");
    assert_eq!(env.settle("first-3"), "done");
}

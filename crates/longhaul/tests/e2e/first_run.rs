//! What a person sees of their first task: one line for each session, step and check, one live row, local times, and the result.

use crate::env::TestEnv;
use crate::rounds::one_step;
use crate::screen::{Shell, Terminal};

/// Whether a word is a time for programs.
fn is_rfc3339(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';', ')', '.']);
    word.len() >= 20 && word.ends_with('Z') && word.as_bytes()[10] == b'T' && word.starts_with("20")
}

#[test]
fn a_run_prints_a_line_for_each_session_step_and_check() {
    let env = TestEnv::new().var("DEMO_STEPS", "2").var("LONGHAUL_SESSION_DELAY", "100ms");
    env.make_repository();
    let done = env.run(&["run", "Do it", "--name", "t", "--check", "test -f step-1.md"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for part in [
        "▶ plan       demo, session 1",
        "✓ planned    2 steps",
        "▶ step 1/2   ",
        "✓ step 1/2   ",
        "✓ check      test -f step-1.md  0.",
        "✓ t: verified (1 check passed) · 2 steps · 3 sessions · ",
        " on longhaul/t\n",
        "  review  longhaul diff t      land  longhaul land t\n",
    ] {
        assert!(done.stderr.contains(part), "`{part}` is missing in\n{}", done.stderr);
    }
    for part in ["claimed", "delay between", "plan revision", "task_list.md", "session ended", "[tick]"] {
        assert!(!done.stderr.contains(part), "`{part}` is in\n{}", done.stderr);
    }
    assert!(done.stderr.lines().count() <= 18, "{}", done.stderr);
    let all = env.run(&["run", "-v", "Do it", "--name", "all"]).stderr;
    assert!(all.contains("plan revision 1 accepted") && all.contains("[tick] Task 1"), "{all}");
}

#[test]
fn the_live_line_is_one_row_and_names_the_keys() {
    let env = TestEnv::new().var("DEMO_PACE_MS", "60").var("DEMO_STEPS", "2");
    let (code, shown) =
        Terminal::run_in_columns(&env, &["run", "Show me a goal that is long enough to be cut", "--name", "t"], 60)
            .finish();
    assert_eq!(code, 0, "{shown}");
    let pieces = pieces(&shown);
    // A printed line is filled with spaces up to the edge, where the live line follows.
    let spinner = |piece: &str| piece.rfind(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c));
    let live: Vec<&str> = pieces.iter().filter_map(|piece| Some(&piece[spinner(piece)?..])).collect();
    assert!(live.len() > 2, "{shown:?}");
    assert!(live.iter().all(|piece| piece.chars().count() <= 60), "{live:#?}");
    assert!(!live.iter().any(|row| row.contains("[====")), "no full bar while planning: {live:#?}");
    let (_, wide) = Terminal::run(&env, &["run", "Again", "--name", "u"]).finish();
    assert!(
        wide.contains(" · d detach · ? help · session 2 · ") && wide.contains(" tokens") && wide.contains("░░ 0/2"),
        "{wide:?}"
    );
}

/// What was written between moves of the cursor; each character of it is one column wide here.
fn pieces(shown: &str) -> Vec<String> {
    let plain =
        shown.split('\u{1b}').map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit() || "[?;".contains(c)));
    let texts = plain.enumerate().map(|(at, part)| if at == 0 { part } else { part.get(1..).unwrap_or_default() });
    texts.flat_map(|text| text.split(['\r', '\n'])).map(str::to_owned).collect()
}

#[test]
fn a_usage_limit_is_one_line_in_local_time_with_a_countdown() {
    let env = one_step().var("DEMO_FAULT", "limit:+2500@1").var("TZ", "America/New_York");
    let (code, shown) = Terminal::run(&env, &["run", "Do it", "--name", "t"]).finish();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("⏸ usage limit of demo · back in "), "{shown}");
    assert_eq!(shown.matches("hit its usage limit; it resets at ").count(), 1, "{shown}");
    let times: Vec<&str> = shown.split_whitespace().filter(|word| is_rfc3339(word)).collect();
    assert!(times.is_empty(), "times for programs: {times:?}");
    assert!(is_rfc3339("2026-11-16T19:05:01Z,"), "the check can fail");
}

#[test]
fn a_key_works_after_a_stop_and_fg() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let mut shell = Shell::with_job_control(&env, &["run", "Stop me", "--name", "t"]);
    shell.shows("(demo, session 2)");
    shell.press(b"\x1a");
    shell.shows("stopped 1");
    shell.release();
    shell.shows("session 2");
    crate::env::wait_for("the key to be read", || {
        shell.press(b"d");
        shell.has_shown("detached; the task keeps running").then_some(())
    });
    shell.shows("stopped 2");
    shell.release();
    shell.shows("stopped 3");
    shell.release();
    shell.finish();
    assert_eq!(env.state("t"), "working");
}

#[test]
fn a_name_means_one_task_for_ever() {
    let env = one_step();
    env.make_repository();
    assert_eq!(env.run(&["run", "Do it", "--name", "v"]).code, 0);
    let again = env.run(&["run", "Do it again", "--name", "v"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stderr.contains("warning: a finished task has the name `v`; this one is `v-2`"), "{}", again.stderr);
    assert_eq!(env.json(&["show", "v"])["goal"], "Do it");
    assert_eq!(env.json(&["show", "v-2"])["goal"], "Do it again");
    assert_eq!(env.submit("Do it", &["--hours", "00:00-00:01", "--name", "w"]), "w");
    let refused = env.run(&["run", "-d", "Do it", "--name", "w"]);
    assert_eq!(refused.code, 8, "{}", refused.stderr);
    assert!(refused.stderr.contains("unfinished task in this project is already named `w`"), "{}", refused.stderr);
}

#[test]
fn a_made_name_ends_with_a_word_and_is_readable_in_any_script() {
    let env = TestEnv::new();
    for (goal, name) in [
        ("Build a todo command line app", "build-a-todo-command-line"),
        ("Build a todo command line app", "build-a-todo-command-line-2"),
        ("修复解析器", "xiu-fu-jie-xi-qi"),
        ("Änderung größer machen", "anderung-grosser-machen"),
    ] {
        assert_eq!(env.submit(goal, &["--hours", "00:00-00:01"]), name, "{goal}");
    }
}

#[test]
fn a_task_is_found_by_the_beginning_of_its_name_and_a_slip_is_pointed_out() {
    let env = TestEnv::new();
    for name in ["parser", "parse-dates", "docs"] {
        env.submit("Do it", &["--hours", "00:00-00:01", "--name", name]);
    }
    assert_eq!(env.json(&["show", "do"])["task"]["name"], "docs");
    let many = env.run(&["show", "pars"]);
    assert_eq!(many.code, 2);
    assert!(many.stderr.contains("\n  parser  ") && many.stderr.contains("\n  parse-dates  "), "{}", many.stderr);
    let slip = env.run(&["pause", "dosc"]);
    assert!(slip.code != 0 && slip.stderr.contains("did you mean `docs`?"), "{}", slip.stderr);
    let none = env.run(&["show", "nothing-like-it"]);
    assert!(none.stderr.contains("`longhaul list --all`") && !none.stderr.contains("did you mean"), "{}", none.stderr);
}

#[test]
fn common_names_of_commands_work() {
    let env = TestEnv::new();
    env.submit("Do it", &["--hours", "00:00-00:01", "--name", "t"]);
    env.reach("t", "waiting");
    for alias in ["ls", "ps", "status"] {
        assert!(env.ok(&[alias]).contains("◔ t "), "{alias}");
    }
    env.ok(&["log", "t"]);
    env.ok(&["stop", "t"]);
    assert_eq!(env.state("t"), "paused");
    env.ok(&["kill", "t"]);
    assert_eq!(env.state("t"), "cancelled");
}

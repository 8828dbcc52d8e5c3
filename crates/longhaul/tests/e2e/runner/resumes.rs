//! Conversations over sessions: the saved id is the truth, and a resume that fails is followed by a fresh session at once.

use std::time::{SystemTime, UNIX_EPOCH};

use super::Runner;

fn resumed(runner: &Runner) -> Vec<Option<String>> {
    let id = |argv: &Vec<String>| {
        let place = argv.iter().position(|word| word.starts_with("You are the")).expect("a prompt");
        (argv[1] == "resume").then(|| argv[place - 1].clone())
    };
    runner.argvs().iter().map(id).collect()
}

#[test]
fn every_session_of_the_loop_resumes_the_saved_conversation() {
    let runner = Runner::new();
    runner.legacy("t", 0, 2);
    runner.write("t", "session.id", "my-own_id.1\n");
    runner.ok(&["--resume-last", "-n", "t"]);
    assert_eq!(resumed(&runner), [Some("my-own_id.1".into()), Some("my-own_id.1".into())]);
    assert_eq!(runner.file("t", "session.id"), "my-own_id.1\n");
}

#[test]
fn without_the_option_or_without_an_id_sessions_are_fresh() {
    let runner = Runner::new();
    runner.legacy("t", 0, 3);
    runner.write("t", "session.id", "old\n");
    runner.ok(&["-n", "t", "-c", "--max-sessions", "1"]);
    std::fs::remove_file(runner.dir("t").join("session.id")).unwrap();
    runner.ok(&["-n", "t", "--resume-last", "--max-sessions", "1"]);
    runner.ok(&["--resume-last", "--max-sessions", "1"]);
    let resumed = resumed(&runner);
    assert_eq!(resumed[..2], [None, None], "a removed id means fresh");
    assert!(resumed[2].is_some(), "the fresh session's id was saved");
}

#[test]
fn a_failed_resume_falls_back_at_once_and_counts_nothing() {
    let runner = Runner::new().does("if [ -n \"$id\" ]; then echo 'no such thread' >&2; exit 7; fi; work");
    runner.legacy("t", 0, 3);
    runner.write("t", "session.id", "no-uuid-at-all\n");
    let done = runner.run(&["-n", "t", "--resume-last", "--max-sessions", "1"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("Resume failed (exit code 7)"), "{}", done.stderr);
    assert_eq!(done.stdout.matches("SESSION 1 - t").count(), 1, "{}", done.stdout);
    assert!(done.stdout.contains("=== Progress: 1/3 ==="), "{}", done.stdout);
    assert_eq!(resumed(&runner), [Some("no-uuid-at-all".into()), None]);
    assert!(runner.file("t", "session.id").starts_with("01a1e094"), "the new id replaces the old one");
}

#[test]
fn when_the_fresh_session_fails_too_its_code_is_the_runners() {
    let runner = Runner::new().does("exit 9");
    runner.legacy("t", 0, 3);
    runner.write("t", "session.id", "old\n");
    let done = runner.run(&["-n", "t", "--resume-last"]);
    assert_eq!((done.code, runner.argvs().len()), (9, 2), "{}", done.stderr);
    assert_eq!(runner.file("t", "session.id"), "old\n", "no new id: the old one stays");
}

/// Half a step, then what codex says at a usage limit that ends in twelve hours.
fn limited() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 60 % 1440;
    let (hour, minute) = ((now / 60 + 12) % 24, now % 60);
    let clock = format!("{}:{minute:02} {}", (hour + 11) % 12 + 1, if hour < 12 { "AM" } else { "PM" });
    let said = format!("You’ve hit your usage limit. Upgrade or try again at {clock}.");
    format!(r#"start; echo half > half.txt; echo '{{"type":"turn.failed","error":{{"message":"{said}"}}}}'; exit 1"#)
}

#[test]
fn a_usage_limit_keeps_the_saved_conversation_and_is_recorded() {
    let mut runner = Runner::new().does(&limited());
    runner.env.set("TZ", "UTC");
    runner.legacy("t", 0, 3);
    runner.write("t", "session.id", "saved-id\n");
    let done = runner.run(&["-n", "t", "--resume-last"]);
    assert_eq!((done.code, resumed(&runner)), (1, vec![Some("saved-id".into())]), "{}", done.stderr);
    assert!(!done.stderr.contains("Resume failed"), "{}", done.stderr);
    assert!(done.stderr.contains("error: codex hit its usage limit; it resets at 20"), "{}", done.stderr);
    assert!(done.stderr.contains("longhaul resume t"), "{}", done.stderr);
    assert_eq!(runner.file("t", "session.id"), "saved-id\n");
    let why = runner.env.ok(&["why", "t"]);
    assert!(why.contains("paused by its runner: codex hit its usage limit; it resets at "), "{why}");
    assert!(why.contains("usage limit: codex until "), "{why}");
    // A home below the temp directory is no place for a sandboxed codex.
    runner.env.ok(&["resume", "t", "--sandbox", "full"]);
    runner.env.reach("t", "waiting");
    assert_eq!(runner.argvs().len(), 1, "nothing was tried");
    runner.env.ok(&["cancel", "t"]);
}

#[test]
fn a_conversation_that_was_found_is_not_given_up_for_another_failure() {
    let runner = Runner::new().does("start; exit 3");
    runner.legacy("t", 0, 3);
    runner.write("t", "session.id", "saved-id\n");
    let done = runner.run(&["-n", "t", "--resume-last"]);
    assert_eq!((done.code, resumed(&runner)), (3, vec![Some("saved-id".into())]), "{}", done.stderr);
    assert_eq!(runner.file("t", "session.id"), "saved-id\n");
}

#[test]
fn tokens_of_a_conversation_count_once() {
    let counted = r#"start; n=$(cat turns 2>/dev/null || echo 0); n=$((n + 1)); echo $n > turns; tick
        echo "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":$((n * 200)),\"output_tokens\":$((n * 20))}}""#;
    let runner = Runner::new().does(counted);
    runner.legacy("t", 0, 3);
    runner.write("t", "session.id", "saved-id\n");
    runner.ok(&["-n", "t", "--resume-last", "--max-sessions", "1"]);
    runner.ok(&["-n", "t", "--resume-last"]);
    let report = runner.env.json(&["report", "t"]);
    let tokens: Vec<_> = report["sessions"].as_array().unwrap().iter().map(|row| row["tokens"].clone()).collect();
    assert_eq!(tokens, [220, 220, 220]);
}

#[test]
fn what_is_no_id_is_not_handed_to_the_program() {
    let runner = Runner::new();
    runner.legacy("t", 0, 1);
    runner.write("t", "session.id", "--last\n");
    let done = runner.run(&["-n", "t", "--resume-last"]);
    assert_eq!((done.code, resumed(&runner)), (0, vec![None]), "{}", done.stderr);
    assert!(done.stderr.contains("Resume failed"), "{}", done.stderr);
}

#[test]
fn an_id_is_found_whatever_the_event_is_called() {
    for (line, id) in [
        (r#"{"session_id": "ses_1"}"#, "ses_1\n"),
        (r#"{"type":"configured","thread_id":"th-1","session_id":"other"}"#, "th-1\n"),
    ] {
        let runner = Runner::new().does(&format!("echo '{line}'; plan"));
        let out = runner.ok(&["-n", "t", "Do it", "--no-auto-continue"]);
        assert!(out.contains(&format!("Session ID saved: {id}")), "{out}");
        assert_eq!(runner.file("t", "session.id"), id);
    }
}

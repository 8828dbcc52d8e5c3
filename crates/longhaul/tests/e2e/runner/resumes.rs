//! Conversations over sessions: the saved id is the truth, and a resume that fails is followed by a fresh session at once.

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

//! The checks of a task, as a user sees them: passed, failed and mended, never mended, and every way a check can misbehave.
//!
//! Only a seen exit 0 of a run that ran something is a pass; every other end is told for what it is, and nothing stays alive.

use std::time::Instant;

use serde_json::{Value, json};

use crate::checker;
use crate::env::{Done, PASSED, TestEnv, wait_for};
use crate::processes::Process;
use crate::rounds::one_step;

/// A check that tells that it runs and waits for the file `go`.
const WAITS: &str = "echo run >> runs; until test -e go; do sleep 0.02; done";

/// Runs a task with one check in the foreground.
fn run(env: &TestEnv, check: &str, more: &[&str]) -> Done {
    env.run(&[&["run", "Do it", "--name", "t", "--check", check], more].concat())
}

/// Runs a task whose check must not pass and that may not be mended; returns its evidence.
fn refused(env: &TestEnv, check: &str) -> Value {
    let done = run(env, check, &["--fix-attempts", "0"]);
    assert_eq!(done.code, 3, "{check}: {}", done.stderr);
    assert!(done.stderr.contains("verification failed") || done.stdout.contains("verification failed"), "{check}");
    assert_eq!(env.state("t"), "needs_help");
    let evidence = env.evidence("t");
    assert_eq!(evidence.len(), 1, "{check}");
    env.deserted();
    checker::assert_clean(env);
    evidence[0].clone()
}

#[test]
fn a_passing_check_without_git_is_said_to_verify_nothing() {
    let env = one_step();
    let done = run(&env, "echo fine", &[]);
    assert_eq!(done.code, PASSED, "{}", done.stderr);
    let said = [done.stdout, done.stderr].concat();
    assert!(
        said.contains("done, checks passed, not verified, because there is no git repository")
            && !said.contains("unverified"),
        "{said}"
    );
    assert_eq!(env.purposes("t"), ["plan", "work", "check"]);
    let evidence = &env.evidence("t")[0];
    assert_eq!((&evidence["command"], &evidence["exit"]), (&json!("echo fine"), &json!({ "code": 0 })));
    assert_eq!((&evidence["output"]["tail"], &evidence["failure"]), (&json!("fine\n"), &Value::Null));
    for verb in ["show", "wait", "why"] {
        let said = env.run(&[verb, "t"]).stdout;
        assert!(said.contains("checks passed, not verified, because there is no git repository"), "{verb}: {said}");
    }
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn without_checks_every_verb_says_that_nothing_is_verified() {
    let env = one_step();
    let done = env.run(&["run", "Do it", "--name", "t"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let said = [done.stdout, done.stderr].concat();
    assert!(said.contains("done, unverified"), "{said}");
    for verb in ["show", "wait", "why"] {
        let said = env.ok(&[verb, "t"]);
        assert!(said.contains("unverified"), "{verb}: {said}");
    }
}

#[test]
fn what_a_check_found_is_mended_by_a_session_that_is_told_of_it() {
    let env = one_step();
    let check = "test -f FIXES.md || { echo the reason why; echo more >&2; exit 7; }";
    let done = run(&env, check, &["--check", "true"]);
    assert_eq!(done.code, PASSED, "{}", done.stderr);
    assert_eq!(env.purposes("t"), ["plan", "work", "check", "check", "fix", "check", "check"]);
    let prompt = env.prompt("t", 5);
    for told in ["Checks that failed", "the reason why", "more", "exit code 7", check] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert!(!prompt.contains("- `true`: "), "only what failed is told: {prompt}");
    assert_eq!(env.lines("FIXES.md"), 1);
    let progress = std::fs::read_to_string(env.task_dir("t").join("progress.md")).unwrap();
    assert!(progress.contains("FIXES.md"), "{progress}");
    let failures: Vec<Value> = env.evidence("t").iter().map(|evidence| evidence["failure"].clone()).collect();
    assert_eq!(failures, [json!("exit code 7"), Value::Null, Value::Null, Value::Null]);
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn what_is_never_mended_needs_help_and_a_reason_runs_the_checks_again() {
    let env = one_step().var("DEMO_FAULT", "no-fix");
    let done = run(&env, "test -f by-hand", &["--fix-attempts", "2"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert_eq!(env.purposes("t"), ["plan", "work", "check", "fix", "check", "fix", "check"]);
    assert_eq!(env.task("t")["state"]["reason"]["verification_failed"]["fixes"], 2);
    assert_eq!(env.run(&["wait", "t"]).code, 3);
    assert_eq!(env.run(&["resume", "t"]).code, 2, "a reason is needed");
    env.ok(&["resume", "t", "--reason", "I look again"]);
    assert_eq!(env.run(&["wait", "t"]).code, 3, "the checks were run again, and fixing begins anew");
    assert_eq!(env.evidence("t").len(), 6);
    env.put("by-hand", "");
    env.ok(&["resume", "t", "--reason", "made it by hand"]);
    assert_eq!(env.run(&["wait", "t"]).code, PASSED);
    assert_eq!(env.evidence("t").len(), 7, "one run more, and no session of the agent before it");
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
pub(crate) fn a_check_that_hangs_is_ended_at_its_deadline_with_all_it_started() {
    let env = one_step().var("LONGHAUL_VERIFY_DEADLINE", "1s");
    let begun = Instant::now();
    let evidence = refused(&env, "sleep 600 & echo $! > sleeper; sleep 600");
    assert!(evidence["failure"].as_str().unwrap().contains("timed out"), "{evidence}");
    assert!(begun.elapsed().as_secs() < 45, "ended by its deadline, not by ours");
    let sleeper: i32 = std::fs::read_to_string(env.workspace().join("sleeper")).unwrap().trim().parse().unwrap();
    assert!(!Process::now(sleeper).is_some_and(Process::is_alive), "what it started is ended with it");
}

#[test]
fn a_check_that_is_deaf_is_ended_all_the_same() {
    let env = one_step().var("LONGHAUL_VERIFY_DEADLINE", "500ms");
    let evidence = refused(&env, "trap '' TERM INT; while :; do sleep 0.2; done");
    assert_eq!(evidence["exit"], json!({ "signal": 9 }));
    assert!(evidence["failure"].as_str().unwrap().contains("timed out"), "{evidence}");
}

#[test]
fn a_check_that_floods_is_kept_small_where_people_read() {
    let env = one_step();
    let done = run(&env, "yes junk | head -c 9000000; echo the end", &[]);
    assert_eq!(done.code, PASSED, "{}", done.stderr);
    let evidence = &env.evidence("t")[0];
    let tail = evidence["output"]["tail"].as_str().unwrap();
    assert!(tail.ends_with("the end\n") && tail.len() <= 4096, "{}", tail.len());
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_check_that_kills_itself_is_no_pass() {
    let evidence = refused(&one_step(), "echo before; kill -9 $$");
    assert_eq!((&evidence["exit"], &evidence["failure"]), (&json!({ "signal": 9 }), &json!("killed by signal 9")));
    assert_eq!(evidence["output"]["tail"], "before\n");
}

#[test]
fn a_program_that_is_not_there_is_no_pass() {
    let env = one_step();
    let done = run(&env, "no-such-program --at-all", &["--no-preflight"]);
    assert_eq!(done.code, 5, "{}", done.stderr);
    assert_eq!(env.evidence("t")[0]["exit"], json!({ "code": 127 }));
}

#[test]
fn a_daemon_of_a_check_does_not_outlive_it() {
    let env = one_step();
    let check = "setsid sleep 600 </dev/null >/dev/null 2>&1 & echo $! > daemon; true";
    let done = run(&env, check, &[]);
    assert_eq!(done.code, PASSED, "{}", done.stderr);
    let daemon: i32 = std::fs::read_to_string(env.workspace().join("daemon")).unwrap().trim().parse().unwrap();
    assert!(!Process::now(daemon).is_some_and(Process::is_alive));
    assert!(env.sessions("t")[2]["ended"]["leftovers"].as_u64() >= Some(1));
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_run_of_nothing_is_no_pass() {
    for summary in ["Ran 0 tests in 0.000s", "0 examples, 0 failures", "1 skipped in 0.00s"] {
        let evidence = refused(&one_step(), &format!("echo '{summary}'"));
        assert_eq!(evidence["exit"], json!({ "code": 0 }));
        assert_eq!(evidence["failure"], "passed without running any test");
    }
    let done = run(&one_step(), "echo 'Ran 1 test in 0.000s'", &[]);
    assert_eq!(done.code, PASSED, "the control: one test is something: {}", done.stderr);
}

/// A task whose check runs and waits for `go`.
fn checking(env: &TestEnv) {
    env.submit("Do it", &["--name", "t", "--check", WAITS]);
    env.await_lines("runs", 1);
}

#[test]
fn a_check_that_is_paused_says_nothing_and_runs_again() {
    let env = one_step();
    checking(&env);
    env.ok(&["pause", "t"]);
    assert_eq!((env.state("t").as_str(), env.evidence("t").len()), ("paused", 0));
    env.put("go", "");
    env.ok(&["resume", "t"]);
    assert_eq!(env.run(&["wait", "t"]).code, PASSED);
    assert_eq!((env.evidence("t").len(), env.lines("runs")), (1, 2));
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_step_added_during_verification_is_worked_on_first() {
    let env = one_step();
    checking(&env);
    let list = env.task_dir("t").join("task_list.md");
    let text = std::fs::read_to_string(&list).unwrap();
    std::fs::write(&list, format!("{text}- [ ] Task 2: Write one more note\n")).unwrap();
    env.put("go", "");
    assert_eq!(env.run(&["wait", "t"]).code, PASSED);
    assert_eq!(env.purposes("t"), ["plan", "work", "check", "work", "check"]);
    assert!(!std::fs::read_to_string(&list).unwrap().contains("- [ ]"));
    assert_eq!(env.lines("runs"), 2, "what was checked before the new work is checked again");
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn other_checks_replace_the_ones_that_run() {
    let env = one_step();
    checking(&env);
    env.ok(&["edit", "t", "--check", "echo another"]);
    env.put("go", "");
    assert_eq!(env.run(&["wait", "t"]).code, PASSED);
    let round = env.task("t")["round"].clone();
    assert_eq!(round["evidence"].as_array().unwrap().len(), 1, "{round}");
    assert_eq!(round["evidence"][0]["command"], "echo another");
}

#[test]
fn checks_that_are_taken_away_leave_nothing_verified() {
    let env = one_step();
    checking(&env);
    let edited = env.run(&["edit", "t", "--no-checks"]);
    assert_eq!((edited.code, edited.stderr.as_str()), (0, "task t: no checks\n"));
    env.put("go", "");
    assert!(env.ok(&["wait", "t"]).contains("unverified"));
}

#[test]
fn c5_a_reboot_in_the_middle_of_a_round_starts_another_one() {
    let mut env = one_step();
    env.submit("Do it", &["--name", "t", "--check", "echo run >> firsts", "--check", WAITS]);
    env.await_lines("runs", 1);
    env.power_cut();
    assert_eq!(env.column("t", "state").unwrap(), "verifying", "the control: nobody saw it end");
    env.put("go", "");
    env.set("LONGHAUL_TEST_BOOT_ID", "another boot");
    env.ok(&["worker", "--only", "--detach"]);
    assert_eq!(env.run(&["wait", "t"]).code, PASSED);
    let exits: Vec<Value> = env.sessions("t")[2..].iter().map(|session| session["ended"]["exit"].clone()).collect();
    assert_eq!(exits, [json!({ "code": 0 }), json!("unknown"), json!({ "code": 0 }), json!({ "code": 0 })]);
    assert_eq!((env.lines("firsts"), env.lines("runs")), (2, 2), "nothing seen before the reboot counts after it");
    assert_eq!(env.task("t")["round"]["number"], 2);
    assert_eq!(env.task("t")["round"]["evidence"].as_array().unwrap().len(), 2);
    env.wait_until_empty();
    env.ok(&["worker", "--only"]);
    checker::assert_clean(&env);
}

#[test]
fn a_secret_that_a_check_prints_is_in_no_evidence() {
    let secret = format!("s3cret-{}-{}", std::process::id(), "0123456789abcdef");
    let env = one_step().var("MY_API_KEY", &secret);
    refused(&env, "echo it is $MY_API_KEY; false");
    let evidence = env.evidence("t")[0].clone();
    assert!(evidence["output"]["tail"].as_str().unwrap().contains("it is [redacted"), "{evidence}");
    let everything = [env.ok(&["events", "t", "--json"]), env.ok(&["show", "t", "--json"]), env.ok(&["why", "t"])];
    assert!(!everything.concat().contains(&secret));
    let session = env.home().join("sessions").join(evidence["session"].as_str().unwrap());
    let log = std::fs::read_to_string(session.join("out.log")).unwrap();
    assert!(log.contains("it is ") && !log.contains(&secret), "{log}");
}

#[test]
fn a_secret_in_the_words_of_a_check_is_refused_and_nothing_is_made() {
    let env = one_step().var("MY_API_KEY", "0123456789abcdef0123");
    for more in [["--check", "login 0123456789abcdef0123"], ["--criterion", "it logs in = login 0123456789abcdef0123"]]
    {
        let done = env.run(&[&["run", "-d", "Do it", "--name", "t"], &more[..]].concat());
        assert_eq!(done.code, 2, "{}", done.stderr);
        assert!(done.stderr.contains("secret value"), "{}", done.stderr);
        assert!(!done.stderr.contains("0123456789abcdef0123"), "{}", done.stderr);
    }
    assert_eq!(env.json(&["list"])["tasks"], json!([]));
    env.submit("Do it", &["--name", "t", "--criterion", "no 0123456789abcdef0123 is printed"]);
    let text = env.task("t")["submission"]["criteria"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("[redacted"), "{text}");
    let done = env.run(&["edit", "t", "--check", "login 0123456789abcdef0123"]);
    assert!(matches!(done.code, 2 | 8), "{}", done.stderr);
    wait_for("the task to end", || (env.state("t") == "done").then_some(()));
}

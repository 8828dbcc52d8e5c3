//! The agent's conversations over sessions: fresh, resumed, handed over, strayed; and agents that stay when they are done.

use serde_json::{Value, json};

use crate::checker;
use crate::env::{PASSED, TestEnv};
use crate::rounds::one_step;

/// What each session was told to go on with, and the conversation it had.
fn talks(env: &TestEnv) -> Vec<(Value, Value)> {
    let sessions = env.sessions("t");
    sessions.iter().map(|one| (one["run"]["resumes"].clone(), one["run"]["conversation"].clone())).collect()
}

fn run(env: &TestEnv, more: &[&str]) {
    let done = env.run(&[&["run", "Do it", "--name", "t", "--backoff", "10ms"], more].concat());
    let wanted = if more.contains(&"--check") { PASSED } else { 0 };
    assert_eq!(done.code, wanted, "{}", done.stderr);
    env.deserted();
    checker::assert_clean(env);
}

#[test]
fn auto_resumes_an_interrupted_session_and_begins_afresh_after_a_completed_one() {
    let env = one_step().var("DEMO_FAULT", "crash@2");
    run(&env, &[]);
    let talks = talks(&env);
    assert_eq!((&talks[1].0, &talks[2].0), (&Value::Null, &talks[1].1), "{talks:?}");
    assert_eq!(env.json(&["show", "t"])["degraded"], 0);
}

#[test]
fn resume_stays_in_one_conversation() {
    let env = TestEnv::new();
    run(&env, &["--context", "resume"]);
    let talks = talks(&env);
    assert_eq!(talks.len(), 3);
    assert!(talks[1..].iter().all(|(asked, got)| *asked == talks[0].1 && *got == talks[0].1), "{talks:?}");
    let prompts: Vec<Value> = env.ledger_of("start").iter().map(|line| line["prompt_sha"].clone()).collect();
    assert!(prompts[0] != prompts[1] && prompts[1] != prompts[2], "each with its own prompt");
}

#[test]
fn fresh_never_resumes_and_hands_an_interrupted_session_over_with_a_note() {
    let env = one_step().var("DEMO_FAULT", "crash@2");
    run(&env, &["--context", "fresh"]);
    assert!(talks(&env).iter().all(|(asked, _)| asked.is_null()));
    let prompt = env.prompt("t", 3);
    assert!(prompt.contains("you take over work in progress"), "{prompt}");
    let show = env.ok(&["show", "t"]);
    assert!(
        show.contains("began: in a new conversation, with a note, because every session starts a new conversation"),
        "{show}"
    );
    let report = env.json(&["report", "t"]);
    assert_eq!((&report["degraded"], &report["sessions"][2]["degraded"]), (&json!(1), &json!(true)));
    assert_eq!(report["sessions"][0]["opening"], "fresh");
    assert!(env.ok(&["report", "t"]).contains("1 of them lost the conversation that they should have continued"));
}

#[test]
fn a_full_conversation_is_handed_over_and_told_while_it_is_so() {
    let env = one_step().var("DEMO_FAULT", "context-full@2,hang@3");
    env.submit("Do it", &["--name", "t", "--backoff", "10ms"]);
    env.live("t", 3);
    let live = env.json(&["show", "t"])["live"].clone();
    assert_eq!((&live["agent"], &live["degraded"], &live["attempt"]), (&json!("demo"), &json!(true), &json!(2)));
    assert_eq!((&live["processes"]["agent"]["alive"], live["silent_ms"].is_u64()), (&json!(true), true), "{live}");
    let (show, why) = (env.ok(&["show", "t"]), env.ok(&["why", "t"]));
    assert!(show.contains("; work by demo, try 2, session "), "{show}");
    assert!(show.contains("began      in a new conversation, with a note, because conversation demo-"), "{show}");
    assert!(why.contains("session 3 began in a new conversation, with a note, because conversation demo-"), "{why}");
}

#[test]
fn an_agent_that_strays_is_told_of() {
    let env = one_step().var("DEMO_FAULT", "crash@2,stray@3");
    run(&env, &[]);
    let talks = talks(&env);
    assert_ne!(talks[2].0, talks[2].1, "it went on elsewhere");
    let words =
        format!("asked for conversation {}, got {}", talks[2].0.as_str().unwrap(), talks[2].1.as_str().unwrap());
    assert!(env.ok(&["show", "t"]).contains(&words), "{}", env.ok(&["show", "t"]));
    let report = env.json(&["report", "t"]);
    assert_eq!((&report["degraded"], &report["sessions"][2]["opening"]), (&json!(1), &json!(words)));
}

#[test]
fn an_agent_that_stays_when_it_is_done_is_ended_and_has_completed() {
    let env = one_step().var("DEMO_FAULT", "linger").var("LONGHAUL_SESSION_LINGER", "1s");
    run(&env, &["--check", "true"]);
    for session in &env.sessions("t")[..2] {
        assert_eq!(
            (&session["ended"]["outcome"], &session["ended"]["stopped_by"]),
            (&json!("completed"), &json!("over"))
        );
    }
    assert_eq!(env.task("t")["tally"]["failures"], 0);
    assert_eq!(env.purposes("t"), ["plan", "work", "check"], "no session is tried again");
}

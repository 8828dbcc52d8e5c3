//! Usage limits of agents and the hours of sessions, as a user meets them: waited out, asked, stopped; told everywhere.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::checker;
use crate::custom_agents::configure;
use crate::env::{PASSED, TestEnv, wait_for};
use crate::rounds::one_step;
use crate::sight::kill_9;

/// A stretch of the day that began an hour ago and ends in an hour, in minutes from now.
pub(crate) const OPEN: (i64, i64) = (-60, 60);
/// One that begins in two hours.
pub(crate) const CLOSED: (i64, i64) = (120, 180);

/// Hours around now in UTC, as flags take them.
pub(crate) fn hours((from, to): (i64, i64)) -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let now = i64::try_from(seconds / 60 % 1440).unwrap();
    let clock = |offset: i64| (now + offset).rem_euclid(1440);
    let (from, to) = (clock(from), clock(to));
    format!("{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)
}

/// A world whose first session meets a usage limit of so many milliseconds.
fn limited(ms: u64) -> TestEnv {
    one_step().var("DEMO_FAULT", &format!("limit:+{ms}@1"))
}

#[test]
fn a_limit_is_waited_out_told_everywhere_and_burns_nothing() {
    let env = limited(3_600_000);
    env.submit("Do it", &["--name", "t", "--check", "true"]);
    env.reach("t", "waiting");
    let waiting = env.json(&["show", "t"])["task"]["wait"].clone();
    let until = waiting["until"].as_str().unwrap().to_owned();
    assert_eq!(waiting["agent"], "demo");
    assert_eq!(env.json(&["list"])["tasks"][0]["wait"], waiting);
    let list = env.ok(&["list"]);
    let is_in_an_hour = list.contains(" (in 59m ") || list.contains(" (in 1h 00m)");
    assert!(list.contains("WAITING\n◔ t  usage limit of demo, back at ") && is_in_an_hour, "{list}");
    let show = env.ok(&["show", "t"]);
    assert!(
        show.contains("state      waiting (usage limit of demo) until ") && !show.contains(&until),
        "local times: {show}"
    );
    assert!(show.contains("limited    demo until ") && show.contains("at a usage limit: wait"), "{show}");
    let why = env.ok(&["why", "t"]);
    assert!(why.contains("(usage limit of demo) until "), "{why}");
    let report = env.ok(&["report", "t"]);
    assert!(report.contains("## Usage limits\n\nWhen an agent reaches one: wait.\n\n### Reached"), "{report}");
    assert_eq!(env.task("t")["tally"]["failures"], 0);
    assert_eq!(env.run(&["wait", "t", "--timeout", "0"]).code, 124);
}

#[test]
fn a_short_limit_is_over_by_itself_also_when_the_worker_is_killed_in_it() {
    let env = limited(4_000);
    env.submit("Do it", &["--name", "t", "--check", "true"]);
    env.reach("t", "waiting");
    kill_9(env.worker_pid("t"));
    env.ok(&["worker", "--only", "--detach"]);
    assert_eq!(env.run(&["wait", "t"]).code, PASSED, "{}", env.ok(&["events", "t"]));
    assert_eq!(env.told("t", "agent_limited").len(), 1, "tried once, after its end");
    let report = env.json(&["report", "t"]);
    assert_eq!(report["limits_reached"].as_array().unwrap().len(), 1);
    assert_eq!((&report["agent_limits"], &report["sessions"][0]["agent"]), (&json!([]), &json!("demo")));
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn on_limit_ask_asks_a_person_who_lets_it_wait() {
    let env = limited(3_000);
    let done = env.run(&["run", "Do it", "--name", "t", "--on-limit", "ask", "--check", "true"]);
    assert_eq!(done.code, 5, "{}", done.stderr);
    assert_eq!(env.task("t")["state"]["reason"]["usage_limit"]["agent"], "demo");
    let show = env.ok(&["show", "t"]);
    assert!(show.contains("demo hit its usage limit; it resets at") && show.contains("--on-limit wait"), "{show}");
    assert_eq!(env.run(&["resume", "t"]).code, 2, "a reason is needed");
    env.ok(&["resume", "t", "--reason", "it may wait", "--on-limit", "wait"]);
    assert_eq!(env.run(&["wait", "t"]).code, PASSED, "{}", env.ok(&["events", "t"]));
    assert_eq!(env.task("t")["submission"]["on_limit"], "wait");
    checker::assert_clean(&env);
}

#[test]
fn on_limit_stop_stops_and_a_resume_tries_again() {
    let env = one_step().var("DEMO_FAULT", "limit@1");
    let done = env.run(&["run", "Do it", "--name", "t", "--on-limit", "stop", "--check", "true"]);
    assert_eq!(done.code, 6, "{}", done.stderr);
    let show = env.ok(&["show", "t"]);
    assert!(show.contains("`longhaul resume t` when the limit is over"), "{show}");
    env.ok(&["resume", "t"]);
    assert_eq!(env.run(&["wait", "t"]).code, PASSED, "{}", env.ok(&["events", "t"]));
    checker::assert_clean(&env);
}

#[test]
fn an_account_that_is_empty_is_a_persons() {
    let env = one_step().var("DEMO_FAULT", "exhausted@1");
    let done = env.run(&["run", "Do it", "--name", "t"]);
    assert_eq!(done.code, 5, "{}", done.stderr);
    assert_eq!(env.task("t")["state"]["reason"]["exhausted"]["why"], "the credit balance is zero");
    env.ok(&["resume", "t", "--reason", "paid"]);
    assert_eq!(env.run(&["wait", "t"]).code, 0);
}

#[test]
fn what_the_agent_may_not_do_is_a_persons() {
    let env = one_step().var("DEMO_FAULT", "permission@2");
    let done = env.run(&["run", "Do it", "--name", "t"]);
    assert_eq!(done.code, 5, "{}", done.stderr);
    let show = env.ok(&["show", "t"]);
    assert!(show.contains("permission denied: wants to run `rm`") && show.contains("longhaul tell t"), "{show}");
}

#[test]
fn sessions_start_in_their_hours_only_and_the_hours_can_be_changed() {
    let env = one_step().var("TZ", "UTC");
    env.submit("Do it", &["--name", "t", "--hours", &hours(CLOSED), "--check", "true"]);
    env.reach("t", "waiting");
    let waiting = env.json(&["show", "t"])["task"]["wait"].clone();
    assert!(waiting["why"].as_str().unwrap().contains("hours") && waiting["until"].is_string(), "{waiting}");
    assert_eq!(waiting["agent"], Value::Null);
    let until = waiting["until"].as_str().unwrap();
    let list = env.ok(&["list"]);
    assert!(list.contains("waiting (outside its hours) until ") && !list.contains(until), "local times: {list}");
    assert!(env.ok(&["show", "t"]).contains("\nhours      sessions start only at "));
    env.ok(&["edit", "t", "--attempts", "9"]);
    assert_eq!((env.state("t").as_str(), env.sessions("t").len()), ("waiting", 0), "other changes start nothing");
    env.ok(&["edit", "t", "--hours", "none"]);
    assert_eq!(env.run(&["wait", "t"]).code, PASSED, "{}", env.ok(&["events", "t"]));
    assert_eq!(env.task("t")["submission"]["hours"], Value::Null);
    checker::assert_clean(&env);
}

#[test]
fn a_limit_of_unknown_length_is_probed_and_a_new_choice_ends_the_wait() {
    let env = one_step().var("DEMO_FAULT", "limit@1");
    env.submit("Do it", &["--name", "t"]);
    env.reach("t", "waiting");
    assert_eq!(env.told("t", "agent_limited")[0]["told"], false);
    assert_eq!(env.run(&["resume", "t"]).code, 8, "it resumes automatically");
    env.ok(&["edit", "t", "--agent", "demo", "--model", "other"]);
    wait_for("the end of the wait", || (env.state("t") != "waiting").then_some(()));
    assert_eq!(env.run(&["wait", "t"]).code, 0);
}

#[test]
fn the_next_task_of_a_limited_account_waits_without_a_session() {
    let mut env = limited(3_600_000);
    env.make_repository();
    env.submit("Do it", &["--name", "first", "--check", "true"]);
    env.reach("first", "waiting");
    env.unset("DEMO_FAULT");
    let until = env.json(&["show", "first"])["task"]["wait"]["until"].as_str().unwrap().to_owned();
    env.submit("Do it", &["--name", "second", "--check", "true"]);
    env.reach("second", "waiting");
    assert_eq!(env.sessions("second").len(), 0, "it did not run into the limit itself");
    let also = env.json(&["why", "second"])["also"].to_string();
    assert!(also.contains(&format!("usage limit: demo until {until}")), "{also}");
    let first = env.task("first")["id"].as_str().unwrap().to_owned();
    let events = env.ok(&["events", "second"]);
    assert!(
        events.contains(&format!("demo hit its usage limit; it resets at {until} (reported by task {first})")),
        "{events}"
    );
    let agents = env.ok(&["agents"]);
    assert!(agents.contains(&format!("usage limit until {until}")), "{agents}");
    let other = env.run(&["run", "Do it", "--name", "other-model", "--model", "another", "--check", "true"]);
    assert_eq!(other.code, 0, "a limit may be of one model, so another one is tried: {}", other.stderr);
}

#[test]
fn a_limit_that_is_reached_while_others_wait_in_line_is_met_once() {
    let mut env = one_step().var("DEMO_FAULT", "hang@1");
    env.make_repository();
    env.ok(&["worker", "--only", "--sessions", "1"]);
    env.submit("Use the slot", &["--name", "blocker"]);
    env.live("blocker", 1);
    env.set("DEMO_FAULT", "limit:+3600000@2");
    env.submit("Meet the limit", &["--name", "first"]);
    env.unset("DEMO_FAULT");
    env.submit("Do it", &["--name", "second"]);
    env.submit("Do it", &["--name", "other-model", "--model", "another"]);
    for name in ["first", "second", "other-model"] {
        env.reach(name, "preparing");
    }
    env.ok(&["pause", "blocker", "--now"]);
    env.reach("second", "waiting");
    assert_eq!((env.sessions("first").len(), env.sessions("second").len()), (1, 0));
    assert_eq!(env.settle("other-model"), "done", "whoever learns of a limit gives its turn back");
    for name in ["blocker", "first", "second"] {
        env.ok(&["cancel", name]);
    }
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_limit_of_an_account_survives_every_process_and_ends_by_a_persons_word() {
    let mut env = limited(3_600_000);
    env.make_repository();
    env.submit("Do it", &["--name", "first", "--check", "true"]);
    env.reach("first", "waiting");
    env.unset("DEMO_FAULT");
    kill_9(env.worker_pid("first"));
    env.submit("Do it", &["--name", "second", "--check", "true"]);
    env.reach("second", "waiting");
    assert_eq!(env.sessions("second").len(), 0);
    env.ok(&["edit", "second", "--agent", "demo"]);
    assert_eq!(env.run(&["wait", "second"]).code, 0, "{}", env.ok(&["events", "second"]));
    let demo = env.json(&["agents"])["agents"].as_array().unwrap().iter().find(|row| row["name"] == "demo").cloned();
    assert_eq!(demo.unwrap()["limits"], json!([]), "the account is free for everybody");
    let third = env.run(&["run", "Do it", "--name", "third", "--check", "true"]);
    assert_eq!(third.code, 0, "{}", third.stderr);
    env.ok(&["cancel", "first"]);
}

#[test]
fn an_agent_that_is_out_for_another_reason_is_not_called_limited() {
    let env = limited(3_600_000);
    configure(&env, "[agents.ghost]\nargv = [\"no-such-program-here\"]\n");
    let ran = env.run(&["run", "-d", "Do it", "--name", "t", "--agents", "demo,ghost", "--on-limit", "switch"]);
    assert!(
        ran.stderr.contains("ghost cannot take over at a usage limit: `no-such-program-here` was not found"),
        "{}",
        ran.stderr
    );
    env.reach("t", "waiting");
    let (why, show, report) = (env.ok(&["why", "t"]), env.ok(&["show", "t"]), env.ok(&["report", "t"]));
    assert!(why.contains("(usage limit of demo) until "), "{why}");
    for text in [&why, &report] {
        assert!(
            text.contains("ghost is unusable until a person fixes it: agent program: `no-such-program-here`"),
            "{text}"
        );
        assert!(!text.contains("usage limit: ghost"), "{text}");
    }
    assert!(show.contains("limited    demo until ") && show.contains("unusable   ghost: agent program: "), "{show}");
    let agents = env.json(&["show", "t"])["agent_limits"].clone();
    assert_eq!((&agents[0]["unusable"], &agents[1]["until"]), (&Value::Null, &Value::Null), "{agents}");
    env.ok(&["cancel", "t"]);
}

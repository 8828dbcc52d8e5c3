//! The real agent programs against the scripted model, without Longhaul: what tests of Longhaul then stand on.
//! They fail, and say what to do, where the programs are not installed.

mod fifo;
mod scene;

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use fifo::Fifo;
use longhaul_scripted_model::{Agent, Answer, Ending, Login, Place, Refusal, Reply, Rule, Rules, Script, Turn, worker};
use scene::{PATIENCE, Scene};
use serde_json::Value;

/// Plans in one session, then resumes it twice for a step each: the latest prompt of three has to count.
fn plans_and_does_two_steps(agent: Agent) {
    let scene = Scene::new(agent, worker);
    let planned = scene.start(&scene.prompt("Initializer Agent", 1));
    assert!(planned.says("planned"), "{planned}");
    assert!(scene.list().contains("- [ ] Task 1") && !scene.workspace().join("one.txt").exists());
    let session = planned.session();
    for (step, made) in [(2, "one.txt"), (3, "two.txt")] {
        assert!(!scene.workspace().join(made).exists(), "{made} is there before its step");
        let ended = scene.resume(&session, &scene.prompt("Executor Agent", step));
        assert!(ended.says("done"), "{ended}");
        assert!(scene.workspace().join(made).exists(), "{made} is missing: {ended}");
    }
    assert!(!scene.list().contains("[ ]"), "{}", scene.list());
    for step in 1..=3 {
        let mark = format!("Session: t/{step}.1");
        assert_eq!((scene.server.deliveries(&mark), scene.server.copies(&mark)), (1, 1), "{mark}");
    }
    assert_eq!(scene.server.copies("Task Directory:"), 3, "a resumed conversation holds its earlier prompts");
}

#[test]
fn codex_plans_and_does_two_steps() {
    plans_and_does_two_steps(Agent::Codex);
}

#[test]
fn claude_plans_and_does_two_steps() {
    plans_and_does_two_steps(Agent::Claude);
}

#[test]
fn opencode_plans_and_does_two_steps() {
    plans_and_does_two_steps(Agent::OpenCode);
}

#[test]
fn pi_plans_and_does_two_steps() {
    plans_and_does_two_steps(Agent::Pi);
}

#[test]
fn gemini_plans_and_does_two_steps() {
    plans_and_does_two_steps(Agent::Gemini);
}

/// A file written by the agent's own tool, and an answer that falls silent and goes on when it is let.
fn writes_a_file_and_waits_for_a_release(agent: Agent) {
    let write = Answer::call(longhaul_scripted_model::Call::WriteFile {
        path: "note.txt".to_owned(),
        text: "it's here\n".to_owned(),
    });
    let late = Reply::Hang { at: Place::MidStream, then: Answer::text("late words") };
    let rules = Rules::new().rule(Rule::new(write).when_prompt_has("a note").on_call(1)).rule(Rule::new(late));
    let scene = Scene::new(agent, rules);
    let running = scene.spawn_start("make a note, please");
    assert!(scene.server.wait_until_hanging(PATIENCE, 1), "the answer to the tool's result never hung");
    let note = fs::read_to_string(scene.workspace().join("note.txt"));
    scene.server.release();
    let ended = running.end();
    assert_eq!(note.unwrap_or_else(|error| panic!("{error}: {ended}")), "it's here\n");
    assert!(ended.says("late words"), "{ended}");
}

#[test]
fn codex_writes_a_file_and_waits_for_a_release() {
    writes_a_file_and_waits_for_a_release(Agent::Codex);
}

#[test]
fn claude_writes_a_file_and_waits_for_a_release() {
    writes_a_file_and_waits_for_a_release(Agent::Claude);
}

#[test]
fn opencode_writes_a_file_and_waits_for_a_release() {
    writes_a_file_and_waits_for_a_release(Agent::OpenCode);
}

#[test]
fn pi_writes_a_file_and_waits_for_a_release() {
    writes_a_file_and_waits_for_a_release(Agent::Pi);
}

#[test]
fn gemini_writes_a_file_and_waits_for_a_release() {
    writes_a_file_and_waits_for_a_release(Agent::Gemini);
}

/// Killed in the middle of a tool and resumed: the old prompt stays in the history once, and the new one counts.
fn goes_on_after_a_kill(agent: Agent) {
    // The way out is open before the tool tells that it runs, so it can not be missed: its end ends the tool.
    let command = "{ echo running > gate; cat > /dev/null; } < way-out";
    let long = Rule::new(Reply::shell(command)).when_prompt_has("t/1.1").at_most(1);
    let scene = Scene::new(agent, Rules::new().rule(long).otherwise(worker));
    let (gate, way_out) = (Fifo::make(&scene.workspace(), "gate"), Fifo::make(&scene.workspace(), "way-out"));
    let running = scene.spawn_start(&scene.prompt("Initializer Agent", 1));
    gate.wait_for_words(PATIENCE);
    let session = running.session_by_now();
    running.kill();
    drop(way_out);
    let ended = scene.resume(&session, &scene.prompt("Initializer Agent", 2));
    assert!(ended.says("planned"), "{ended}");
    for mark in ["Session: t/1.1", "Session: t/2.1"] {
        assert_eq!((scene.server.deliveries(mark), scene.server.copies(mark)), (1, 1), "{mark}");
    }
}

#[test]
fn codex_goes_on_after_a_kill() {
    goes_on_after_a_kill(Agent::Codex);
}

#[test]
fn claude_goes_on_after_a_kill() {
    goes_on_after_a_kill(Agent::Claude);
}

#[test]
fn opencode_goes_on_after_a_kill() {
    goes_on_after_a_kill(Agent::OpenCode);
}

#[test]
fn pi_goes_on_after_a_kill() {
    goes_on_after_a_kill(Agent::Pi);
}

#[test]
fn gemini_goes_on_after_a_kill() {
    goes_on_after_a_kill(Agent::Gemini);
}

fn refused(agent: Agent, refusal: Refusal, signs: &str, code: i32) {
    let scene = Scene::new(agent, move |_: &Turn| refusal.clone().into());
    let ended = scene.start("hello");
    assert!(ended.text.contains(signs) && ended.code == Some(code), "{ended}");
    assert!(!ended.says("planned"), "{ended}");
}

#[test]
fn every_program_knows_its_vendors_refusal_of_a_key() {
    refused(Agent::Codex, Refusal::Unauthorized, "unexpected status 401 Unauthorized", 1);
    refused(Agent::Claude, Refusal::Unauthorized, "authentication_failed", 1);
    refused(Agent::OpenCode, Refusal::Unauthorized, "\"statusCode\":401", 1);
    refused(Agent::Pi, Refusal::Unauthorized, "\"errorMessage\":\"401", 0);
    refused(Agent::Gemini, Refusal::Unauthorized, "\"status\":\"error\"", 145);
}

#[test]
fn a_full_context_is_told_apart() {
    refused(Agent::Codex, Refusal::ContextTooLong, "ran out of room", 1);
    refused(Agent::Claude, Refusal::ContextTooLong, "prompt_too_long", 1);
    refused(Agent::OpenCode, Refusal::ContextTooLong, "ContextOverflowError", 1);
    refused(Agent::Pi, Refusal::ContextTooLong, "context_length_exceeded", 0);
}

#[test]
fn quotas_and_busy_servers_are_told_apart() {
    refused(Agent::Codex, Refusal::QuotaGone, "Quota exceeded", 1);
    refused(Agent::Claude, Refusal::QuotaGone, "billing_error", 1);
    refused(Agent::Pi, Refusal::QuotaGone, "insufficient_quota", 0);
    refused(Agent::Gemini, Refusal::QuotaGone, "exhausted your daily quota", 173);
    refused(Agent::Codex, Refusal::Overloaded, "at capacity", 1);
    refused(Agent::Claude, Refusal::Overloaded, "529", 1);
    refused(Agent::Codex, Refusal::ModelNotFound, "does not exist", 1);
    refused(Agent::Claude, Refusal::ModelNotFound, "model_not_found", 1);
}

#[test]
fn codex_records_when_its_usage_limit_ends_and_works_again_after_it() {
    let limit = Rule::new(Refusal::UsageLimit { resets_in: Duration::from_secs(20) }).at_most(1);
    let scene = Scene::new(Agent::Codex, Rules::new().rule(limit).otherwise(worker));
    let ended = scene.start(&scene.prompt("Initializer Agent", 1));
    assert!(ended.text.contains("hit your usage limit") && ended.code == Some(1), "{ended}");
    let rollout = newest_file(&scene.home().join(".codex/sessions"));
    let limits = rollout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut limits = limits.filter_map(|line| line["payload"]["rate_limits"]["primary"]["resets_at"].as_u64());
    let resets_at = limits.next_back().unwrap_or_else(|| panic!("no time in {rollout}"));
    let sent_at = scene.server.requests()[0].at.duration_since(UNIX_EPOCH).expect("a time").as_secs();
    assert!((sent_at + 20..=sent_at + 22).contains(&resets_at), "{resets_at} for a request at {sent_at}");
    assert!(scene.resume(&ended.session(), &scene.prompt("Initializer Agent", 2)).says("planned"));
}

/// Only a subscription makes claude read the time; with a key the same refusal is a plain rate limit.
#[test]
fn claude_tells_when_its_usage_limit_ends_if_it_has_a_subscription() {
    for (login, tells) in [(Login::Subscription, true), (Login::Key, false)] {
        let limit = Reply::Refuse(Refusal::UsageLimit { resets_in: Duration::from_secs(3600) });
        let scene = Scene::with_login(Agent::Claude, login, move |_: &Turn| limit.clone());
        let ended = scene.start("hello");
        assert!(ended.text.contains("rate_limit") && ended.code == Some(1), "{ended}");
        assert_eq!(ended.text.contains("\"resetsAt\":"), tells, "{ended}");
    }
}

#[test]
fn a_cut_stream_is_tried_again_by_codex_and_claude() {
    for agent in [Agent::Codex, Agent::Claude] {
        for ending in [Ending::Close, Ending::Reset] {
            let cut = Reply::Cut { at: Place::MidStream, ending, answer: Answer::text("half") };
            let rules = Rules::new().rule(Rule::new(cut).at_most(1)).rule(Rule::new(Reply::text("whole words")));
            let scene = Scene::new(agent, rules);
            let ended = scene.start("hello");
            assert!(ended.says("whole words"), "{agent:?} {ending:?}: {ended}");
            assert!(scene.server.turns().len() > 1, "the first answer was cut");
        }
    }
}

/// The negative control of the whole harness: with nobody to answer, nothing is made and nothing passes for done.
#[test]
fn without_a_server_no_program_succeeds() {
    for agent in [Agent::Codex, Agent::Claude] {
        let scene = Scene::new(agent, worker).without_server();
        let ended = scene.start(&scene.prompt("Initializer Agent", 1));
        assert!(!ended.says("planned") && ended.code == Some(1), "{ended}");
        assert!(!scene.workspace().join(".autonomous").exists());
    }
}

fn newest_file(directory: &Path) -> String {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let last = entries.map(|entry| entry.expect("an entry").path()).max().expect("the directory is not empty");
    if last.is_dir() { newest_file(&last) } else { fs::read_to_string(last).expect("a file of text") }
}

/// Scripts of every kind go into a scene.
#[test]
fn the_model_counts_its_own_calls_in_a_conversation() {
    let script: fn(&Turn) -> Reply = |turn| match turn.calls_before() {
        0 => Reply::shell("echo first"),
        1 => Reply::shell("echo second"),
        number => Reply::text(format!("call {}", number + 1)),
    };
    fn is_a_script(_: &impl Script) {}
    is_a_script(&script);
    let scene = Scene::new(Agent::Pi, script);
    assert!(scene.start("count").says("call 3"));
}

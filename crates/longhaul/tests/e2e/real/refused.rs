//! What only a person can fix: a login that is refused, and something the agent wanted and was not allowed. One refused request is neither.

use longhaul_scripted_model::{Agent, Answer, Call, Refusal, Reply, Rule, Rules, Turn, worker};
use serde_json::json;

use super::world::World;

/// The most requests of one session: opencode, pi and gemini ask once, codex is told to try twice, claude is stopped at its third retry.
const FEW: usize = 4;

fn a_refused_login_is_for_a_person(agent: Agent) {
    let mut world = World::new(agent, |_: &Turn| Reply::from(Refusal::Unauthorized));
    // As people have it: three minutes of retries.
    world.env.set("CLAUDE_CODE_MAX_RETRIES", "10");
    let task = world.submit(agent, &[]);
    assert_eq!(world.settle(&task), "needs_help", "{}", world.story(&task));
    let reason = world.task(&task)["state"]["reason"].clone();
    assert!(reason["agent_refuses"]["why"].is_string(), "{reason}");
    assert_eq!(world.agent_sessions(&task).len(), 1, "it is not tried again");
    let asked = world.server.turns().len();
    assert!(asked <= FEW, "{asked} requests");
}

#[test]
fn codex_a_refused_login_is_for_a_person() {
    a_refused_login_is_for_a_person(Agent::Codex);
}

#[test]
fn claude_a_refused_login_is_for_a_person() {
    a_refused_login_is_for_a_person(Agent::Claude);
}

#[test]
fn opencode_a_refused_login_is_for_a_person() {
    a_refused_login_is_for_a_person(Agent::OpenCode);
}

#[test]
fn pi_a_refused_login_is_for_a_person() {
    a_refused_login_is_for_a_person(Agent::Pi);
}

#[test]
fn gemini_a_refused_login_is_for_a_person() {
    a_refused_login_is_for_a_person(Agent::Gemini);
}

/// Claude and codex send the request again themselves; the others give up, and the session is tried again.
fn one_refused_request_ends_nothing(agent: Agent) {
    let once = Rule::new(Refusal::Unauthorized).when_prompt_has("Executor Agent").at_most(1);
    let mut world = World::new(agent, Rules::new().rule(once).otherwise(worker));
    world.env.set("CLAUDE_CODE_MAX_RETRIES", "10");
    let task = world.submit(agent, &[]);
    world.finish(&task);
    world.assert_no_prompt_twice(&task);
}

#[test]
fn codex_one_refused_request_ends_nothing() {
    one_refused_request_ends_nothing(Agent::Codex);
}

#[test]
fn claude_one_refused_request_ends_nothing() {
    one_refused_request_ends_nothing(Agent::Claude);
}

#[test]
fn opencode_one_refused_request_ends_nothing() {
    one_refused_request_ends_nothing(Agent::OpenCode);
}

#[test]
fn pi_one_refused_request_ends_nothing() {
    one_refused_request_ends_nothing(Agent::Pi);
}

#[test]
fn gemini_one_refused_request_ends_nothing() {
    one_refused_request_ends_nothing(Agent::Gemini);
}

/// The model calls a tool once and then gives up.
fn wants(call: Call) -> impl Fn(&Turn) -> Reply + Send + Sync + 'static {
    move |turn: &Turn| match turn.results_since_prompt().next() {
        None => Answer::call(call.clone()).into(),
        Some(_) => Reply::text("I may not"),
    }
}

fn a_refused_permission_is_for_a_person(agent: Agent, mode: &str, call: Call, named: &str) {
    let world = World::new(agent, wants(call));
    let task = world.submit(agent, &["--sandbox", mode]);
    assert_eq!(world.settle(&task), "needs_help", "{}", world.story(&task));
    let reason = world.task(&task)["state"]["reason"].clone();
    let what = reason["permission"]["what"].as_str().unwrap_or_else(|| panic!("{reason}"));
    assert!(what.contains(named), "{what}");
    assert_eq!(world.agent_sessions(&task).len(), 1, "it would be refused again");
    assert!(world.env.ok(&["why", &task]).contains(named));
}

#[test]
fn claude_a_refused_permission_is_for_a_person() {
    let call = Call::Raw { name: "Bash".into(), arguments: json!({"command": "touch x", "description": "x"}) };
    a_refused_permission_is_for_a_person(Agent::Claude, "read-only", call, "Bash");
}

/// What `read-only` forbids, opencode does not even offer; outside of the workspace it is refused when it is tried.
#[test]
fn opencode_a_refused_permission_is_for_a_person() {
    let call = Call::WriteFile { path: "/outside-of-the-workspace/file".into(), text: "x".into() };
    a_refused_permission_is_for_a_person(Agent::OpenCode, "workspace", call, "outside-of-the-workspace");
}

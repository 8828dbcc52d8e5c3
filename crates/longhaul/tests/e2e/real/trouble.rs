//! A model that breaks off or falls silent: what an agent mends itself costs nothing, what it gives up is tried again in its
//! conversation, and silence is ended from outside.

use longhaul_scripted_model::{Agent, Answer, Ending, Place, Reply, Rule, Rules, sprinter};
use serde_json::json;

use super::world::World;

/// The prompts of the first session, and of the one that takes it up.
const FIRST: &str = "/1.1\n";
const SECOND: &str = "/2.2\n";

fn cut() -> Rule {
    Rule::new(Reply::Cut { at: Place::MidStream, ending: Ending::Close, answer: Answer::text("I was about to") })
}

/// The first request is cut off, and the agent itself asks again.
fn a_stream_cut_once_is_mended_by_the_agent(agent: Agent) {
    let world = World::new(agent, Rules::new().rule(cut().at_most(1)).otherwise(sprinter));
    let task = world.submit(agent, &[]);
    world.finish(&task);
    assert_eq!(world.agent_sessions(&task).len(), 1, "{}", world.story(&task));
    world.assert_no_prompt_twice(&task);
}

/// All of the first session's requests are cut off, so it gives up.
fn a_session_of_cut_streams_is_tried_again(agent: Agent) {
    let world = World::new(agent, Rules::new().rule(cut().when_prompt_has(FIRST)).otherwise(sprinter));
    let task = world.submit(agent, &[]);
    world.finish(&task);
    let sessions = world.agent_sessions(&task);
    let [failed, next] = &sessions[..] else { panic!("two sessions are expected: {}", world.story(&task)) };
    assert!(failed.ended["outcome"]["failed"]["retryable"].is_string(), "{failed:?}");
    assert_eq!(next.run["attempt"], 2);
    let kinds = world.env.kinds(&task);
    assert!(kinds.iter().any(|kind| kind == "wait_started"), "there is a backoff between them: {kinds:?}");
    world.assert_no_prompt_twice(&task);
}

/// Silence before the first byte and in the middle of an answer, each ended by the session's own limit.
fn a_silent_model_is_left(agent: Agent, silence: &str) {
    let hang = |at, prompt| Rule::new(Reply::Hang { at, then: Answer::text("too late") }).when_prompt_has(prompt);
    let rules = Rules::new().rule(hang(Place::BeforeHeaders, FIRST)).rule(hang(Place::MidStream, SECOND));
    let world = World::new(agent, rules.otherwise(sprinter));
    let task = world.submit(agent, &["--silence", silence]);
    world.finish(&task);
    let sessions = world.agent_sessions(&task);
    assert_eq!(sessions.len(), 3, "{}", world.story(&task));
    for hung in &sessions[..2] {
        assert_eq!(hung.ended["stopped_by"], "silence", "{hung:?}");
    }
    assert_eq!(world.server.hanging(), 0, "nobody waits for an answer any more");
    assert_eq!(sessions[2].ended["outcome"], json!("completed"));
    world.assert_no_prompt_twice(&task);
}

#[test]
fn codex_a_stream_cut_once_is_mended_by_the_agent() {
    a_stream_cut_once_is_mended_by_the_agent(Agent::Codex);
}

#[test]
fn claude_a_stream_cut_once_is_mended_by_the_agent() {
    a_stream_cut_once_is_mended_by_the_agent(Agent::Claude);
}

/// The only case for opencode: streams that are cut for ever keep it busy for more than a minute, and that cannot be configured.
#[test]
fn opencode_a_stream_cut_once_is_mended_by_the_agent() {
    a_stream_cut_once_is_mended_by_the_agent(Agent::OpenCode);
}

#[test]
fn codex_a_session_of_cut_streams_is_tried_again() {
    a_session_of_cut_streams_is_tried_again(Agent::Codex);
}

#[test]
fn claude_a_session_of_cut_streams_is_tried_again() {
    a_session_of_cut_streams_is_tried_again(Agent::Claude);
}

/// Its own retries are switched off here, so once would be enough.
#[test]
fn pi_a_session_of_cut_streams_is_tried_again() {
    a_session_of_cut_streams_is_tried_again(Agent::Pi);
}

/// A turn that failed it takes back, its prompt too, and what is left cannot be resumed: so the next session starts afresh.
#[test]
fn gemini_a_session_of_cut_streams_is_tried_again() {
    a_session_of_cut_streams_is_tried_again(Agent::Gemini);
}

#[test]
fn codex_a_silent_model_is_left() {
    a_silent_model_is_left(Agent::Codex, "5s");
}

#[test]
fn claude_a_silent_model_is_left() {
    a_silent_model_is_left(Agent::Claude, "8s");
}

/// It says nothing before the model does, so the silence must be longer than its start takes.
#[test]
fn opencode_a_silent_model_is_left() {
    a_silent_model_is_left(Agent::OpenCode, "30s");
}

#[test]
fn pi_a_silent_model_is_left() {
    a_silent_model_is_left(Agent::Pi, "8s");
}

#[test]
fn gemini_a_silent_model_is_left() {
    a_silent_model_is_left(Agent::Gemini, "10s");
}

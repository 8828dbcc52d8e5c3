//! Counters that go on over a conversation's sessions become what each session used: the task's sum is what the model told.

use longhaul_scripted_model::{Agent, worker};
use serde_json::Value;

use super::world::World;

/// Three sessions in one conversation.
fn one_conversation(agent: Agent) -> (World, String) {
    let world = World::new(agent, worker);
    let task = world.submit(agent, &["--context", "resume"]);
    world.finish(&task);
    let sessions = world.agent_sessions(&task);
    assert_eq!(sessions.len(), 3, "{}", world.story(&task));
    for session in &sessions[1..] {
        assert_eq!(session.run["resumes"], sessions[0].told, "{session:?}");
        assert_eq!(session.run["opening"], "again", "a new prompt in the old conversation");
    }
    world.assert_no_prompt_twice(&task);
    let answers = world.server.turns().len() as u64;
    let usage = world.task(&task)["tally"]["usage"].clone();
    assert_eq!(
        (usage["input"].as_u64(), usage["output"].as_u64()),
        (Some(100 * answers), Some(10 * answers)),
        "{usage}"
    );
    (world, task)
}

#[test]
fn codex_tokens_are_not_counted_twice() {
    one_conversation(Agent::Codex);
}

#[test]
fn claude_costs_are_not_counted_twice() {
    let (world, task) = one_conversation(Agent::Claude);
    let last = world.agent_sessions(&task).pop().unwrap();
    let log = std::fs::read_to_string(world.session_file(last.id(), "out.log")).unwrap();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let total = lines.filter_map(|line| line["total_cost_usd"].as_f64()).next_back().unwrap();
    let counted = world.task(&task)["tally"]["usage"]["cost_micros"].as_u64().unwrap();
    // Each of the three differences is rounded to a millionth of a dollar.
    assert!((total * 1e6 - counted as f64).abs() < 3.0 && counted > 0, "{total} and {counted}");
}

//! A real program is killed in the middle of a tool: its conversation goes on under the same id, no prompt is sent twice, and the
//! tool dies with it.

use longhaul_scripted_model::{Agent, Reply, Rule, Rules, sprinter};

use super::world::{World, long_sleep};

/// The first command takes for ever.
fn hanging_tool() -> Rules {
    let hang = Rule::new(Reply::shell(long_sleep())).when_prompted().at_most(1);
    Rules::new().rule(hang).otherwise(sprinter)
}

fn killed_in_a_tool_goes_on(agent: Agent) {
    let world = World::new(agent, hanging_tool());
    let task = world.submit(agent, &[]);
    world.session_in_a_tool(agent, &task).program.kill_9();
    world.finish(&task);
    let sessions = world.agent_sessions(&task);
    let [killed, resumed] = &sessions[..] else { panic!("two sessions are expected: {}", world.story(&task)) };
    assert_eq!(killed.ended["exit"], serde_json::json!({"signal": 9}));
    assert_eq!(killed.ended["delivered"], "yes", "{killed:?}");
    assert_eq!(resumed.run["resumes"], killed.told, "resumed under its id");
    assert_eq!(resumed.told, killed.told, "and it went on there");
    assert_eq!(resumed.run["opening"], "continue");
    assert_eq!(resumed.run["attempt"], 2);
    assert_eq!(world.server.copies(&world.mark(&task, killed)), 1, "the prompt is in the conversation once");
    assert_eq!(world.server.copies(&world.mark(&task, resumed)), 1);
}

#[test]
fn codex_killed_in_a_tool_goes_on() {
    killed_in_a_tool_goes_on(Agent::Codex);
}

#[test]
fn claude_killed_in_a_tool_goes_on() {
    killed_in_a_tool_goes_on(Agent::Claude);
}

#[test]
fn opencode_killed_in_a_tool_goes_on() {
    killed_in_a_tool_goes_on(Agent::OpenCode);
}

#[test]
fn pi_killed_in_a_tool_goes_on() {
    killed_in_a_tool_goes_on(Agent::Pi);
}

#[test]
fn gemini_killed_in_a_tool_goes_on() {
    killed_in_a_tool_goes_on(Agent::Gemini);
}

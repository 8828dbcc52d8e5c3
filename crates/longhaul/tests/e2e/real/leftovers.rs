//! What a command of a real program leaves running: it does not keep the session alive, is ended with it, and is counted.

use longhaul_scripted_model::{Agent, Answer, Call, Entry, Reply, Rule, Rules, Turn, sprinter};
use serde_json::{Value, json};

use super::world::{World, long_sleep};

/// The sprinter, whose command leaves something running in the background, in a session of its own: codex ends the rest itself.
fn littering(turn: &Turn) -> Reply {
    match sprinter(turn) {
        Reply::Answer(mut answer) => {
            for call in &mut answer.calls {
                if let Call::Shell(command) = call {
                    *command = format!("setsid {} > /dev/null 2>&1 < /dev/null & {command}", long_sleep());
                }
            }
            answer.into()
        }
        other => other,
    }
}

fn leftovers_are_ended_and_counted(agent: Agent, more: &[&str]) {
    let world = World::new(agent, littering);
    let task = world.submit(agent, more);
    world.finish(&task);
    let sessions = world.agent_sessions(&task);
    assert_eq!(sessions.len(), 1, "{}", world.story(&task));
    assert!(sessions[0].ended["leftovers"].as_u64().unwrap() >= 1, "{:?}", sessions[0]);
}

/// In its sandbox every command is a world of its own that ends with the command.
#[test]
fn codex_leftovers_are_ended_and_counted() {
    leftovers_are_ended_and_counted(Agent::Codex, &["--sandbox", "full"]);
}

#[test]
fn claude_leftovers_are_ended_and_counted() {
    leftovers_are_ended_and_counted(Agent::Claude, &[]);
}

#[test]
fn opencode_leftovers_are_ended_and_counted() {
    leftovers_are_ended_and_counted(Agent::OpenCode, &[]);
}

#[test]
fn pi_leftovers_are_ended_and_counted() {
    leftovers_are_ended_and_counted(Agent::Pi, &[]);
}

#[test]
fn gemini_leftovers_are_ended_and_counted() {
    leftovers_are_ended_and_counted(Agent::Gemini, &[]);
}

/// Claude would wait for a task in the background and then run another turn. It is told that there are none, so a model that
/// wants one all the same is refused by the program, and the session has one result.
#[test]
fn claude_runs_nothing_in_the_background() {
    let arguments = json!({"command": long_sleep(), "description": "sleeps", "run_in_background": true});
    let background = Rule::new(Answer::call(Call::Raw { name: "Bash".into(), arguments })).when_prompted().at_most(1);
    let go_on = |turn: &Turn| match turn.results().count() {
        // The first result is that of the call which was refused.
        1 => {
            sprinter(&Turn { history: turn.prompts().map(|text| Entry::Prompt(text.into())).collect(), ..turn.clone() })
        }
        _ => sprinter(turn),
    };
    let world = World::new(Agent::Claude, Rules::new().rule(background).otherwise(go_on));
    let task = world.submit(Agent::Claude, &[]);
    world.finish(&task);
    let sessions = world.agent_sessions(&task);
    assert_eq!((sessions.len(), &sessions[0].ended["leftovers"]), (1, &json!(0)), "{}", world.story(&task));
    let refused = |turn: &Turn| turn.results().any(|result| result.output.contains("`run_in_background`"));
    assert!(world.server.turns().iter().any(|turn| refused(turn)), "the program itself refuses");
    let log = std::fs::read_to_string(world.session_file(sessions[0].id(), "out.log")).unwrap();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    assert_eq!(lines.filter(|line| line["type"] == "result").count(), 1, "{log}");
}

//! A person takes a real agent's conversation over, in a real terminal: says something there, leaves, and lets the task go on.

use super::terminal::{LATE, SOON, Terminal, trust_workspace};
use super::world::{PATIENCE, World};
use crate::tmux;
use longhaul_scripted_model::{Agent, Reply, Turn, worker};

const ASKED: &str = "what did we plan";
const ANSWERED: &str = "two small files";

/// The worker, who also has an answer for a person.
fn talks(turn: &Turn) -> Reply {
    if turn.last_prompt().contains(ASKED) { Reply::text(ANSWERED) } else { worker(turn) }
}

/// A world with a task that is paused after its first session.
fn planned(agent: Agent) -> (World, String) {
    let mut world = World::new(agent, talks);
    tmux::own_server(&mut world.env);
    let task = world.submit(agent, &["--once"]);
    assert_eq!(world.settle(&task), "paused", "{}", world.story(&task));
    if agent == Agent::Claude {
        trust_workspace(&world.env);
    }
    (world, task)
}

/// `leave` are the keys that end the program.
fn a_person_takes_over(agent: Agent, leave: &[&str]) {
    let (world, task) = planned(agent);
    let mark = world.mark(&task, &world.agent_sessions(&task)[0]);
    let terminal = Terminal::start(&world, &[env!("CARGO_BIN_EXE_longhaul"), "takeover", &task]);
    terminal.shows("planned");
    terminal.types_until(&[ASKED], ASKED, SOON);
    terminal.types_until(&["Enter"], ANSWERED, SOON);
    let is_the_conversation = |turn: &Turn| turn.last_prompt().contains(ASKED) && turn.prompts_with(&mark) == 1;
    world.server.wait_for_turn(PATIENCE, is_the_conversation).unwrap();
    assert_eq!(world.env.run(&["resume", &task]).code, 8, "nobody else works in it meanwhile");
    terminal.types_until(leave, "Resume the task now?", LATE);
    assert_eq!(world.env.state(&task), "paused");
    terminal.types(&["y", "Enter"]);
    world.finish(&task);
}

#[test]
fn codex_a_person_takes_over() {
    a_person_takes_over(Agent::Codex, &["C-d"]);
}

#[test]
fn claude_a_person_takes_over() {
    a_person_takes_over(Agent::Claude, &["C-d", "C-d"]);
}

#[test]
fn opencode_a_person_takes_over() {
    a_person_takes_over(Agent::OpenCode, &["C-c"]);
}

#[test]
fn pi_a_person_takes_over() {
    a_person_takes_over(Agent::Pi, &["C-d"]);
}

#[test]
fn gemini_a_person_takes_over() {
    a_person_takes_over(Agent::Gemini, &["C-c", "C-c"]);
}

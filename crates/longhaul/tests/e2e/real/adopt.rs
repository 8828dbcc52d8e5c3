//! Worker and viewer of a real program are killed in its middle: it goes on under its keeper, a new worker adopts it, and the one
//! session ends as if nothing had been.

use std::process::Stdio;

use longhaul_scripted_model::{Agent, Answer, Place, Reply, Turn, sprinter};

use super::world::{PATIENCE, World, wait_for};
use crate::processes::Process;

/// Does the work and then thinks about its last words until it is released.
fn thoughtful(turn: &Turn) -> Reply {
    match sprinter(turn) {
        Reply::Answer(answer) if answer.calls.is_empty() => {
            Reply::Hang { at: Place::BeforeHeaders, then: last_words() }
        }
        reply => reply,
    }
}

fn last_words() -> Answer {
    Answer::text("done")
}

fn an_orphan_is_adopted(agent: Agent) {
    let world = World::new(agent, thoughtful);
    let mut command =
        world.env.command(&["run", "make two files", "--name", "t", "--agent", agent.name(), "--in-place"]);
    command.args(["--check", "test -f one.txt && test -f two.txt"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut viewer = command.spawn().unwrap();
    assert!(world.server.wait_until_hanging(PATIENCE, 1), "it works");
    let session = world.session("t", 1);
    let worker = world.env.owner("t").unwrap();
    viewer.kill().unwrap();
    viewer.wait().unwrap();
    worker.kill_9();
    assert!(session.keeper.is_alive() && session.program.is_alive(), "the session goes on alone");
    world.start_worker();
    let adopter: Process = wait_for("the adopter", || world.env.owner("t").filter(|owner| *owner != worker));
    assert!(adopter.is_alive());
    world.server.release();
    world.finish("t");
    let sessions = world.agent_sessions("t");
    let [session] = &sessions[..] else { panic!("one session is expected: {}", world.story("t")) };
    assert_eq!(session.ended["outcome"], "completed");
    assert_eq!(world.server.deliveries(&world.mark("t", session)), 1);
}

#[test]
fn codex_an_orphan_is_adopted() {
    an_orphan_is_adopted(Agent::Codex);
}

#[test]
fn claude_an_orphan_is_adopted() {
    an_orphan_is_adopted(Agent::Claude);
}

#[test]
fn opencode_an_orphan_is_adopted() {
    an_orphan_is_adopted(Agent::OpenCode);
}

#[test]
fn pi_an_orphan_is_adopted() {
    an_orphan_is_adopted(Agent::Pi);
}

#[test]
fn gemini_an_orphan_is_adopted() {
    an_orphan_is_adopted(Agent::Gemini);
}

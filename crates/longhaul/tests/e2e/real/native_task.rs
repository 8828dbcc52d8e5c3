//! Interactive Claude Code takes `run` as a native task: it gets a handle, polls it while it does other things, and is notified of the end.
//! The worker and the server of the tools may be killed meanwhile.

use longhaul_scripted_model::{Agent, Entry, Reply, Turn};
use serde_json::json;

use super::terminal::{Terminal, trust_workspace};
use super::world::{PATIENCE, World, wait_for};
use crate::env::DEMO_AGENT;
use crate::sight::{kill_9, send};
use crate::tmux;

const PROMPT: &str = "Start a long task in Longhaul";
const STARTED: &str = "it runs in the background";
const ENDED: &str = "the news of the task is here";

/// Calls `run` once, and has words for its handle and for the notice of its end.
fn model(turn: &Turn) -> Reply {
    if !turn.last_prompt().contains(PROMPT) {
        return Reply::text("ok");
    }
    if notice(turn).is_some() {
        return Reply::text(ENDED);
    }
    if turn.answer_of("run").is_some() {
        return Reply::text(STARTED);
    }
    let settings = json!({ "agent": "demo" });
    let arguments = json!({ "goal": "Port it", "name": "port", "checks": ["true"], "settings": settings });
    Reply::mcp("longhaul", "run", arguments)
}

/// What claude tells its model of a task's end.
fn notice(turn: &Turn) -> Option<&str> {
    turn.history.iter().find_map(|entry| match entry {
        Entry::Note(text) if text.contains("<task-notification>") => Some(text.as_str()),
        _ => None,
    })
}

/// A world in which the demo agent waits in its first session until it is ended.
fn world() -> World {
    let mut world = World::new(Agent::Claude, model);
    tmux::own_server(&mut world.env);
    world.env.set("DEMO_FAULT", "hang@1");
    world.env.set("LONGHAUL_TEST_DEMO_AGENT", DEMO_AGENT);
    trust_workspace(&world.env);
    assert_eq!(world.install(Agent::Claude, &[]).code, 0);
    world
}

#[test]
fn claude_is_told_of_the_end_although_the_worker_was_killed() {
    let world = world();
    let terminal = Terminal::start(&world, &["claude", "--allowedTools", "mcp__longhaul", "--", PROMPT]);
    terminal.shows(STARTED);
    let live = world.env.live("port", 1);
    let dead = world.env.worker_pid("port");
    kill_9(dead);
    // Polling is waiting: it gives the task another worker.
    wait_for("another worker", || world.env.owner("port").filter(|owner| owner.pid != dead).map(drop));
    send(live.agent, nix::sys::signal::Signal::SIGTERM);
    let told = world.server.wait_for_turn(PATIENCE, |turn| notice(turn).is_some()).unwrap();
    let words = notice(&told).unwrap();
    assert!(words.contains("completed") && words.contains("verified"), "{words}");
    terminal.shows(ENDED);
    let tasks = world.env.json(&["list", "--all"])["tasks"].clone();
    assert_eq!((tasks.as_array().unwrap().len(), &tasks[0]["result"]), (1, &json!("verified")), "{tasks}");
}

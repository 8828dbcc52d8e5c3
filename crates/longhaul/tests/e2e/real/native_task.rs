//! Interactive Claude Code takes `run` as a native task: it gets a handle, polls it, and is notified of the end, although the worker or the
//! server is killed meanwhile.

use longhaul_scripted_model::{Agent, Entry, Reply, Turn};
use serde_json::json;

use super::clients::task_for;
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
    match turn.answer_of("run") {
        None => Reply::mcp("longhaul", "run", task_for(turn)),
        Some(answer) if answer.get("error").is_some() => Reply::text(format!("no task: {answer}")),
        Some(_) => Reply::text(STARTED),
    }
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
    world
}

/// Claude after it has started the task, which then hangs. `kill` ends the worker and returns its process id.
fn takes_run_to_its_end(world: &World, kill: impl FnOnce() -> i32) {
    let prompt = world.prompt(PROMPT);
    let terminal = Terminal::start(world, &["claude", "--allowedTools", "mcp__longhaul", "--", &prompt]);
    terminal.shows(STARTED);
    let live = world.env.live("port", 1);
    let dead = kill();
    wait_for("another worker", || world.env.owner("port").filter(|owner| owner.pid != dead).map(drop));
    send(live.agent, nix::sys::signal::Signal::SIGTERM);
    let told = world.server.wait_for_turn(PATIENCE, |turn| notice(turn).is_some()).unwrap();
    let words = notice(&told).unwrap();
    assert!(words.contains("completed") && words.contains("verified"), "{words}");
    terminal.shows(ENDED);
    let tasks = world.env.json(&["list", "--all"])["tasks"].clone();
    assert_eq!((tasks.as_array().unwrap().len(), &tasks[0]["result"]), (1, &json!("verified")), "{tasks}");
}

#[test]
fn claude_is_notified_of_the_end_although_the_worker_was_killed() {
    let world = world();
    assert_eq!(world.install(Agent::Claude, &[]).code, 0);
    // Polling is waiting: it gives the task another worker.
    takes_run_to_its_end(&world, || {
        let worker = world.env.worker_pid("port");
        kill_9(worker);
        worker
    });
}

#[test]
fn claude_is_notified_of_the_end_over_http_although_the_server_was_killed() {
    let mut world = world();
    world.create_key();
    let (mut server, address) = world.serve("127.0.0.1:0");
    let url = format!("http://{address}/mcp");
    assert_eq!(world.install(Agent::Claude, &["--transport", "http", "--url", &url]).code, 0);
    let mut next = None;
    takes_run_to_its_end(&world, || {
        server.kill().unwrap();
        assert_eq!(server.wait().unwrap().code(), None, "it was killed");
        let serve = world.env.command(&["serve", "--listen", &address]).stdout(std::process::Stdio::null()).spawn();
        next = Some(serve.unwrap());
        i32::try_from(server.id()).unwrap()
    });
    next.unwrap().kill().unwrap();
}

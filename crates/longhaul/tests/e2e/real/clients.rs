//! Real agents as clients of `longhaul mcp`: each is connected as the guide says, its scripted model starts a task, waits for it and keeps a
//! run of its own. What counts is what the store then holds, not what a model was told.

use std::path::Path;

use longhaul_scripted_model::{Agent, Reply, Turn};
use serde_json::{Value, json};

use super::world::World;
use crate::env::done;

const PROMPT: &str = "Start a long task in Longhaul and wait for it";

/// What the model does: a task to its end, and then a run with a checkpoint.
fn model(turn: &Turn) -> Reply {
    if !turn.last_prompt().contains(PROMPT) {
        return Reply::text("ok");
    }
    let call = |tool: &str, arguments: Value| Reply::mcp("longhaul", tool, arguments);
    if turn.answer_of("submit").is_none() {
        let settings = json!({ "agent": "demo" });
        return call("submit", json!({ "goal": "Port it", "name": "port", "checks": ["true"], "settings": settings }));
    }
    if turn.answer_of("wait").is_none_or(|answer| answer["data"]["is_finished"] == false) {
        return call("wait", json!({ "task": "port" }));
    }
    let Some(run) = turn.answer_of("task_run_start") else {
        return call("task_run_start", json!({ "goal": "Crawl it" }));
    };
    let run_id = &run["data"]["task_run"]["run_id"];
    if turn.answer_of("task_run_update").is_none() {
        return call("task_run_update", json!({ "run_id": run_id, "completed_items": ["page 1"] }));
    }
    if turn.answer_of("task_run_complete").is_none() {
        return call("task_run_complete", json!({ "run_id": run_id }));
    }
    Reply::text("all done")
}

/// The agent's command without a person to ask.
fn headless(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::Codex => &["exec", "--json", "-"],
        Agent::Claude => &["-p", "--output-format", "stream-json", "--verbose", "--allowedTools", "mcp__longhaul"],
        Agent::OpenCode => &["run", "--format", "json", "--title", "t"],
        Agent::Pi | Agent::Gemini => unreachable!("no client of ours"),
    }
}

impl World {
    /// Runs an agent's own command in the workspace.
    fn agent(&self, agent: Agent, arguments: &[&str], prompt: &str) -> String {
        let file = self.env.path().join("prompt");
        std::fs::write(&file, prompt).unwrap();
        let mut command = self.env.command_of(Path::new(agent.name()), arguments);
        let done = done(&command.stdin(std::fs::File::open(file).unwrap()).output().unwrap());
        let said = format!("{}\n{}", done.stdout, done.stderr);
        assert_eq!(done.code, 0, "{} {arguments:?}: {said}", agent.name());
        said
    }
}

fn runs_a_task_and_keeps_a_run(agent: Agent, connect: impl Fn(&World)) {
    let world = World::new(agent, model);
    connect(&world);
    let said = world.agent(agent, headless(agent), PROMPT);
    assert!(said.contains("all done"), "{said}");
    let task = world.env.json(&["show", "port"])["task"].clone();
    assert_eq!(task["result"], "verified", "{task}\n{said}");
    let run = world.env.json(&["show", "crawl-it"])["task"].clone();
    assert_eq!(run["outcome"], "done", "{run}\n{said}");
    for name in ["port", "crawl-it"] {
        let first = world.env.events(name).remove(0);
        assert_eq!(first["actor"]["channel"], "mcp", "{first}");
    }
}

#[test]
fn claude_runs_a_task_and_keeps_a_run() {
    runs_a_task_and_keeps_a_run(Agent::Claude, |world| {
        world.agent(Agent::Claude, &["mcp", "add", "longhaul", "--", env!("CARGO_BIN_EXE_longhaul"), "mcp"], "");
    });
}

#[test]
fn codex_runs_a_task_and_keeps_a_run() {
    runs_a_task_and_keeps_a_run(Agent::Codex, |world| {
        let home = format!("LONGHAUL_HOME={}", world.env.home().display());
        let server = [env!("CARGO_BIN_EXE_longhaul"), "mcp"];
        world.agent(Agent::Codex, &[&["mcp", "add", "longhaul", "--env", &home, "--"], &server[..]].concat(), "");
        let config = world.env.path().join("agents/.codex/config.toml");
        let text = std::fs::read_to_string(&config).unwrap();
        let table = "[mcp_servers.longhaul]\n";
        let text = text.replace(table, &format!("{table}default_tools_approval_mode = \"approve\"\n"));
        std::fs::write(config, text).unwrap();
    });
}

#[test]
fn opencode_runs_a_task_and_keeps_a_run() {
    runs_a_task_and_keeps_a_run(Agent::OpenCode, |world| {
        let server = [env!("CARGO_BIN_EXE_longhaul"), "mcp"];
        world.agent(Agent::OpenCode, &[&["mcp", "add", "longhaul", "--"], &server[..]].concat(), "");
    });
}

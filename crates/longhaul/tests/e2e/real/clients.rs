//! Real agents as clients of `longhaul mcp`: each is connected by `longhaul mcp install`, its scripted model starts a task, waits for it and
//! keeps a run of its own. What counts is what the store then holds, not what a model was told.

use std::path::Path;

use longhaul_scripted_model::{Agent, Reply, Turn};
use serde_json::{Value, json};

use super::world::World;
use crate::env::{Done, done};

const PROMPT: &str = "Start a long task in Longhaul and wait for it";

/// What the model does: a task to its end, and then a run with a checkpoint.
fn model(turn: &Turn) -> Reply {
    if !turn.last_prompt().contains(PROMPT) {
        return Reply::text("ok");
    }
    let call = |tool: &str, arguments: Value| Reply::mcp("longhaul", tool, arguments);
    let Some(submitted) = turn.answer_of("submit") else {
        let settings = json!({ "agent": "demo" });
        return call("submit", json!({ "goal": "Port it", "name": "port", "checks": ["true"], "settings": settings }));
    };
    if submitted["data"].is_null() {
        return Reply::text(format!("no task: {submitted}"));
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
    pub(super) fn agent(&self, agent: Agent, arguments: &[&str], prompt: &str) -> Done {
        let file = self.env.path().join("prompt");
        std::fs::write(&file, prompt).unwrap();
        let mut command = self.env.command_of(Path::new(agent.name()), arguments);
        done(&command.stdin(std::fs::File::open(file).unwrap()).output().unwrap())
    }

    /// Registers the server with an agent.
    pub(super) fn install(&self, agent: Agent, more: &[&str]) -> Done {
        self.env.run(&[&["mcp", "install", "--client", agent.name()], more].concat())
    }
}

fn run_as_client(agent: Agent, more: &[&str]) -> (World, String) {
    let world = World::new(agent, model);
    let installed = world.install(agent, more);
    assert_eq!(installed.code, 0, "{}", installed.stderr);
    let Done { code, stdout, stderr } = world.agent(agent, headless(agent), PROMPT);
    let said = format!("{stdout}\n{stderr}");
    assert_eq!(code, 0, "{said}");
    (world, said)
}

fn runs_a_task_and_keeps_a_run(agent: Agent, more: &[&str]) {
    let (world, said) = run_as_client(agent, more);
    assert!(said.contains("all done"), "{said}");
    let task = world.env.json(&["show", "port"])["task"].clone();
    assert_eq!(task["result"], "verified", "{task}");
    let run = world.env.json(&["show", "crawl-it"])["task"].clone();
    assert_eq!(run["outcome"], "done", "{run}");
    for name in ["port", "crawl-it"] {
        let first = world.env.events(name).remove(0);
        assert_eq!(first["actor"]["channel"], "mcp", "{first}");
    }
}

#[test]
fn claude_runs_a_task_and_keeps_a_run() {
    runs_a_task_and_keeps_a_run(Agent::Claude, &[]);
}

#[test]
fn codex_runs_a_task_and_keeps_a_run() {
    runs_a_task_and_keeps_a_run(Agent::Codex, &["--auto-approve"]);
}

#[test]
fn opencode_runs_a_task_and_keeps_a_run() {
    runs_a_task_and_keeps_a_run(Agent::OpenCode, &[]);
}

#[test]
fn codex_refuses_what_nobody_approves() {
    let (world, said) = run_as_client(Agent::Codex, &[]);
    assert!(said.contains("no task: ") && said.contains("requires approval"), "{said}");
    assert!(!world.env.home().join("longhaul.db").exists(), "the call never arrived");
}

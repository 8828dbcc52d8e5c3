//! Real agents as clients of `longhaul mcp` and of `longhaul serve`: each is connected by `longhaul mcp install`, its scripted model starts a
//! task, waits for it and keeps a run. What counts is what the store then holds, not what a model was told.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use longhaul_scripted_model::{Agent, Reply, Turn};
use serde_json::{Value, json};

use super::world::World;
use crate::env::{Done, done};

const PROMPT: &str = "Start a long task in Longhaul and wait for it";

const WORKSPACE: &str = "Workspace: ";

/// The arguments with which a model starts its task. Over HTTP a server does not know the directory of its client.
pub(super) fn task_for(turn: &Turn) -> Value {
    let workspace = turn.last_prompt().lines().find_map(|line| line.strip_prefix(WORKSPACE));
    json!({ "goal": "Port it", "name": "port", "checks": ["true"], "settings": { "agent": "demo" }, "workspace": workspace })
}

/// What the model does: a task to its end, and then a run with a checkpoint.
fn model(turn: &Turn) -> Reply {
    if !turn.last_prompt().contains(PROMPT) {
        return Reply::text("ok");
    }
    let call = |tool: &str, arguments: Value| Reply::mcp("longhaul", tool, arguments);
    let Some(submitted) = turn.answer_of("submit") else {
        return call("submit", task_for(turn));
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

    /// Starts `longhaul serve`, and returns it with its address. It ends with the world.
    pub(super) fn serve(&mut self, listen: &str) -> (Child, String) {
        let workspace = self.env.workspace().display().to_string();
        self.env.set("LONGHAUL_SERVE_PROJECTS", &workspace);
        let mut server = self.env.command(&["serve", "--listen", listen]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line}")).to_owned();
        (server, address)
    }

    /// A prompt that names the workspace.
    pub(super) fn prompt(&self, words: &str) -> String {
        format!("{words}\n{WORKSPACE}{}\n", self.env.workspace().display())
    }

    /// Creates a key for clients and puts it where they look for it.
    pub(super) fn create_key(&mut self) -> String {
        let key = self.env.ok(&["keys", "create", "client", "--rights", "run"]).trim().to_owned();
        self.env.set("LONGHAUL_API_KEY", &key);
        key
    }

    /// Registers the server with an agent, lets it work, and returns what it printed.
    fn run_as_client(&self, agent: Agent, more: &[&str]) -> String {
        let installed = self.install(agent, more);
        assert_eq!(installed.code, 0, "{}", installed.stderr);
        let Done { code, stdout, stderr } = self.agent(agent, headless(agent), &self.prompt(PROMPT));
        let said = format!("{stdout}\n{stderr}");
        assert_eq!(code, 0, "{said}");
        said
    }
}

fn runs_a_task_and_keeps_a_run(agent: Agent, more: &[&str]) {
    let world = World::new(agent, model);
    let said = world.run_as_client(agent, more);
    check_what_was_done(&world, &said, None);
}

fn does_the_same_over_http(agent: Agent, more: &[&str]) {
    let mut world = World::new(agent, model);
    let key = world.create_key();
    let (_server, address) = world.serve("127.0.0.1:0");
    let url = format!("http://{address}/mcp");
    let said = world.run_as_client(agent, &[&["--transport", "http", "--url", &url], more].concat());
    check_what_was_done(&world, &said, Some("client"));
    let again = world.install(agent, &["--transport", "http", "--url", &url]);
    assert!(again.stdout.contains("nothing was changed"), "{}{}", again.stdout, again.stderr);
    assert!(!super::install::read(&world, agent).contains(&key), "the key is in no file of the client");
}

fn check_what_was_done(world: &World, said: &str, principal: Option<&str>) {
    assert!(said.contains("all done"), "{said}");
    let task = world.env.json(&["show", "port"])["task"].clone();
    assert_eq!(task["result"], "verified", "{task}");
    let run = world.env.json(&["show", "crawl-it"])["task"].clone();
    assert_eq!(run["outcome"], "done", "{run}");
    for name in ["port", "crawl-it"] {
        let first = world.env.events(name).remove(0);
        let actor = &first["actor"];
        assert_eq!((&actor["channel"], actor["key"].is_string()), (&json!("mcp"), principal.is_some()), "{first}");
        assert!(principal.is_none_or(|principal| actor["principal"] == principal), "{first}");
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
fn claude_does_the_same_over_http() {
    does_the_same_over_http(Agent::Claude, &[]);
}

#[test]
fn codex_does_the_same_over_http() {
    does_the_same_over_http(Agent::Codex, &["--auto-approve"]);
}

#[test]
fn opencode_does_the_same_over_http() {
    does_the_same_over_http(Agent::OpenCode, &[]);
}

#[test]
fn codex_refuses_what_nobody_approves() {
    let world = World::new(Agent::Codex, model);
    let said = world.run_as_client(Agent::Codex, &[]);
    assert!(said.contains("no task: ") && said.contains("requires approval"), "{said}");
    assert!(!world.env.home().join("longhaul.db").exists(), "the call never arrived");
}

//! Real agents inside a session: each finds Longhaul's tools beside its own, reports, is refused what it may not do, asks a person, and
//! its next session has the answer. Pi has no MCP and uses the shell.

use longhaul_scripted_model::{Agent, Login, Reply, Turn, worker};
use serde_json::{Value, json};

use super::world::World;

const SERVER: &str = "longhaul_session";
const QUESTION: &str = "which colour?";
const ANSWER: &str = "green as grass";
const SECRET: &str = "planted-9f31c0ffee77";

/// Whether it is the turn of the first working session, before its question was answered.
fn is_to_ask(turn: &Turn) -> bool {
    let first =
        turn.prompts().any(|prompt| prompt.contains("Executor Agent") && prompt.contains("Progress so far: 0/2"));
    first && turn.prompts_with(ANSWER) == 0
}

/// Plans; then reports and asks in its first working session; works once it was answered.
fn model(turn: &Turn) -> Reply {
    if !is_to_ask(turn) {
        return worker(turn);
    }
    let call = |tool: &str, arguments: Value| Reply::mcp(SERVER, tool, arguments);
    let Some(own) = turn.answer_of("task_run_start") else {
        return call("task_run_start", json!({ "goal": "something else" }));
    };
    let run_id = &own["data"]["task_run"]["run_id"];
    let told = format!("half of it, the token is {SECRET}");
    for (tool, input) in [
        ("task_run_update", json!({ "run_id": run_id, "progress_summary": told, "completed_items": ["a"] })),
        ("task_run_checkpoint", json!({ "run_id": run_id, "summary": "painted the fence" })),
        ("task_run_complete", json!({ "run_id": run_id, "status": "FAILED" })),
        ("task_run_needs_help", json!({ "run_id": run_id, "reason": QUESTION, "resume_hint": "name one" })),
    ] {
        if turn.answer_of(tool).is_none() {
            return call(tool, input);
        }
    }
    Reply::text("I wait")
}

fn world(agent: Agent, script: fn(&Turn) -> Reply) -> (World, String) {
    let mut world = World::with(&[agent], Login::Key, script);
    world.env.set("FOO_TOKEN", SECRET);
    let task = world.submit(agent, &[]);
    assert_eq!(world.settle(&task), "needs_help", "{}", world.story(&task));
    (world, task)
}

/// The task needs a person because of the question; it is answered, and the task ends verified.
fn is_answered(world: &World, task: &str) {
    let why = world.env.ok(&["why", task]);
    assert!(why.contains(QUESTION) && why.contains("longhaul resume"), "{why}");
    assert_eq!(world.task(task)["tally"]["failures"], 0, "asking is no failure");
    let asked = world.agent_sessions(task).len();
    world.env.ok(&["resume", task, "--reason", ANSWER]);
    world.finish(task);
    let next = &world.agent_sessions(task)[asked];
    assert!(next.run["resumes"].is_string(), "the conversation continues: {next:?}");
    assert_eq!(world.server.deliveries(ANSWER), 1, "the next prompt has the answer, and no other");
    world.assert_no_prompt_twice(task);
}

fn reports_and_asks(agent: Agent) {
    let (world, task) = world(agent, model);
    let kinds = world.env.kinds(&task);
    let count = |kind: &str| kinds.iter().filter(|have| *have == kind).count();
    let said = ["submitted", "reported", "checkpointed", "said_done", "help_asked"].map(count);
    assert_eq!(said, [1, 1, 1, 0, 1], "{}", world.story(&task));
    let answers = |tool: &str| world.server.turns().iter().find_map(|turn| turn.answer_of(tool)).unwrap_or_default();
    let id = &world.task(&task)["id"];
    assert_eq!(&answers("task_run_start")["data"]["task_run"]["run_id"], id, "{}", answers("task_run_start"));
    assert!(
        answers("task_run_complete").to_string().contains("task_run_needs_help"),
        "{}",
        answers("task_run_complete")
    );
    let parked = answers("task_run_needs_help").to_string();
    assert!(parked.contains("end your turn now"), "the call is answered before the session ends: {parked}");
    let show = world.env.ok(&["show", &task]);
    assert!(show.contains("1 completed, 0 failed") && show.contains("painted the fence"), "{show}");
    let events = world.env.ok(&["events", &task]);
    assert!(events.contains("half of it, the token is ") && !events.contains(SECRET), "{events}");
    is_answered(&world, &task);
}

#[test]
fn codex_reports_and_asks() {
    reports_and_asks(Agent::Codex);
}

#[test]
fn claude_reports_and_asks() {
    reports_and_asks(Agent::Claude);
}

#[test]
fn opencode_reports_and_asks() {
    reports_and_asks(Agent::OpenCode);
}

#[test]
fn pi_asks_in_a_shell() {
    let shell = |turn: &Turn| {
        if !is_to_ask(turn) {
            return worker(turn);
        }
        let asked = turn.results_since_prompt().next().is_some();
        let command = turn.last_prompt().split('`').find(|words| words.ends_with("session help QUESTION"));
        let command = command.expect("the prompt has the command").replace("QUESTION", &format!("'{QUESTION}'"));
        if asked { Reply::text("I wait") } else { Reply::shell(command) }
    };
    let (world, task) = world(Agent::Pi, shell);
    is_answered(&world, &task);
}

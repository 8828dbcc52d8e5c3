//! A person takes a real agent's conversation over, in a real terminal: says something there, leaves, and lets the task go on.

use std::io::Write;

use longhaul_scripted_model::{Agent, Reply, Turn, worker};
use serde_json::Value;

use super::world::{PATIENCE, World, wait_for};
use crate::env::TestEnv;
use crate::tmux;

const ASKED: &str = "what did we plan";
const ANSWERED: &str = "two small files";

/// After so many looks a key is pressed again.
const SOON: usize = 100;
/// The same for a key that must not be left for whoever has the terminal next.
const LATE: usize = 1000;

/// The worker, who also has an answer for a person.
fn talks(turn: &Turn) -> Reply {
    if turn.last_prompt().contains(ASKED) { Reply::text(ANSWERED) } else { worker(turn) }
}

/// A takeover in a terminal of its own.
struct Terminal<'a> {
    world: &'a World,
}

impl<'a> Terminal<'a> {
    fn take_over(world: &'a World, task: &str) -> Terminal<'a> {
        let size = ["-x", "120", "-y", "60"];
        let program = [env!("CARGO_BIN_EXE_longhaul"), "takeover", task];
        let arguments = [&["new-session", "-d", "-s", "t"], &size[..], &program].concat();
        assert!(world.env.command_of("tmux".as_ref(), &arguments).status().unwrap().success());
        Terminal { world }
    }

    fn shows(&self, part: &str) {
        wait_for(&format!("`{part}` in the terminal"), || self.has(part).then_some(()));
    }

    /// Types until something is to be seen, again after so many looks: programs draw before they listen.
    fn types_until(&self, keys: &[&str], part: &str, looks: usize) {
        let mut looked = 0;
        wait_for(&format!("`{part}` in the terminal"), || {
            if looked % looks == 0 {
                self.types(keys);
            }
            looked += 1;
            self.has(part).then_some(())
        });
    }

    fn has(&self, part: &str) -> bool {
        tmux::screen(&self.world.env, "t").contains(part)
    }

    fn types(&self, keys: &[&str]) {
        tmux::tmux(&self.world.env, &[&["send-keys", "-t", "t"], keys].concat()).unwrap();
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let shown = tmux::screen(&self.world.env, "t");
            writeln!(std::io::stderr(), "the terminal shows:\n{}", shown.trim()).ok();
        }
    }
}

/// Tells claude that a person has been in the workspace before and trusted it.
fn trust_workspace(env: &TestEnv) {
    let file = env.path().join("agents/.claude/.claude.json");
    let mut state: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let workspace = env.workspace().canonicalize().unwrap().display().to_string();
    state["projects"][workspace]["hasTrustDialogAccepted"] = true.into();
    std::fs::write(file, state.to_string()).unwrap();
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
    let terminal = Terminal::take_over(&world, &task);
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

//! Each real program plans and finishes a task of two steps, verified, and leaves no process behind. What it used is counted, its
//! own transcript is kept, and a secret that a command printed is in neither transcript nor log.

use std::path::{Path, PathBuf};

use longhaul_scripted_model::{Agent, Call, Login, Reply, Turn, worker};

use super::world::{Session, World};

const SECRET: &str = "planted-9f31c0ffee77";

/// The worker, whose every command prints a secret of the environment as well.
fn careless(turn: &Turn) -> Reply {
    match worker(turn) {
        Reply::Answer(mut answer) => {
            for call in &mut answer.calls {
                if let Call::Shell(command) = call {
                    command.push_str("; echo \"the token is $FOO_TOKEN.\"");
                }
            }
            answer.into()
        }
        other => other,
    }
}

fn finishes(agent: Agent, place: &[&str]) -> (World, String) {
    let mut world = World::with(&[agent], Login::Key, careless);
    world.env.set("FOO_TOKEN", SECRET);
    let task = world.submit_to(&[&["--agent", agent.name()], place].concat(), &[]);
    world.finish(&task);
    let sessions = world.sessions(&task);
    let purposes: Vec<_> = sessions.iter().map(|session| session.run["purpose"].as_str().unwrap()).collect();
    assert_eq!(purposes, ["plan", "work", "work", "check"], "{}", world.story(&task));
    for session in &sessions[..3] {
        assert_eq!(session.run["agent"], agent.name());
        assert!(session.told.is_string(), "its conversation is known: {session:?}");
        assert_eq!(session.ended["outcome"], "completed");
        assert_eq!(session.ended["delivered"], "yes");
        assert_eq!(world.server.deliveries(&world.mark(&task, session)), 1, "each prompt arrives once");
        transcript_is_kept(&world, &task, session);
    }
    let printed = |turn: &Turn| turn.results().any(|result| result.output.contains(SECRET));
    assert!(world.server.turns().iter().any(|turn| printed(turn)), "the commands did print the secret");
    assert_eq!(files_with(&world.env.home(), SECRET), [] as [PathBuf; 0]);
    counts_what_was_used(&world, &task);
    (world, task)
}

fn transcript_is_kept(world: &World, task: &str, session: &Session) {
    let transcript = std::fs::read_to_string(world.session_file(session.id(), "transcript.jsonl")).unwrap();
    assert!(transcript.contains(world.mark(task, session).trim_end()), "the prompt stands in it");
    assert!(transcript.contains("the token is "), "and so does what the command printed, without the secret");
}

/// The model says 100 and 10 tokens for each of its answers.
fn counts_what_was_used(world: &World, task: &str) {
    let answers = world.server.turns().len() as u64;
    let usage = world.task(task)["tally"]["usage"].clone();
    assert_eq!(
        (usage["input"].as_u64(), usage["output"].as_u64()),
        (Some(100 * answers), Some(10 * answers)),
        "{usage}"
    );
}

/// The files below a directory in which a text stands.
fn files_with(directory: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files_with(&entry.path(), text));
        } else if kind.is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            let stands = bytes.windows(text.len()).any(|window| window == text.as_bytes());
            found.extend(stands.then(|| entry.path()));
        }
    }
    found
}

fn finishes_in_a_worktree(agent: Agent) {
    let (world, task) = finishes(agent, &[]);
    let root = PathBuf::from(world.task(&task)["workspace"]["root"].as_str().unwrap());
    assert_ne!(root, world.env.workspace());
    assert!(root.join("one.txt").is_file() && root.join("two.txt").is_file(), "{}", root.display());
    assert!(!world.file("one.txt").exists(), "the user's own checkout is left alone");
}

fn finishes_in_place(agent: Agent) {
    let (world, _) = finishes(agent, &["--in-place"]);
    assert!(world.file("one.txt").is_file() && world.file("two.txt").is_file());
}

#[test]
fn codex_finishes_a_task() {
    finishes_in_a_worktree(Agent::Codex);
}

#[test]
fn claude_finishes_a_task() {
    finishes_in_a_worktree(Agent::Claude);
}

#[test]
fn opencode_finishes_a_task() {
    finishes_in_place(Agent::OpenCode);
}

#[test]
fn pi_finishes_a_task() {
    finishes_in_place(Agent::Pi);
}

#[test]
fn gemini_finishes_a_task() {
    finishes_in_place(Agent::Gemini);
}

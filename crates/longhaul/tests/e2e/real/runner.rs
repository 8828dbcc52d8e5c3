//! `run-session` with the real codex: its prompt by argument, its instructions in a file, its conversation resumed by the saved id.
//! The stand-in of `runner/codex.sh` is as strict as this one.

use std::time::Duration;

use longhaul_scripted_model::{Agent, Call, Refusal, Reply, Turn, worker};

use super::world::World;
use crate::env::{Done, done};

/// The worker, which first reads its instructions, as it is told to.
fn obedient(turn: &Turn) -> Reply {
    let file = turn.last_prompt().lines().find_map(|line| {
        line.strip_prefix("Your instructions are in the file ")?
            .split_once(": read it")
            .map(|(path, _)| path.to_owned())
    });
    match (worker(turn), file) {
        (Reply::Answer(mut answer), Some(file)) => {
            for call in &mut answer.calls {
                if let Call::Shell(command) = call {
                    *command = format!("cat '{file}' && {command}");
                }
            }
            answer.into()
        }
        (other, _) => other,
    }
}

fn run_session(world: &World, below: &str, args: &[&str]) -> Done {
    let mut command = world.env.command(&[&["run-session"], args].concat());
    let directory = world.env.workspace().join(below);
    std::fs::create_dir_all(&directory).unwrap();
    done(&command.current_dir(directory).output().unwrap())
}

fn saved(world: &World) -> String {
    std::fs::read_to_string(world.env.task_dir("make-two-files").join("session.id")).unwrap()
}

#[test]
fn codex_finishes_a_task_of_the_runner_from_below_the_root() {
    let world = World::new(Agent::Codex, obedient);
    let ran = run_session(&world, "src", &["make two files"]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("✓ ALL TASKS COMPLETED!\n"), "{}", ran.stdout);
    assert!(world.file("src/one.txt").is_file() && world.file("src/two.txt").is_file(), "{}", ran.stdout);
    let read = |turn: &Turn| turn.results().any(|result| result.output.contains("make two files"));
    assert!(world.server.turns().iter().any(|turn| read(turn)), "the instructions were read");
    assert_eq!(world.agent_sessions("make-two-files").len(), 3);
}

#[test]
fn codex_goes_on_in_the_saved_conversation() {
    let world = World::new(Agent::Codex, obedient);
    assert_eq!(run_session(&world, "", &["make two files", "--max-sessions", "1"]).code, 0);
    let conversation = saved(&world);
    let ran = run_session(&world, "", &["--resume-last"]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert!(!ran.stderr.contains("Resume failed"), "{}", ran.stderr);
    assert_eq!(saved(&world), conversation);
    let sessions = world.agent_sessions("make-two-files");
    assert!(sessions.iter().all(|session| session.told == conversation.trim()), "{sessions:?}");
}

#[test]
fn codex_starts_afresh_when_it_does_not_know_the_saved_conversation() {
    let world = World::new(Agent::Codex, obedient);
    assert_eq!(run_session(&world, "", &["make two files", "--max-sessions", "1"]).code, 0);
    let lost = "01a1e094-4a55-7e31-a327-a686a02badae\n";
    for id in [lost, "no-uuid\n"] {
        std::fs::write(world.env.task_dir("make-two-files").join("session.id"), id).unwrap();
        let ran = run_session(&world, "", &["--resume-last", "--max-sessions", "1"]);
        assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("Resume failed"), "{}", ran.stderr);
        assert_ne!(saved(&world), id);
    }
    assert!(world.file("one.txt").is_file() && world.file("two.txt").is_file());
}

/// The worker until it has made the first file; from then on the plan is used up.
fn limited_in_mid_step(turn: &Turn) -> Reply {
    match turn.results().any(|result| result.output.contains("made one.txt")) {
        true => Refusal::UsageLimit { resets_in: Duration::from_secs(3600) }.into(),
        false => obedient(turn),
    }
}

#[test]
fn codex_keeps_the_saved_conversation_over_a_usage_limit() {
    let world = World::new(Agent::Codex, limited_in_mid_step);
    let first = run_session(&world, "", &["make two files"]);
    assert_eq!(first.code, 1, "{}\n{}", first.stdout, first.stderr);
    assert!(first.stderr.contains("error: codex hit its usage limit; it resets at "), "{}", first.stderr);
    let conversation = saved(&world);
    let again = run_session(&world, "", &["--resume-last"]);
    assert_eq!(again.code, 1, "{}\n{}", again.stdout, again.stderr);
    assert!(!again.stderr.contains("Resume failed"), "{}", again.stderr);
    assert_eq!(saved(&world), conversation);
    let why = world.env.ok(&["why", "make-two-files"]);
    assert!(why.contains("paused by its runner: codex hit its usage limit; it resets at "), "{why}");
    let asked = world.server.turns().len();
    world.env.ok(&["resume", "make-two-files"]);
    world.reach("make-two-files", "waiting");
    assert_eq!(world.server.turns().len(), asked, "it waits instead of asking again");
    world.env.ok(&["cancel", "make-two-files"]);
    assert_eq!(world.settle("make-two-files"), "cancelled");
}

/// The model says 100 and 10 tokens for each of its answers.
#[test]
fn codex_counts_the_tokens_of_a_resumed_conversation_once() {
    let world = World::new(Agent::Codex, obedient);
    assert_eq!(run_session(&world, "", &["make two files", "--max-sessions", "1"]).code, 0);
    for _ in 0..2 {
        assert_eq!(run_session(&world, "", &["--resume-last", "--max-sessions", "1"]).code, 0);
    }
    let tokens = world.task("make-two-files")["tally"]["usage"].clone();
    let answers = world.server.turns().len() as u64;
    assert_eq!((tokens["input"].as_u64(), tokens["output"].as_u64()), (Some(100 * answers), Some(10 * answers)));
}

//! Whether a prompt arrived is decided by the agent's own transcript: codex and claude are killed in the first moments of a
//! session, where they print before they store. The prompt is never lost, and never twice in one conversation.

use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_scripted_model::{Agent, Answer, Place, Reply, Rule, Rules, sprinter};
use serde_json::Value;

use super::world::{World, wait_for};

/// Words of the whole prompt that one which only says "go on" has not.
const WHOLE: &str = "Do this, then end:";

/// What the agent had stored when it was killed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stored {
    Nothing,
    WithoutPrompt,
    Prompt,
}

/// The first session gets no answer.
fn world_of(agent: Agent) -> World {
    let silent = Rule::new(Reply::Hang { at: Place::BeforeHeaders, then: Answer::text("too late") });
    World::new(agent, Rules::new().rule(silent.when_prompt_has("/1.1\n")).otherwise(sprinter))
}

/// A task that was killed, worker and agent together, at a moment that its first session's log or transcript shows.
fn killed_at(world: &World, agent: Agent, name: &str, moment: impl Fn(&Path)) -> String {
    world.submit(agent, &["--name", name]);
    let session = world.session(name, 1);
    let log = world.session_file(&session.id, "out.log");
    moment(&log);
    // It stands still at once; the worker, which must not see its end, takes a while to die.
    session.program.signal(nix::sys::signal::Signal::SIGSTOP);
    world.env.owner(name).unwrap().kill_9();
    session.program.kill_9();
    wait_for("the keeper to leave", || (!session.keeper.is_alive()).then_some(()));
    conversation_in(&log).unwrap()
}

fn conversation_in(log: &Path) -> Option<String> {
    let text = std::fs::read_to_string(log).ok()?;
    let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let id = |line: Value| Some(line["thread_id"].as_str().or(line["session_id"].as_str())?.to_owned());
    lines.find_map(id)
}

fn stored(transcript: Option<&PathBuf>) -> Stored {
    match transcript.map(|path| std::fs::read_to_string(path).unwrap()) {
        None => Stored::Nothing,
        Some(text) if text.is_empty() => Stored::Nothing,
        Some(text) if text.contains(WHOLE) => Stored::Prompt,
        Some(_) => Stored::WithoutPrompt,
    }
}

/// A new worker looks at what is stored, and goes on accordingly.
fn goes_on(world: &World, name: &str, conversation: &str, stored: Stored) {
    world.start_worker();
    world.finish(name);
    let sessions = world.agent_sessions(name);
    let [killed, next] = &sessions[..] else { panic!("two sessions are expected: {}", world.story(name)) };
    let (delivered, resumes) = match stored {
        Stored::Nothing => ("no_transcript", false),
        Stored::WithoutPrompt => ("no", true),
        Stored::Prompt => ("yes", true),
    };
    assert_eq!(killed.ended["delivered"], delivered, "{stored:?} {killed:?}");
    assert_eq!(next.run["resumes"].as_str(), resumes.then_some(conversation), "{stored:?}");
    match stored {
        Stored::Nothing => assert!(next.run["opening"]["handover"]["why"].is_string(), "{next:?}"),
        Stored::WithoutPrompt => assert_eq!(next.run["opening"], "again"),
        Stored::Prompt => assert_eq!(next.run["opening"], "continue"),
    }
    world.assert_no_prompt_twice(name);
    let turns = world.server.turns();
    assert_eq!(turns.last().unwrap().prompts_with(WHOLE), 1, "who finished had the whole prompt, once: {stored:?}");
}

/// The moments as they fall: each is judged by what was really stored.
fn whenever_it_is_killed_it_goes_on(agent: Agent, moments: &[(&str, u64)]) -> Vec<Stored> {
    let world = world_of(agent);
    let mut seen = Vec::new();
    for (index, (printed, millis)) in moments.iter().enumerate() {
        let name = format!("moment-{index}");
        let conversation = killed_at(&world, agent, &name, |log| {
            wait_for(printed, || std::fs::read_to_string(log).is_ok_and(|text| text.contains(printed)).then_some(()));
            // What is to be hit is a span after the line, not an event.
            std::thread::sleep(Duration::from_millis(*millis));
        });
        let found = stored(world.transcript(agent, &conversation).as_ref());
        goes_on(&world, &name, &conversation, found);
        seen.push(found);
    }
    seen
}

/// A kill once all is stored, and a transcript that is then cut to what an earlier kill would have left.
fn goes_on_with(agent: Agent, cut: impl FnOnce(&Path), expected: Stored) {
    let world = world_of(agent);
    let find = |conversation: &str| world.transcript(agent, conversation);
    let conversation = killed_at(&world, agent, "t", |log| {
        wait_for("the stored prompt", || {
            (stored(find(&conversation_in(log)?).as_ref()) == Stored::Prompt).then_some(())
        });
    });
    cut(&find(&conversation).unwrap());
    assert_eq!(stored(find(&conversation).as_ref()), expected);
    goes_on(&world, "t", &conversation, expected);
}

fn remove(path: &Path) {
    std::fs::remove_file(path).unwrap();
}

/// Leaves what stood before the prompt.
fn cut_before_prompt(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let before: String = text.split_inclusive('\n').take_while(|line| !line.contains(WHOLE)).collect();
    std::fs::write(path, before).unwrap();
}

#[test]
fn codex_whenever_it_is_killed_it_goes_on() {
    let moments = [("thread.started", 0), ("turn.started", 0), ("turn.started", 50), ("turn.started", 400)];
    let seen = whenever_it_is_killed_it_goes_on(Agent::Codex, &moments);
    assert!(seen.contains(&Stored::Prompt), "{seen:?}");
}

#[test]
fn claude_whenever_it_is_killed_it_goes_on() {
    let moments = [("\"init\"", 0), ("\"init\"", 30), ("\"init\"", 1500)];
    let seen = whenever_it_is_killed_it_goes_on(Agent::Claude, &moments);
    assert!(seen.contains(&Stored::Prompt), "{seen:?}");
}

#[test]
fn codex_a_thread_that_was_never_stored_starts_afresh() {
    goes_on_with(Agent::Codex, remove, Stored::Nothing);
}

#[test]
fn codex_a_thread_without_its_prompt_gets_it_again() {
    goes_on_with(Agent::Codex, cut_before_prompt, Stored::WithoutPrompt);
}

#[test]
fn claude_a_conversation_that_was_never_stored_starts_afresh() {
    goes_on_with(Agent::Claude, remove, Stored::Nothing);
}

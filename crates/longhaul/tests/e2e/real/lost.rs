//! A conversation that is gone or damaged when it is to be resumed: the work starts afresh with a note, and that is on record.

use std::path::Path;

use longhaul_scripted_model::{Agent, Reply, Rule, Rules, sprinter};

use super::world::{World, long_sleep, wait_for};

/// A task whose first session was killed together with its worker, in the middle of a tool.
fn interrupted(agent: Agent) -> (World, String) {
    let hang = Rule::new(Reply::shell(long_sleep())).when_prompted().at_most(1);
    let world = World::new(agent, Rules::new().rule(hang).otherwise(sprinter));
    let task = world.submit(agent, &[]);
    let session = world.session_in_a_tool(agent, &task);
    let conversation = world.env.known_conversation(&task);
    world.env.owner(&task).unwrap().kill_9();
    session.program.kill_9();
    wait_for("the keeper to leave", || (!session.keeper.is_alive()).then_some(()));
    (world, conversation)
}

/// What is left of a conversation makes the next session start afresh, after so many that tried to resume.
fn starts_afresh(agent: Agent, damage: impl FnOnce(&Path), tries: usize) {
    let (world, conversation) = interrupted(agent);
    let task = "make-two-files";
    damage(&world.transcript(agent, &conversation).unwrap());
    world.start_worker();
    world.finish(task);
    let sessions = world.agent_sessions(task);
    assert_eq!(sessions.len(), tries + 2, "{}", world.story(task));
    for tried in &sessions[1..=tries] {
        assert_eq!(tried.run["resumes"], conversation.as_str());
        assert_eq!(tried.ended["outcome"]["failed"], "bad_conversation", "{tried:?}");
    }
    let fresh = sessions.last().unwrap();
    assert!(fresh.run["resumes"].is_null() && fresh.told != conversation.as_str(), "{fresh:?}");
    let why = fresh.run["opening"]["handover"]["why"].as_str().unwrap_or_else(|| panic!("{fresh:?}"));
    assert!(why.contains(&conversation), "{why}");
    assert_eq!(world.server.copies(why), 1, "the agent is told");
    assert!(world.env.ok(&["report", task]).contains(&conversation), "and people are");
    world.assert_no_prompt_twice(task);
}

fn remove(path: &Path) {
    match path.is_dir() {
        true => std::fs::remove_dir_all(path).unwrap(),
        false => std::fs::remove_file(path).unwrap(),
    }
}

fn empty(path: &Path) {
    std::fs::write(path, "").unwrap();
}

/// Its first line tells what the conversation is.
fn damage_head(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::write(path, format!("damaged{}", &text[7..])).unwrap();
}

#[test]
fn codex_a_removed_conversation_starts_afresh() {
    starts_afresh(Agent::Codex, remove, 0);
}

#[test]
fn claude_a_removed_conversation_starts_afresh() {
    starts_afresh(Agent::Claude, remove, 0);
}

#[test]
fn opencode_a_removed_conversation_starts_afresh() {
    // Only `opencode export` could tell, and a failing one proves nothing: the program itself is asked, by a resume.
    starts_afresh(Agent::OpenCode, remove, 1);
}

#[test]
fn pi_a_removed_conversation_starts_afresh() {
    starts_afresh(Agent::Pi, remove, 0);
}

#[test]
fn gemini_a_removed_conversation_starts_afresh() {
    starts_afresh(Agent::Gemini, remove, 0);
}

/// The prompt stands in it, so it is resumed; only codex itself finds that it cannot be.
#[test]
fn codex_a_damaged_conversation_starts_afresh() {
    starts_afresh(Agent::Codex, damage_head, 1);
}

/// A dead end for claude: it neither finds the id nor lets it be used again.
#[test]
fn claude_an_empty_conversation_starts_afresh() {
    starts_afresh(Agent::Claude, empty, 0);
}

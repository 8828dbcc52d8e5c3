//! Where the real programs keep their conversations, looked at and damaged by tests.

use std::path::{Path, PathBuf};

use longhaul_scripted_model::Agent;

use super::world::{Live, World, sleepers, wait_for};

impl World {
    /// The file in which an agent keeps a conversation; for opencode the directory of the database with all of them.
    pub(super) fn transcript(&self, agent: Agent, conversation: &str) -> Option<PathBuf> {
        let home = self.env.path().join("agents");
        let (base, id) = match agent {
            Agent::Codex => (home.join(".codex/sessions"), conversation),
            Agent::Claude => (home.join(".claude/projects"), conversation),
            Agent::OpenCode => return Some(home.join(".local/share/opencode")),
            Agent::Pi => (home.join(".pi/agent/sessions"), conversation),
            Agent::Gemini => (home.join(".gemini/tmp"), &conversation[..8]),
        };
        file_named(&base, id)
    }

    /// The first session, once its agent runs the tool and has stored the prompt. Claude stores it a moment after it starts the tool.
    pub(super) fn session_in_a_tool(&self, agent: Agent, task: &str) -> Live {
        let session = self.session(task, 1);
        wait_for("the tool to run", || (!sleepers().is_empty()).then_some(()));
        let conversation = self.env.known_conversation(task);
        wait_for("the prompt in the transcript", || {
            let path = self.transcript(agent, &conversation)?;
            (path.is_dir() || std::fs::read_to_string(path).ok()?.contains("Session: ")).then_some(())
        });
        session
    }
}

/// The first file below a directory whose name has this in it.
fn file_named(directory: &Path, part: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(directory).ok()?.flatten();
    entries.into_iter().find_map(|entry| {
        let path = entry.path();
        match path.is_dir() {
            true => file_named(&path, part),
            false => path.file_name()?.to_str()?.contains(part).then_some(path),
        }
    })
}

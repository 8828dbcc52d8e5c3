//! Stores the demo agent's conversations between runs, one file each.
//!
//! Called by `session.rs`. It never reads outside its home: an id that it did not create is unknown.

use std::path::{Path, PathBuf};

use longhaul_app::tag::tag;
use serde::{Deserialize, Serialize};

use super::files::{self, Access, FileError};

/// The home directory of the agent.
#[derive(Debug)]
pub(super) struct Memory {
    home: PathBuf,
}

/// One conversation.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Conversation {
    pub(super) turns: u64,
    pub(super) goal: Option<String>,
}

impl Memory {
    /// Opens the home and creates it if needed.
    pub(super) fn open(home: &Path) -> Result<Self, FileError> {
        files::make_directory(home, Access::Private)?;
        Ok(Self { home: home.to_owned() })
    }

    /// Creates the id of a new conversation.
    pub(super) fn new_id() -> String {
        format!("demo-{}", tag::<8>())
    }

    /// Reads a conversation; an unknown, foreign or damaged one is `None`.
    pub(super) fn recall(&self, id: &str) -> Result<Option<Conversation>, FileError> {
        let own = id.strip_prefix("demo-").is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if !own {
            return Ok(None);
        }
        let text = files::read_text(&self.conversation_path(id))?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Stores a conversation.
    pub(super) fn remember(&self, id: &str, conversation: &Conversation) -> Result<(), FileError> {
        let json = serde_json::to_string(conversation).expect("a number and a text always serialize");
        files::replace(&self.conversation_path(id), &json, Access::Private)
    }

    fn conversation_path(&self, id: &str) -> PathBuf {
        self.home.join(format!("{id}.json"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn recalls_only_its_own_conversations() {
        let directory = tempfile::tempdir().unwrap();
        let memory = Memory::open(&directory.path().join("home")).unwrap();
        let id = Memory::new_id();
        let conversation = Conversation { turns: 2, goal: Some("g".into()) };
        memory.remember(&id, &conversation).unwrap();
        assert_eq!(memory.recall(&id).unwrap(), Some(conversation));
        std::fs::write(directory.path().join("demo-1.json"), r#"{"turns":1,"goal":null}"#).unwrap();
        for unknown in ["demo-00", "demo-../../demo-1", "../demo-1", "other"] {
            assert_eq!(memory.recall(unknown).unwrap(), None, "{unknown}");
        }
        let mode = std::fs::metadata(directory.path().join("home")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_damaged_conversation_is_unknown() {
        let directory = tempfile::tempdir().unwrap();
        let memory = Memory::open(directory.path()).unwrap();
        std::fs::write(directory.path().join("demo-1.json"), "{").unwrap();
        assert_eq!(memory.recall("demo-1").unwrap(), None);
    }
}

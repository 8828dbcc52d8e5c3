//! What the demo agent remembers between its runs: one file per conversation and the count of its invocations.
//!
//! Called by `session.rs`. It never looks outside its home: an id that is not of its own making is simply unknown.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

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
    /// The SHA-256 of each prompt.
    pub(super) prompts: Vec<String>,
}

/// How often the agent was started in this home, this time included, and when that began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Invocation {
    pub(super) number: u64,
    pub(super) first_ms: i64,
}

impl Memory {
    /// Opens the home, making it if needed.
    pub(super) fn open(home: &Path) -> Result<Self, FileError> {
        files::make_directory(home, Access::Private)?;
        Ok(Self { home: home.to_owned() })
    }

    /// Numbers this invocation; no two processes get the same number.
    pub(super) fn count_invocation(&self) -> Result<Invocation, FileError> {
        let held = files::lock(&self.home.join("invocations.lock"))?;
        let path = self.home.join("invocations.json");
        let stored = files::read_text(&path)?.and_then(|text| serde_json::from_str(&text).ok());
        let mut invocation = stored.unwrap_or(Invocation { number: 0, first_ms: now_ms() });
        invocation.number += 1;
        files::replace(&path, &to_json(&invocation), Access::Private)?;
        drop(held);
        Ok(invocation)
    }

    /// Makes up the id of a new conversation.
    pub(super) fn new_id() -> Result<String, FileError> {
        Ok(format!("demo-{}", files::random_hex()?))
    }

    /// Recalls a conversation; an unknown, foreign or damaged one is `None`.
    pub(super) fn recall(&self, id: &str) -> Result<Option<Conversation>, FileError> {
        let own = id.strip_prefix("demo-").is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if !own {
            return Ok(None);
        }
        let text = files::read_text(&self.conversation_path(id))?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Remembers a conversation.
    pub(super) fn remember(&self, id: &str, conversation: &Conversation) -> Result<(), FileError> {
        files::replace(&self.conversation_path(id), &to_json(conversation), Access::Private)
    }

    fn conversation_path(&self, id: &str) -> PathBuf {
        self.home.join(format!("{id}.json"))
    }
}

/// The wall clock in milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain structs of numbers and strings always serialize")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn recalls_only_its_own_conversations() {
        let directory = tempfile::tempdir().unwrap();
        let memory = Memory::open(&directory.path().join("home")).unwrap();
        let id = Memory::new_id().unwrap();
        let conversation = Conversation { turns: 2, goal: Some("g".into()), prompts: vec!["p".into()] };
        memory.remember(&id, &conversation).unwrap();
        assert_eq!(memory.recall(&id).unwrap(), Some(conversation));
        std::fs::write(directory.path().join("demo-1.json"), r#"{"turns":1,"goal":null,"prompts":[]}"#).unwrap();
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

    #[test]
    fn concurrent_invocations_get_different_numbers() {
        let directory = tempfile::tempdir().unwrap();
        let count = || Memory::open(directory.path()).unwrap().count_invocation().unwrap();
        let mut numbers = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| (0..5).map(|_| count().number).collect::<Vec<_>>())).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=40).collect::<Vec<_>>());
        let (before, after) = (count(), count());
        assert_eq!(before.first_ms, after.first_ms);
    }
}

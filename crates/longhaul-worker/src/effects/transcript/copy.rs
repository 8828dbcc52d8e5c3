//! The redacted copy of an agent's transcript in the session's directory, and who may make one: only the process that started all
//! sessions of the conversation, because its environment is the one they had, and only it knows the values that must be masked.
//! An adopter makes none; the agent's own transcript stays where it is. Called by the transcript effect; it never fails a session.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::ids::SessionId;
use longhaul_core::task::SessionRun;
use longhaul_keeper::TRANSCRIPT;
use longhaul_keeper::files::replace;
use longhaul_redact::{Redactor, Secrets};

/// As much as is redacted at once.
const CHUNK: usize = 64 << 10;

/// The conversations whose sessions this process started, every one, each with the epoch of the lease it held all the while.
#[derive(Debug, Default)]
pub(crate) struct OwnConversations(Mutex<HashMap<String, u64>>);

impl OwnConversations {
    /// Whether this process knows all secrets that the session's conversation can hold: it started the session (`fresh`), and
    /// what the session resumes was its own since it began, or else it may contain another worker's secrets.
    pub(super) fn admits(&self, fresh: Option<SessionId>, session: &SessionRun, epoch: u64) -> bool {
        let own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        fresh == Some(session.id) && session.resumes.as_ref().is_none_or(|resumed| own.get(resumed) == Some(&epoch))
    }

    /// Remembers the conversation of a session that was admitted.
    pub(super) fn note(&self, conversation: &str, epoch: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(conversation.to_owned(), epoch);
    }
}

/// Writes the copy as a whole, through the redactor of all output.
pub(super) fn write(directory: &Path, bytes: &[u8], secrets: Arc<Secrets>) -> io::Result<()> {
    let (mut redactor, mut masked) = (Redactor::new(secrets), Vec::with_capacity(bytes.len()));
    for chunk in bytes.chunks(CHUNK) {
        redactor.push(chunk, &mut masked);
    }
    redactor.finish(&mut masked);
    replace(directory, TRANSCRIPT, &masked)
}

#[cfg(test)]
mod tests {
    use longhaul_core::task::Purpose;

    use super::*;
    use longhaul_app::now;

    const SECRET: &str = "correct-horse-battery";

    #[test]
    fn a_secret_is_masked_wherever_chunks_are_cut() {
        let directory = tempfile::tempdir().unwrap();
        let secrets = Arc::new(Secrets::default().with("MY_TOKEN", SECRET));
        let text = format!("{}{SECRET}{}\nend\n", "a".repeat(CHUNK - 5), "b".repeat(CHUNK));
        write(directory.path(), text.as_bytes(), secrets).unwrap();
        let copy = std::fs::read_to_string(directory.path().join(TRANSCRIPT)).unwrap();
        assert!(!copy.contains(SECRET) && copy.contains("MY_TOKEN") && copy.ends_with("b\nend\n"));
        let files = std::fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(files, 1, "nothing half written is left");
        write(directory.path(), text.as_bytes(), Arc::default()).unwrap();
        let copy = std::fs::read_to_string(directory.path().join(TRANSCRIPT)).unwrap();
        assert!(copy.contains(SECRET), "the control: who does not know a secret cannot mask it");
    }

    fn session(id: &str, resumes: Option<&str>) -> SessionRun {
        let run = SessionRun::new(id.parse().unwrap(), 1, Purpose::Work, now());
        SessionRun { resumes: resumes.map(str::to_owned), ..run }
    }

    #[test]
    fn only_who_started_all_sessions_of_a_conversation_is_admitted() {
        let own = OwnConversations::default();
        let first = session("0190c5a4-7d4e-7c3a-8f00-0123456789ab", None);
        assert!(own.admits(Some(first.id), &first, 7), "the control: it started the only one");
        assert!(!own.admits(None, &first, 7), "an adopter");
        let next = session("0190c5a4-7d4e-7c3a-8f00-0123456789ac", Some("talk"));
        assert!(!own.admits(Some(next.id), &next, 7), "another worker began it");
        own.note("talk", 7);
        assert!(own.admits(Some(next.id), &next, 7));
        assert!(!own.admits(Some(first.id), &next, 7), "it started another session");
        assert!(!own.admits(Some(next.id), &next, 9), "the task was another's in between");
    }
}

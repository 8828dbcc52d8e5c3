//! The agent's own transcript of a conversation: found when a session has ended, asked whether the prompt arrived, and copied into the
//! session's directory, redacted like all output. Only the process that started the session makes the copy: an adopter's environment
//! may lack the secrets to mask. Called by the listener; it never changes what it finds.

mod command;
mod copy;
mod source;

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_agents::{Chosen, Ids, Transcript};
use longhaul_core::task::{Delivered, SessionRun};
use longhaul_keeper::{Environment, SessionDir};

use self::command::{DEADLINE, from_command};
pub(crate) use self::copy::OwnConversations;
use self::source::Conversation;
use super::Job;

/// As many of the last lines as can tell how a session ended.
const LAST_LINES: usize = 200;

/// What the transcript says.
#[derive(Default)]
pub(super) struct ReadTranscript {
    pub(super) delivered: Delivered,
    lines: Vec<u8>,
}

impl ReadTranscript {
    /// The last lines, in order.
    pub(super) fn last_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
    }
}

/// Reads the transcript of the session's conversation, on a thread that may block.
pub(super) async fn read(
    job: &Job,
    session: &SessionRun,
    agent: &Chosen,
    conversation: Option<String>,
) -> ReadTranscript {
    if agent.about().ids == Ids::None {
        return ReadTranscript { delivered: Delivered::NoTranscript, lines: Vec::new() };
    }
    let Some(conversation) = conversation else { return ReadTranscript::default() };
    let own = &job.context.own_conversations;
    let is_own = own.admits(job.fresh, session, job.epoch);
    if is_own {
        own.note(&conversation, job.epoch);
    }
    let wanted = Wanted {
        agent: agent.clone(),
        transcript: agent.transcript(&conversation),
        mark: session.mark(job.task.id),
        directory: job.context.home.session(session.id),
        secret_names: is_own.then(|| job.task.submission.secret_names.clone()),
        environment: job.environment.clone(),
    };
    tokio::task::spawn_blocking(move || wanted.read()).await.unwrap_or_default()
}

struct Wanted {
    agent: Chosen,
    transcript: Transcript,
    mark: String,
    directory: PathBuf,
    /// For the copy; none where nobody can mask its secrets, and so none is made.
    secret_names: Option<Vec<String>>,
    /// What the session had, if this process started it.
    environment: Environment,
}

impl Wanted {
    fn read(&self) -> ReadTranscript {
        let (bytes, whole) = match self.find() {
            Conversation::Bytes { bytes, whole } => (bytes, whole),
            Conversation::Nothing => return ReadTranscript { delivered: Delivered::NoTranscript, lines: Vec::new() },
            Conversation::Unknown => return ReadTranscript::default(),
        };
        let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let delivered = match self.agent.delivered(&mut lines, &self.mark) {
            // What was cut off at the front may hold it.
            Delivered::No if !whole => Delivered::Unknown,
            delivered @ (Delivered::Yes | Delivered::No | Delivered::NoTranscript | Delivered::Unknown) => delivered,
        };
        self.keep(&bytes);
        ReadTranscript { delivered, lines: last(bytes) }
    }

    /// A copy that cannot be written changes nothing: the transcript is the agent's.
    fn keep(&self, bytes: &[u8]) {
        if let Some(secret_names) = &self.secret_names {
            copy::write(&self.directory, bytes, Arc::new(self.environment.secrets(secret_names))).ok();
        }
    }

    fn find(&self) -> Conversation {
        match &self.transcript {
            Transcript::None => Conversation::Unknown,
            Transcript::File { env, default, pattern } => {
                source::in_file(&source::base(&self.environment, env, default), pattern)
            }
            Transcript::Command { arguments } => self.ask(arguments).unwrap_or(Conversation::Unknown),
        }
    }

    /// Asks the program as its session ran it; without a session that was written there is nothing to ask about.
    fn ask(&self, arguments: &[String]) -> Option<Conversation> {
        let spec = SessionDir::at(&self.directory).ok()?.spec().ok()??;
        Some(from_command(self.agent.program()?, arguments, &spec, &self.environment, DEADLINE))
    }
}

fn last(mut bytes: Vec<u8>) -> Vec<u8> {
    let ends = bytes.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let begin = ends.filter(|at| *at < bytes.len()).nth(LAST_LINES - 1).unwrap_or(0);
    bytes.split_off(begin)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use longhaul_agents::{Transcript, choose};
    use longhaul_core::task::Delivered;
    use longhaul_keeper::TRANSCRIPT;

    use super::{Environment, LAST_LINES, Wanted, last};

    /// A session of codex whose transcript is a file in the same directory.
    fn wanted(directory: &Path, secret_names: Option<Vec<String>>) -> Wanted {
        let default: &'static str = directory.display().to_string().leak();
        std::fs::write(directory.join("rollout.jsonl"), "{\"type\":\"session_meta\"}\n").unwrap();
        Wanted {
            agent: choose("codex", &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}")),
            transcript: Transcript::File { env: "NO_SUCH_VARIABLE", default, pattern: "rollout.jsonl".into() },
            mark: "mark".into(),
            directory: directory.into(),
            secret_names,
            environment: Environment::of_process(),
        }
    }

    #[test]
    fn an_adopter_reads_the_transcript_and_copies_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let adopter = wanted(directory.path(), None).read();
        assert_eq!((adopter.delivered, adopter.last_lines().count()), (Delivered::No, 1));
        assert!(!directory.path().join(TRANSCRIPT).exists());
        let starter = wanted(directory.path(), Some(Vec::new())).read();
        assert_eq!((starter.delivered, starter.last_lines().count()), (Delivered::No, 1));
        assert!(directory.path().join(TRANSCRIPT).exists(), "the control");
    }

    #[test]
    fn the_last_lines_are_whole() {
        let text: String = (0..1000).map(|number| format!("{number}\n")).collect();
        let kept = String::from_utf8(last(text.into_bytes())).unwrap();
        let lines: Vec<&str> = kept.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!((lines.len(), lines[0], lines[LAST_LINES - 1]), (LAST_LINES, "800", "999"));
        assert_eq!(last(b"one\ntwo".to_vec()), b"one\ntwo");
        assert_eq!(last(Vec::new()), b"");
    }
}

//! What every agent file provides: a description, a launch plan, and a reader of its output. Called by the worker only.
//! Agents plan and read; they never act, so every one of them is tested with recorded lines alone.

use longhaul_core::task::{Delivered, Exit, Outcome, Usage};

use crate::about::About;
use crate::launch::{Interactive, Launch, LaunchSpec};
use crate::reading::{End, Moment, Reader, Reading};

/// One agent program.
pub trait Agent: Send + Sync {
    /// Its name, what it is, and what it needs.
    fn about(&self) -> &About;

    /// How one session of it is started: data, no spawning.
    fn launch(&self, spec: &LaunchSpec<'_>) -> Launch;

    /// What one line of its output says. Unknown lines are counted in the reader, never fatal.
    fn read_line(&self, reader: &mut Reader, moment: &Moment<'_>, line: &[u8]) -> Reading;

    /// The class of the session's end, from all that was read and how it ended.
    fn outcome(&self, reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome;

    /// The result of the session: its outcome, and what the agent was refused.
    fn read_end(&self, reader: &Reader, exit: &Exit, stderr_tail: &str) -> End {
        End { outcome: self.outcome(reader, exit, stderr_tail), denied: reader.denied.clone() }
    }

    /// How a person continues this conversation in the program's own interface, with the same modes as a session; `None` if the
    /// program has no such interface. Configured extra arguments are meant for sessions and left out.
    fn interactive(&self, conversation: &str, spec: &LaunchSpec<'_>) -> Option<Interactive> {
        let _ = (conversation, spec);
        None
    }

    /// Where the program's own configuration names variables with keys of other providers; none where it does not.
    fn provider_keys(&self) -> Option<ProviderKeys> {
        None
    }

    /// Where the program itself keeps this conversation.
    fn transcript(&self, conversation: &str) -> Transcript {
        let _ = conversation;
        Transcript::None
    }

    /// What one line of the program's own transcript adds to the stream; returns what was used and not reported there. Asked after the
    /// end, before [`Agent::read_end`], with the last lines in order.
    fn read_transcript(&self, reader: &mut Reader, moment: &Moment<'_>, line: &[u8]) -> Usage {
        let _ = (reader, moment, line);
        Usage::default()
    }

    /// Whether the program's own transcript contains the prompt with this mark.
    fn delivered(&self, lines: &mut dyn Iterator<Item = &[u8]>, mark: &str) -> Delivered {
        let _ = (lines, mark);
        Delivered::Unknown
    }
}

/// A configuration file in which a line such as `env_key = "NAME"` names a variable with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderKeys {
    /// The variable that names the program's directory.
    pub env: &'static str,
    /// The directory in the user's home when the variable is not set.
    pub default: &'static str,
    /// The file in it.
    pub file: &'static str,
    /// The text before the name.
    pub key: &'static str,
}

impl ProviderKeys {
    /// The variables that this text of the file names.
    pub fn names_in(self, text: &str) -> Vec<String> {
        let value = |line: &str| {
            let rest = line.trim().strip_prefix(self.key)?.trim_start().strip_prefix('=')?;
            Some(rest.trim().strip_prefix('"')?.split_once('"')?.0.to_owned())
        };
        text.lines().filter_map(value).collect()
    }
}

/// Where a program keeps a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transcript {
    /// Nowhere that can be read.
    None,
    /// In a file, one JSON document per line.
    File {
        /// The variable that names the program's directory.
        env: &'static str,
        /// The directory in the user's home when the variable is not set.
        default: &'static str,
        /// The file below it; `*` matches anything within one part of the path.
        pattern: String,
    },
    /// Printed by a command of the program.
    Command {
        /// The arguments after the program's name.
        arguments: Vec<String>,
    },
}

//! How one session of an agent is started, as data: made by the agent's file, carried out by the worker and its keeper.
//! Nothing here starts anything.

use longhaul_core::task::{Sandbox, StopSignal, StopStep};
use serde::Deserialize;
use serde_json::Value;

/// What a launch depends on.
#[derive(Debug, Clone, Copy)]
pub struct LaunchSpec<'a> {
    /// The path of this binary in argv.
    pub own_program: &'a str,
    /// The configured path of the program, instead of its name.
    pub program: Option<&'a str>,
    /// Extra arguments from the configuration.
    pub extra: &'a [String],
    /// The id a new conversation gets where we choose it: a UUID.
    pub session: &'a str,
    /// What the prompt is marked with.
    pub mark: &'a str,
    /// The agent's own conversation to resume.
    pub resumes: Option<&'a str>,
    /// The chosen model.
    pub model: Option<&'a str>,
    /// Where the agent starts.
    pub cwd: &'a str,
    /// A directory outside of `cwd` that the agent must be able to write.
    pub writable: Option<&'a str>,
    /// What it may write.
    pub sandbox: Sandbox,
    /// Whether its tools may use the network.
    pub network: Network,
    /// Who it runs as.
    pub user: User,
    /// The file with the prompt, for programs that cannot take it by stdin.
    pub prompt_file: &'a str,
    /// A short prompt that points at that file and is handed over as an argument, as the existing shell runner does; for codex.
    pub argument: Option<&'a str>,
    /// Longhaul's MCP server for this session, for programs that can be given one beside the user's own.
    pub server: Option<SessionServer<'a>>,
}

/// Longhaul's MCP server for one session. The agent starts it.
#[derive(Debug, Clone, Copy)]
pub struct SessionServer<'a> {
    /// The path of the program.
    pub program: &'a str,
    /// Its arguments.
    pub arguments: &'a [&'a str],
    /// Variables to set; no secrets.
    pub environment: &'a [(String, String)],
    /// Further variables of the agent that the server needs, by name, because it masks their values in what the agent says.
    pub inherited: &'a [String],
}

impl SessionServer<'_> {
    /// Its name among the agent's servers: not `longhaul`, which a user may have given to a server of their own.
    pub const NAME: &'static str = "longhaul_session";

    /// Its variables as a JSON object.
    pub(crate) fn environment(&self) -> Value {
        self.environment.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
    }
}

/// Whether the network is open to an agent's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// As the sandbox has it.
    AsSandboxed,
    /// Opened.
    Open,
}

/// Who an agent runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// Anyone but root.
    Plain,
    /// The super-user.
    Root,
}

/// How one session is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program and its arguments. Nothing secret, and nothing of the goal.
    pub argv: Vec<String>,
    /// Environment variables to set; no secrets.
    pub env_set: Vec<(String, String)>,
    /// JSON objects to merge into those that the user may have in these variables.
    pub env_merge: Vec<(String, Value)>,
    /// Variables the agent must not see.
    pub env_unset: Vec<String>,
    /// What it gets to read.
    pub stdin: Stdin,
    /// How it is stopped, in order; the tree is killed after the last step.
    pub stop: Vec<StopStep>,
}

impl LaunchSpec<'_> {
    /// A command line: the configured program, or the one of this name, and arguments.
    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        let program = self.program.unwrap_or(program);
        std::iter::once(&program).chain(arguments).map(|part| (*part).to_owned()).collect()
    }
}

/// SIGTERM, and five seconds to end.
pub(crate) const TERMINATE: &[StopStep] = &[StopStep { signal: StopSignal::Terminate, grace_ms: 5000 }];

impl Launch {
    /// A launch that gets the prompt by stdin, with nothing else set.
    pub fn new(argv: Vec<String>, stop: &[StopStep]) -> Launch {
        let (env_set, env_merge, env_unset) = (Vec::new(), Vec::new(), Vec::new());
        Launch { argv, env_set, env_merge, env_unset, stdin: Stdin::Prompt, stop: stop.to_vec() }
    }

    /// The same with a variable set.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Launch {
        self.env_set.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// What a program gets to read; it always ends. Written as where the prompt is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Stdin {
    /// The prompt.
    #[default]
    #[serde(rename = "stdin")]
    Prompt,
    /// Nothing.
    #[serde(rename = "file")]
    Null,
}

/// How to start the program's own interface for a person, in an existing conversation; used by `longhaul takeover`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interactive {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Environment variables to set; no secrets.
    pub env_set: Vec<(String, String)>,
}

impl Interactive {
    /// A start with nothing set.
    pub(crate) fn new(argv: Vec<String>) -> Interactive {
        Interactive { argv, env_set: Vec::new() }
    }

    /// The same with a variable set.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Interactive {
        self.env_set.push((name.to_owned(), value.to_owned()));
        self
    }
}

#[cfg(test)]
mod tests;

//! What a scripted model does when it is asked, in one form for all vendors.
//! Made by scripts, put on the wire by the dialects and the server.
//! It holds no bytes of any vendor's format.

use std::time::Duration;

use serde_json::Value;

/// What the model does.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// It answers.
    Answer(Answer),
    /// The vendor refuses, in its own words.
    Refuse(Refusal),
    /// Silence until `Server::release` or until the agent goes away; released, it goes on with the answer.
    Hang {
        /// Where it falls silent.
        at: Place,
        /// What follows a release.
        then: Answer,
    },
    /// The connection ends too early.
    Cut {
        /// Where it ends.
        at: Place,
        /// How it ends.
        ending: Ending,
        /// What would have been said.
        answer: Answer,
    },
}

/// A moment of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before the first byte.
    BeforeHeaders,
    /// After the headers and some of the answer; never behind its last event.
    MidStream,
}

/// How a connection ends too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Closed in the middle of a chunk.
    Close,
    /// Reset.
    Reset,
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// What it says, if anything.
    pub text: Option<String>,
    /// The tools it calls; with none its turn is over.
    pub calls: Vec<Call>,
    /// What it says it used.
    pub usage: Usage,
    /// More headers, such as those that announce a limit.
    pub headers: Vec<(String, String)>,
}

/// A tool call, to be put into the words of the tools offered.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// Runs a command in the agent's shell.
    Shell(String),
    /// Writes a file.
    WriteFile {
        /// Where.
        path: String,
        /// What.
        text: String,
    },
    /// Calls a tool of an MCP server by the agent's name for it, after a search if the agent shows it only then.
    Mcp {
        /// The server, as the agent's configuration names it.
        server: String,
        /// The tool, as the server names it.
        tool: String,
        /// Its arguments.
        arguments: Value,
    },
    /// Calls the named tool with these arguments, whatever is offered.
    Raw {
        /// The tool.
        name: String,
        /// Its arguments.
        arguments: Value,
    },
}

/// Token counts of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// All input, cached input included.
    pub input: u64,
    /// Input that came from a cache.
    pub cached: u64,
    /// All output, reasoning included.
    pub output: u64,
    /// Output that was reasoning.
    pub reasoning: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 100, cached: 0, output: 10, reasoning: 0 }
    }
}

/// What a vendor can refuse with.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// Too many requests.
    RateLimited {
        /// The `retry-after` header, if one is sent.
        retry_after: Option<Duration>,
    },
    /// The plan is used up until a known time, where the vendor has a way to say when.
    UsageLimit {
        /// How long until it is back.
        resets_in: Duration,
    },
    /// Money or quota is gone, without a time.
    QuotaGone,
    /// The key is wrong.
    Unauthorized,
    /// The key may not do this.
    Forbidden,
    /// There is no such model.
    ModelNotFound,
    /// The conversation is longer than the model can take.
    ContextTooLong,
    /// Something broke at the vendor's.
    ServerError,
    /// The vendor has too much to do.
    Overloaded,
    /// Exactly this.
    Raw {
        /// The HTTP status.
        status: u16,
        /// More headers.
        headers: Vec<(String, String)>,
        /// The body.
        body: Value,
    },
}

impl Reply {
    /// Answers with a text, which ends the model's turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Answer(Answer::text(text))
    }

    /// Calls the shell.
    pub fn shell(command: impl Into<String>) -> Self {
        Self::Answer(Answer::shell(command))
    }

    /// Calls a tool of an MCP server. An agent that hides its tools gets a search first, so a script must ask again until it has the answer.
    pub fn mcp(server: impl Into<String>, tool: impl Into<String>, arguments: Value) -> Self {
        Self::Answer(Answer::call(Call::Mcp { server: server.into(), tool: tool.into(), arguments }))
    }
}

impl Answer {
    /// A text, which ends the model's turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// One shell call.
    pub fn shell(command: impl Into<String>) -> Self {
        Self::call(Call::Shell(command.into()))
    }

    /// One call.
    #[must_use]
    pub fn call(call: Call) -> Self {
        Self { calls: vec![call], ..Self::default() }
    }

    /// The same with other token counts.
    #[must_use]
    pub fn with_usage(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        Self::Refuse(refusal)
    }
}

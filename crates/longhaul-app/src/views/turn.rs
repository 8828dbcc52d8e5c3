//! What a session printed, as people and programs read it, the same for every agent: words, tools, notices, a check's output.
//! Read from the log by `session::turns`. None of it is ever taken for a fact.

use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::View;
use crate::session::turns::cut;
use crate::text;

/// A tool's detail and a notice take one line of at most this many characters on a screen.
const DETAIL: usize = 400;

/// One thing that a session printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TurnView {
    /// The number of the session.
    pub session: u32,
    /// When it was printed; null if that is unknown.
    pub at: Option<String>,
    /// The kind of turn.
    pub role: TurnRole,
    /// The words; for a tool, what it was used on. A line of more than 1 MiB comes in parts.
    pub text: String,
    /// The name of the tool.
    pub tool: Option<String>,
}

/// The kind of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnRole {
    /// A session starts; the text names its purpose and time.
    Session,
    /// The command of a check.
    Command,
    /// What the agent said.
    Text,
    /// A tool that the agent used.
    Tool,
    /// The result of the last tool in a few words, if the agent reports one.
    Result,
    /// Something about the session itself.
    Notice,
    /// A line of the agent that this version cannot read, as it was printed.
    Unknown,
    /// A line of a check's standard output, as it was printed.
    Output,
    /// A line of standard error, as it was printed.
    Stderr,
}

impl View for TurnView {
    const KIND: &'static str = "turn";
}

impl TurnView {
    /// The turn as lines for a screen, made safe.
    pub fn lines(&self) -> Vec<String> {
        let text = &self.text;
        match self.role {
            TurnRole::Session => vec![format!("--- session {}: {}", self.session, text::readable(text))],
            TurnRole::Command => vec![format!("$ {}", text::readable(text))],
            TurnRole::Text => text::readable_lines(text).lines().map(str::to_owned).collect(),
            TurnRole::Tool => {
                let name = self.tool.as_deref().unwrap_or_default();
                vec![format!("  [{}] {}", text::readable(name), one_line(text))]
            }
            TurnRole::Result => vec![format!("    → {}", one_line(text))],
            TurnRole::Notice => vec![format!("  ! {}", one_line(text))],
            TurnRole::Unknown => vec![format!("  ? {}", text::readable(text))],
            TurnRole::Output => vec![text::readable(text)],
            TurnRole::Stderr => vec![format!("  2> {}", text::readable(text))],
        }
    }
}

fn one_line(text: &str) -> String {
    cut(&text::readable(&text.lines().collect::<Vec<_>>().join(" ")), DETAIL)
}

//! The JSONL output format of the demo agent: one object per line on standard output, flushed at once.
//!
//! Used by every file that prints. The `demo` adapter of the agents crate reads these lines; both must agree.

use std::io::{self, Write};

use serde::Serialize;

/// One line of output.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line<'a> {
    Session { id: &'a str },
    Text { text: &'a str },
    Tool { name: &'a str, detail: &'a str },
    Usage { input: usize, output: usize },
    Error { class: &'a str, message: &'a str },
    Done,
}

/// Prints the agent's output.
pub(super) struct Speaker<'a> {
    out: &'a mut dyn Write,
}

impl<'a> Speaker<'a> {
    /// Prints to a stream.
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out }
    }

    /// Prints one line, in one write.
    pub(super) fn say(&mut self, line: &Line<'_>) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.out.write_all(&bytes)?;
        self.out.flush()
    }

    /// Prints a text.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        self.say(&Line::Text { text })
    }

    /// Reports used tokens.
    pub(super) fn usage(&mut self, input: usize, output: usize) -> io::Result<()> {
        self.say(&Line::Usage { input, output })
    }

    /// Reports a tool call.
    pub(super) fn tool(&mut self, name: &str, detail: &str) -> io::Result<()> {
        self.say(&Line::Tool { name, detail })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_one_object_per_line() {
        let mut out = Vec::new();
        let mut speaker = Speaker::new(&mut out);
        speaker.say(&Line::Session { id: "demo-1" }).unwrap();
        speaker.text("a\nb").unwrap();
        speaker.tool("write", "f").unwrap();
        speaker.usage(1, 2).unwrap();
        speaker.say(&Line::Error { class: "auth", message: "m" }).unwrap();
        speaker.say(&Line::Done).unwrap();
        let expected = concat!(
            "{\"type\":\"session\",\"id\":\"demo-1\"}\n",
            "{\"type\":\"text\",\"text\":\"a\\nb\"}\n",
            "{\"type\":\"tool\",\"name\":\"write\",\"detail\":\"f\"}\n",
            "{\"type\":\"usage\",\"input\":1,\"output\":2}\n",
            "{\"type\":\"error\",\"class\":\"auth\",\"message\":\"m\"}\n",
            "{\"type\":\"done\"}\n",
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

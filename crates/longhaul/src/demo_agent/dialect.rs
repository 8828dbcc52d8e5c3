//! The JSONL dialect of the demo agent: one object per line on standard output, flushed at once.
//!
//! Used by everything that speaks. The `demo` adapter of the agents crate reads these lines; both must agree.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use super::misbehave;

/// One line of the dialect.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line<'a> {
    Session {
        id: &'a str,
    },
    Text {
        text: &'a str,
    },
    Tool {
        name: &'a str,
        detail: &'a str,
    },
    Usage {
        input: usize,
        output: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        cost_micros: Option<u64>,
    },
    Limit {
        until_ms: Option<i64>,
    },
    Error {
        class: &'a str,
        message: &'a str,
    },
    Done,
}

/// What happens to the agent right after its first tool line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterTool {
    GoOn,
    Die,
}

/// The mouth of the agent.
pub(super) struct Speaker<'a> {
    out: &'a mut dyn Write,
    pause: Duration,
    after_tool: AfterTool,
}

impl<'a> Speaker<'a> {
    /// Speaks to a stream and rests after each line.
    pub(super) fn new(out: &'a mut dyn Write, pause: Duration, after_tool: AfterTool) -> Self {
        Self { out, pause, after_tool }
    }

    /// Says one line of the dialect.
    pub(super) fn say(&mut self, line: &Line<'_>) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.raw(&bytes)?;
        if !self.pause.is_zero() {
            std::thread::sleep(self.pause);
        }
        Ok(())
    }

    /// Says a text line.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        self.say(&Line::Text { text })
    }

    /// Reports tokens that were used.
    pub(super) fn usage(&mut self, input: usize, output: usize) -> io::Result<()> {
        self.say(&Line::Usage { input, output, cost_micros: None })
    }

    /// Reports money that was spent, in millionths of a dollar.
    pub(super) fn cost(&mut self, micros: u64) -> io::Result<()> {
        self.say(&Line::Usage { input: 0, output: 0, cost_micros: Some(micros) })
    }

    /// Reports something that was done with a tool.
    pub(super) fn tool(&mut self, name: &str, detail: &str) -> io::Result<()> {
        self.say(&Line::Tool { name, detail })?;
        match self.after_tool {
            AfterTool::GoOn => Ok(()),
            AfterTool::Die => misbehave::die(),
        }
    }

    /// Writes bytes that need not be of the dialect.
    pub(super) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_one_object_per_line() {
        let mut out = Vec::new();
        let mut speaker = Speaker::new(&mut out, Duration::ZERO, AfterTool::GoOn);
        speaker.say(&Line::Session { id: "demo-1" }).unwrap();
        speaker.text("a\nb").unwrap();
        speaker.tool("write", "f").unwrap();
        speaker.usage(1, 2).unwrap();
        speaker.cost(3).unwrap();
        speaker.say(&Line::Limit { until_ms: None }).unwrap();
        speaker.say(&Line::Error { class: "auth", message: "m" }).unwrap();
        speaker.say(&Line::Done).unwrap();
        let expected = concat!(
            "{\"type\":\"session\",\"id\":\"demo-1\"}\n",
            "{\"type\":\"text\",\"text\":\"a\\nb\"}\n",
            "{\"type\":\"tool\",\"name\":\"write\",\"detail\":\"f\"}\n",
            "{\"type\":\"usage\",\"input\":1,\"output\":2}\n",
            "{\"type\":\"usage\",\"input\":0,\"output\":0,\"cost_micros\":3}\n",
            "{\"type\":\"limit\",\"until_ms\":null}\n",
            "{\"type\":\"error\",\"class\":\"auth\",\"message\":\"m\"}\n",
            "{\"type\":\"done\"}\n",
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

//! The standard output of the agent, with the faults that depend on what is said: a crash, a rest after each line, a stay at the end.
//!
//! The plain demo agent writes each of its lines in one write. What need not be a line of the dialect goes through `raw`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use demo_agent::Role;
use serde_json::{Map, Value};

use crate::faults::Fault;
use crate::misbehave;

/// Standard output as these faults have it.
pub(crate) struct Output {
    faults: Vec<Fault>,
    /// What a half plan leaves out.
    left_out: Option<PathBuf>,
}

impl Output {
    pub(crate) fn new(faults: &[Fault], role: &Role) -> Self {
        let left_out = match role {
            Role::Plan(directory) if faults.contains(&Fault::HalfPlan) => Some(directory.join("progress.md")),
            _ => None,
        };
        Self { faults: faults.to_vec(), left_out }
    }

    /// Says one line of the dialect.
    pub(crate) fn say(&self, kind: &str, fields: &[(&str, Value)]) -> io::Result<()> {
        let mut line: Map<String, Value> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        line.insert("type".into(), kind.into());
        self.line(kind, format!("{}\n", Value::Object(line)).as_bytes())
    }

    /// Says a text line.
    pub(crate) fn text(&self, text: &str) -> io::Result<()> {
        self.say("text", &[("text", text.into())])
    }

    /// Writes bytes that need not be of the dialect.
    pub(crate) fn raw(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    fn line(&self, kind: &str, line: &[u8]) -> io::Result<()> {
        if kind == "done" && self.faults.contains(&Fault::CrashLate) {
            misbehave::die();
        }
        if let Some(path) = self.left_out.as_ref().filter(|path| kind == "done" && path.exists()) {
            std::fs::remove_file(path)?;
        }
        self.raw(line)?;
        let pauses = self.faults.iter().map(|fault| if let Fault::Slow(ms) = fault { *ms } else { 0 });
        std::thread::sleep(Duration::from_millis(pauses.max().unwrap_or(0)));
        match kind {
            "tool" if self.faults.contains(&Fault::Crash) => misbehave::die(),
            "done" if self.faults.contains(&Fault::Linger) => misbehave::sleep_for_ever(),
            _ => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let read: Value = serde_json::from_slice(line)?;
        self.line(read["type"].as_str().unwrap_or_default(), line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

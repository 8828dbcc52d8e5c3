//! What a test sees of a task's sessions, prompts and rounds of checks, read from the outside only.
//!
//! Used by the modules about checks, limits and waiting. A world made here has one plan and one working session.

use serde_json::Value;

use crate::env::{TestEnv, wait_for};

/// A world whose tasks have one step, and so one planning and one working session.
pub(crate) fn one_step() -> TestEnv {
    TestEnv::new().var("DEMO_STEPS", "1")
}

impl TestEnv {
    /// What the sessions of a task were for, in order.
    pub(crate) fn purposes(&self, task: &str) -> Vec<String> {
        self.sessions(task).iter().map(|session| session["run"]["purpose"].as_str().unwrap().to_owned()).collect()
    }

    /// The prompt that the demo agent got in a session, by its number; empty if there was none.
    pub(crate) fn prompt(&self, task: &str, number: usize) -> String {
        let id = self.sessions(task)[number - 1]["run"]["id"].clone();
        let of_session = |line: &Value| line["event"] == "start" && line["session"] == id;
        let start = self.ledger_lines().into_iter().find(of_session);
        start.map(|line| line["prompt"].as_str().unwrap().to_owned()).unwrap_or_default()
    }

    /// The payloads of all events of a kind, in order.
    pub(crate) fn told(&self, task: &str, kind: &str) -> Vec<Value> {
        let events = self.events(task).into_iter().map(|event| event["event"].clone());
        events.filter(|event| event["kind"] == kind).collect()
    }

    /// The evidence of every check whose end was seen, in order.
    pub(crate) fn evidence(&self, task: &str) -> Vec<Value> {
        self.told(task, "checked").into_iter().map(|event| event["evidence"].clone()).collect()
    }

    /// Puts a file into the workspace.
    pub(crate) fn put(&self, name: &str, content: &str) {
        std::fs::write(self.workspace().join(name), content).unwrap();
    }

    /// Waits until a file of the workspace has so many lines.
    pub(crate) fn await_lines(&self, name: &str, count: usize) {
        let path = self.workspace().join(name);
        wait_for(&format!("{count} lines in {name}"), || {
            (std::fs::read_to_string(&path).ok()?.lines().count() >= count).then_some(())
        });
    }

    /// How many lines a file of the workspace has.
    pub(crate) fn lines(&self, name: &str) -> usize {
        std::fs::read_to_string(self.workspace().join(name)).map_or(0, |text| text.lines().count())
    }
}

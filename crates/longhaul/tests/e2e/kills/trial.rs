//! One task whose processes are killed at a named point: arm, start, see the point reached, let others go on, look at the end.
//!
//! Every step answers with a `Result`, so that the controls can show that a row is able to fail.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::checker;
use crate::env::{TestEnv, wait_for};

/// The goal of every trial, and the name that becomes of it.
pub(super) const GOAL: &str = "Survive this";
pub(super) const TASK: &str = "survive-this";

/// A scratch world with fail points.
pub(super) struct Trial {
    pub(super) env: TestEnv,
    fails: PathBuf,
}

/// A session as the stored events and the agent's ledger tell of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    pub(super) id: String,
    pub(super) resumes: Value,
    pub(super) exit: Value,
    pub(super) gap: Value,
    /// How often an agent really began.
    pub(super) executed: usize,
}

/// What became of a trial.
pub(super) struct Story {
    pub(super) events: Vec<Value>,
    pub(super) sessions: Vec<Told>,
}

impl Trial {
    /// A world without any fail point; the agent needs a planning session and two working ones.
    pub(super) fn new() -> Trial {
        let env = TestEnv::new();
        let fails = env.path().join("fails");
        std::fs::create_dir(&fails).unwrap();
        Trial { env, fails }
    }

    /// The same world with one more variable.
    pub(super) fn var(mut self, name: &str, value: &str) -> Trial {
        self.env.set(name, value);
        self
    }

    /// Everything started from now on dies or waits at these points.
    pub(super) fn arm(&mut self, points: &str) {
        self.env.set("LONGHAUL_FAIL_POINTS", points);
        let fails = self.fails.display().to_string();
        self.env.set("LONGHAUL_FAIL_DIR", &fails);
    }

    /// Everything started from now on lives.
    pub(super) fn disarm(&mut self) {
        self.env.unset("LONGHAUL_FAIL_POINTS");
        self.env.unset("LONGHAUL_FAIL_DIR");
    }

    /// Lets a paused process go on.
    pub(super) fn go(&self, point: &str) {
        std::fs::write(self.fails.join(format!("{point}.go")), "").unwrap();
    }

    pub(super) fn has_fired(&self, point: &str) -> bool {
        self.fails.join(point).exists()
    }

    /// Submits the task in the background.
    pub(super) fn submit(&self, more: &[&str]) {
        let name = self.env.submit(GOAL, &[&["--backoff", "50ms"], more].concat());
        assert_eq!(name, TASK);
    }

    /// Waits until the point was reached; a task that comes to rest before has never reached it.
    pub(super) fn reached(&self, point: &str) -> Result<(), String> {
        wait_for(point, || {
            let settled = !matches!(self.env.column(TASK, "wants_owner").as_deref(), None | Some("1"));
            match (self.has_fired(point), settled) {
                (true, _) => Some(Ok(())),
                (false, true) => Some(Err(format!("the task came to rest and never reached {point}"))),
                (false, false) => None,
            }
        })
    }

    /// Runs the task until its worker was killed at the point; nothing that is started afterwards will be.
    pub(super) fn kill_worker_at(&mut self, point: &str) -> Result<(), String> {
        self.arm(point);
        self.submit(&[]);
        self.reached(point)?;
        self.env.wait_until_workers_are_dead();
        self.disarm();
        Ok(())
    }

    /// Runs the task with keepers that are killed at the point, once; the worker lives on.
    pub(super) fn kill_keeper_at(&mut self, point: &str, more: &[&str]) -> Result<(), String> {
        self.arm(point);
        self.submit(more);
        self.disarm();
        self.reached(point)
    }

    /// A fresh worker, as any verb would start it.
    pub(super) fn start_worker(&self) {
        self.env.ok(&["worker", "--only", "--detach"]);
    }

    /// Waits for the end, which must be `done`, in a home that everybody has left and that breaks no invariant.
    pub(super) fn conclude(&self) -> Result<Story, String> {
        let state = self.env.settle(TASK);
        if state != "done" {
            return Err(format!("the task is {state}, not done"));
        }
        self.env.wait_until_empty();
        // What dead workers left is swept by the next one, which has nothing else to do and leaves.
        self.env.ok(&["worker", "--only"]);
        let found = checker::violations(&self.env);
        if !found.is_empty() {
            return Err(found.join("\n"));
        }
        Ok(self.story())
    }

    /// The whole of a worker's row: it is killed at the point, a fresh one goes on to the same end.
    pub(super) fn worker_row(&mut self, point: &str) -> Result<Story, String> {
        self.kill_worker_at(point)?;
        self.start_worker();
        let story = self.conclude()?;
        match story.count("claimed") {
            2 => Ok(story),
            claims => Err(format!("claimed {claims} times, not by the first worker and one adopter")),
        }
    }

    /// The whole of a keeper's row: it is killed at the point, its worker goes on to the same end.
    pub(super) fn keeper_row(&mut self, point: &str) -> Result<Story, String> {
        self.kill_keeper_at(point, &[])?;
        let story = self.conclude()?;
        match story.count("claimed") {
            1 => Ok(story),
            claims => Err(format!("claimed {claims} times although its worker lived")),
        }
    }

    /// What the store and the ledger tell by now.
    pub(super) fn story(&self) -> Story {
        let events: Vec<Value> = self.env.events(TASK).into_iter().map(|event| event["event"].clone()).collect();
        let ledger = self.env.ledger_lines();
        let started = events.iter().filter(|event| event["kind"] == "session_started");
        let sessions = started.map(|event| {
            let session = &event["session"];
            let ended =
                events.iter().find(|event| event["kind"] == "session_ended" && event["session"] == session["id"]);
            let ended = ended.map_or(Value::Null, |event| event["ended"].clone());
            let executed = ledger.iter().filter(|line| line["event"] == "start" && line["session"] == session["id"]);
            Told {
                id: session["id"].as_str().unwrap().to_owned(),
                resumes: session["resumes"].clone(),
                exit: ended["exit"].clone(),
                gap: ended["gap"].clone(),
                executed: executed.count(),
            }
        });
        Story { sessions: sessions.collect(), events }
    }
}

impl Story {
    /// How often something happened.
    pub(super) fn count(&self, kind: &str) -> usize {
        self.events.iter().filter(|event| event["kind"] == kind).count()
    }

    /// The one planning and two working sessions of a task that nothing befell; `extra` are those before them.
    #[track_caller]
    pub(super) fn assert_sessions_after(&self, extra: usize) {
        assert_eq!(self.sessions.len(), extra + 3, "{:#?}", self.sessions);
        for session in &self.sessions[extra..] {
            let facts = (&session.exit, &session.gap, session.executed);
            assert_eq!(facts, (&json!({ "code": 0 }), &json!("none"), 1), "{session:?}");
        }
    }

    /// The first session was revoked before anything ran, and nothing was held against the task.
    #[track_caller]
    pub(super) fn assert_never_started_and_no_attempt_burned(&self) {
        let first = &self.sessions[0];
        assert_eq!((&first.exit, &first.gap, first.executed), (&json!("never_started"), &json!("none"), 0));
        assert_eq!(self.count("wait_started"), 0, "no attempt is burned, so there is no backoff");
        self.assert_sessions_after(1);
    }

    /// The first session's end is unknown and said to be incomplete, and an attempt is burned.
    #[track_caller]
    pub(super) fn assert_first_end_unknown(&self) {
        let first = &self.sessions[0];
        assert_eq!((&first.exit, &first.gap), (&json!("unknown"), &json!("unknown_size")));
        assert_eq!(self.count("wait_started"), 1, "{:#?}", self.events);
    }

    /// The second session went on with the first one's conversation.
    #[track_caller]
    pub(super) fn assert_conversation_resumed(&self) {
        let read = self
            .events
            .iter()
            .find(|event| event["kind"] == "session_read" && event["session"] == json!(self.sessions[0].id));
        let conversation = read.map_or(&Value::Null, |event| &event["said"]["conversation"]);
        assert!(conversation.is_string(), "the first session told its conversation");
        assert_eq!(self.sessions[1].resumes, *conversation);
    }
}

//! Agents that misbehave in every way the demo agent knows: the task ends as the recovery table says, and nothing is left alive.
//!
//! Each group runs side by side in one home, every task in a workspace and with an agent's memory of its own.

use serde_json::Value;

use crate::env::TestEnv;

/// One fault, how the task was told to be patient, and what must come of it.
struct Case {
    fault: &'static str,
    more: &'static [&'static str],
    check: fn(&Told),
}

/// What a settled task tells.
struct Told {
    fault: &'static str,
    task: Value,
    events: Vec<Value>,
    list: String,
    sessions: Vec<Value>,
}

impl Told {
    fn of(env: &TestEnv, name: &str, case: &Case) -> Told {
        env.settle(name);
        let task = env.task(name);
        let dir = format!("{}/.autonomous/{name}/task_list.md", task["submission"]["project"].as_str().unwrap());
        Told {
            fault: case.fault,
            task,
            events: env.events(name),
            list: std::fs::read_to_string(dir).unwrap_or_default(),
            sessions: env.sessions(name),
        }
    }

    fn is_done_after(&self, sessions: usize) {
        assert_eq!(self.task["state"]["state"], "done", "{}: {}", self.fault, self.task);
        assert_eq!(self.sessions.len(), sessions, "{}", self.fault);
        assert!(!self.list.contains("- [ ]"), "{}: {}", self.fault, self.list);
    }

    /// Asks a person, for this reason, after so many sessions.
    fn asks(&self, reason: &str, sessions: usize) -> &Value {
        assert_eq!(self.task["state"]["state"], "needs_help", "{}: {}", self.fault, self.task);
        assert_eq!(self.sessions.len(), sessions, "{}", self.fault);
        let found = &self.task["state"]["reason"][reason];
        assert!(found.is_object(), "{}: {}", self.fault, self.task["state"]);
        found
    }

    fn waits(&self, why: &str) -> usize {
        let waits = |event: &&Value| event["event"]["kind"] == "wait_started" && event["event"]["why"] == why;
        self.events.iter().filter(waits).count()
    }

    fn refusals(&self) -> usize {
        self.events.iter().filter(|event| event["event"]["kind"] == "plan_refused").count()
    }

    fn ended(&self, session: usize) -> &Value {
        &self.sessions[session - 1]["ended"]
    }

    /// The conversation that a session was told to go on with is the one before it.
    fn resumed(&self, session: usize) -> bool {
        let before = &self.sessions[session - 2]["run"];
        let had = if before["conversation"].is_null() { &before["resumes"] } else { &before["conversation"] };
        self.sessions[session - 1]["run"]["resumes"] == *had && !had.is_null()
    }
}

fn play(cases: &[Case]) {
    let mut env = TestEnv::new();
    let names: Vec<String> = (0..)
        .zip(cases)
        .map(|(number, case)| {
            let place = env.path().join(format!("case-{number}"));
            std::fs::create_dir(&place).unwrap();
            env.set("DEMO_FAULT", case.fault);
            env.set("DEMO_AGENT_HOME", &place.join("memory").display().to_string());
            let name = format!("case-{number}");
            let more =
                [&["--name", &name, "--workspace", place.to_str().unwrap(), "--backoff", "30ms"], case.more].concat();
            env.submit("Misbehave", &more)
        })
        .collect();
    for (name, case) in names.iter().zip(cases) {
        let told = Told::of(&env, name, case);
        (case.check)(&told);
        assert_eq!(env.run(&["events", name, "--verify"]).code, 0);
    }
    env.deserted();
    assert!(env.ledger_lines().iter().all(|line| line["event"] != "overlap"), "never two agents on one task");
}

#[test]
fn crashes_are_recovered_with_backoff_and_in_the_same_conversation() {
    play(&[
        Case { fault: "crash@2", more: &[], check: |told| crashed(told, 4) },
        Case {
            fault: "crash-late@1",
            more: &[],
            check: |told| {
                told.is_done_after(4);
                assert!(told.resumed(2), "the plan of a session that did not finish is not taken: {}", told.fault);
            },
        },
        Case {
            fault: "crash-early@2",
            more: &[],
            check: |told| {
                told.is_done_after(4);
                assert_eq!(told.waits("backoff"), 1);
                assert!(!told.resumed(3), "it never told a conversation");
            },
        },
        Case {
            fault: "crash-late@2",
            more: &[],
            check: |told| {
                told.is_done_after(3);
                assert_eq!(told.waits("backoff"), 0, "it made progress, so it goes on at once");
            },
        },
        Case { fault: "exit:3@2", more: &[], check: |told| crashed(told, 4) },
        Case { fault: "server-error@2", more: &[], check: |told| crashed(told, 4) },
        Case {
            fault: "context-full@2",
            more: &[],
            check: |told| {
                told.is_done_after(4);
                assert_eq!(told.sessions[2]["run"]["resumes"], Value::Null, "a full conversation is not gone on with");
            },
        },
        Case {
            fault: "limit:+700",
            more: &["--attempts", "1"],
            check: |told| {
                assert_eq!(told.task["state"]["state"], "done", "{}", told.task);
                assert!(told.waits("limit") >= 1 && told.waits("backoff") == 0);
            },
        },
    ]);
}

fn crashed(told: &Told, sessions: usize) {
    told.is_done_after(sessions);
    assert_eq!(told.waits("backoff"), 1, "{}", told.fault);
    assert!(told.resumed(3), "{}", told.fault);
    assert_eq!(told.task["tally"]["failures"], 0, "progress clears the counter: {}", told.fault);
}

#[test]
fn output_of_any_kind_does_no_harm() {
    play(&[
        Case { fault: "flood:20000000@2", more: &[], check: |told| told.is_done_after(3) },
        Case { fault: "long-line:5000000@2", more: &[], check: |told| told.is_done_after(3) },
        Case { fault: "garbage", more: &[], check: |told| told.is_done_after(3) },
        Case { fault: "says:exit code 0", more: &[], check: |told| told.is_done_after(3) },
        Case {
            fault: "daemon@2",
            more: &[],
            check: |told| {
                told.is_done_after(3);
                assert_eq!(told.ended(2)["exit"]["code"], 0, "the end is the program's, not that of its output");
                assert_eq!(told.ended(2)["leftovers"], 3, "{}", told.ended(2));
            },
        },
        Case {
            fault: "says:exit code 0,exit:1",
            more: &["--attempts", "2"],
            check: |told| {
                let reason = told.asks("keeps_failing", 2);
                assert_eq!((&reason["sessions"], &reason["last"]), (&2.into(), &"exit code 1".into()));
                assert_eq!(told.waits("backoff"), 1);
            },
        },
    ]);
}

#[test]
fn lies_are_not_believed() {
    play(&[
        Case { fault: "lie@2", more: &[], check: |told| told.is_done_after(4) },
        Case {
            fault: "lie",
            more: &[],
            check: |told| {
                assert_eq!(told.asks("no_progress", 4)["sessions"], 3);
                assert!(told.list.contains("- [ ] Task 1"));
            },
        },
        Case { fault: "lie-delete@2", more: &[], check: refused_once },
        Case { fault: "lie-untick@3", more: &[], check: refused_once },
        Case { fault: "lie-garbage-list@2", more: &[], check: refused_once },
        Case {
            fault: "lie-delete",
            more: &[],
            check: |told| {
                told.asks("no_progress", 4);
                assert_eq!(told.refusals(), 3);
            },
        },
        Case { fault: "lie-untick", more: &[], check: |told| drop(told.asks("no_progress", 4).clone()) },
        Case {
            fault: "lie-garbage-list",
            more: &[],
            check: |told| {
                told.asks("no_progress", 4);
                assert_eq!(told.refusals(), 3);
            },
        },
    ]);
}

fn refused_once(told: &Told) {
    told.is_done_after(4);
    assert_eq!(told.refusals(), 1, "{}", told.fault);
}

#[test]
fn a_plan_that_is_none_is_asked_for_again_and_then_a_person() {
    play(&[
        Case { fault: "no-plan@1", more: &[], check: |told| told.is_done_after(4) },
        Case { fault: "half-plan@1", more: &[], check: |told| told.is_done_after(4) },
        Case {
            fault: "no-plan",
            more: &[],
            check: |told| {
                let why = told.asks("no_plan", 3)["why"].as_str().unwrap();
                assert!(why.contains("did not create task_list.md"), "{why}");
            },
        },
        Case {
            fault: "half-plan",
            more: &[],
            check: |told| {
                let why = told.asks("no_plan", 3)["why"].as_str().unwrap();
                assert!(why.contains("did not create progress.md"), "{why}");
            },
        },
        Case {
            fault: "auth",
            more: &[],
            check: |told| assert_eq!(told.asks("agent_refuses", 1)["why"], "not logged in"),
        },
        Case {
            fault: "crush",
            more: &[],
            check: |told| {
                let why = told.asks("agent_refuses", 1)["why"].as_str().unwrap();
                assert!(why.contains("unknown fault"), "its own words: {why}");
            },
        },
        Case { fault: "crash", more: &["--attempts", "3"], check: |told| drop(told.asks("keeps_failing", 6).clone()) },
        Case {
            fault: "exit:3",
            more: &["--attempts", "4"],
            check: |told| {
                told.asks("keeps_failing", 4);
                assert_eq!(told.waits("backoff"), 3);
            },
        },
    ]);
}

#[test]
fn silence_is_ended_within_its_limit() {
    play(&[
        Case { fault: "hang@2", more: &["--silence", "500ms"], check: |told| silenced(told, 15) },
        Case { fault: "hang-hard@2", more: &["--silence", "500ms"], check: |told| silenced(told, 9) },
        Case {
            fault: "stop@2",
            more: &["--silence", "500ms"],
            check: |told| {
                told.is_done_after(4);
                assert_eq!(told.ended(2)["stopped_by"], "silence");
            },
        },
        Case {
            fault: "hang",
            more: &["--wall", "700ms", "--attempts", "1"],
            check: |told| {
                told.asks("keeps_failing", 1);
                assert_eq!(told.ended(1)["stopped_by"], "wall");
            },
        },
    ]);
}

fn silenced(told: &Told, signal: i32) {
    told.is_done_after(4);
    assert_eq!(told.ended(2)["stopped_by"], "silence", "{}", told.fault);
    assert_eq!(told.ended(2)["exit"]["signal"], signal, "{}: {}", told.fault, told.ended(2));
    assert_eq!(told.waits("backoff"), 1, "a silent session counts as failed: {}", told.fault);
}

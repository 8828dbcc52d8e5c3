//! Tests of declared agents with lines alone: what is read, what the end comes to, and that no line is ever a panic.
//! No program is started here.

use longhaul_core::task::{Exit, Failure, Outcome, StopSignal, StopStep, Usage};
use longhaul_core::time::Time;
use serde_json::{Value, json};

use crate::chosen::{Chosen, choose};
use crate::launch::{LaunchSpec, Stdin};
use crate::reading::{Reader, Reading, Shown, TurnEnd};
use crate::tests::sample::{moment, spec};

fn agent(table: Value) -> Chosen {
    choose("mine", &[("mine".to_owned(), table)].into()).unwrap_or_else(|error| panic!("{error}"))
}

/// A dialect with everything in it.
fn full() -> Chosen {
    agent(json!({
        "argv": ["tool", "--json", ["--model", "{model}"], "--cd", "{cwd}"],
        "resume": ["tool", "--json", ["--model", "{model}"], "--cd", "{cwd}", "--resume={resume}"],
        "id": { "path": "/id", "when": { "/type": "start" } },
        "text": { "path": "/message/content/*/text", "when": { "/type": "say" } },
        "tool": { "path": "/name", "when": { "/type": "tool" } },
        "input_tokens": "/usage/in", "output_tokens": "/usage/out", "cost": "/usage/usd", "cumulative": true,
        "error": { "path": "/error", "when": { "/type": "error" } },
        "limit_until": "/resets", "done": { "when": { "/type": "end" } },
        "errors": [
            { "contains": "rate limit", "class": "limited" },
            { "contains": "log in", "class": "auth" },
            { "contains": "no such session", "class": "bad_conversation" },
        ],
        "set": { "NO_COLOR": "1" }, "stop": ["INT 1s", "TERM 5s"],
    }))
}

fn read(agent: &Chosen, reader: &mut Reader, line: &Value) -> Reading {
    agent.read_line(reader, &moment(), line.to_string().as_bytes())
}

fn end(agent: &Chosen, lines: &[Value], exit: &Exit, stderr: &str) -> Outcome {
    let mut reader = Reader::default();
    for line in lines {
        read(agent, &mut reader, line);
    }
    agent.read_end(&reader, exit, stderr).outcome
}

#[test]
fn a_session_is_started_and_resumed_as_declared() {
    let launch = full().launch(&LaunchSpec { model: Some("m"), ..spec() });
    assert_eq!(launch.argv, ["tool", "--json", "--model", "m", "--cd", "/project"]);
    assert_eq!((launch.stdin, launch.env_set.len()), (Stdin::Prompt, 1));
    assert_eq!(launch.stop[0], StopStep { signal: StopSignal::Interrupt, grace_ms: 1000 });
    let resumed = full().launch(&LaunchSpec { resumes: Some("c-1"), ..spec() });
    assert_eq!(resumed.argv, ["tool", "--json", "--cd", "/project", "--resume=c-1"]);
}

#[test]
fn a_prompt_can_come_as_a_file_and_an_agent_without_resume_starts_afresh() {
    let agent = agent(json!({ "argv": ["tool", "{prompt_file}", "{mark}"], "prompt": "file" }));
    let launch = agent.launch(&LaunchSpec { resumes: Some("c-1"), ..spec() });
    assert_eq!(launch.argv, ["tool", "/home/session/prompt", spec().mark]);
    assert_eq!(launch.stdin, Stdin::Null);
}

#[test]
fn every_declared_place_is_read() {
    let (agent, mut reader) = (full(), Reader::default());
    assert_eq!(
        read(&agent, &mut reader, &json!({ "type": "start", "id": "c-1" })).conversation.as_deref(),
        Some("c-1")
    );
    let said = json!({ "type": "say", "message": { "content": [{ "text": "a" }, { "n": 1 }, { "text": "b" }] } });
    assert_eq!(read(&agent, &mut reader, &said).shown, [Shown::Text("a".into()), Shown::Text("b".into())]);
    let tool = read(&agent, &mut reader, &json!({ "type": "tool", "name": "sh" }));
    assert_eq!(tool.shown, [Shown::Tool { name: "sh".into(), detail: String::new() }]);
    assert_eq!(reader.unknown_lines, 0);
    read(&agent, &mut reader, &json!({ "type": "other", "id": "c-2" }));
    agent.read_line(&mut reader, &moment(), b"noise");
    assert_eq!(reader.unknown_lines, 2);
}

#[test]
fn an_id_that_could_be_an_option_is_none() {
    for id in [json!("--last"), json!("a b"), json!(7), json!("../x")] {
        let reading = read(&full(), &mut Reader::default(), &json!({ "type": "start", "id": id }));
        assert_eq!(reading.conversation, None);
    }
}

#[test]
fn running_totals_become_what_is_new_over_sessions_too() {
    let (agent, mut reader) = (full(), Reader::default());
    read(&agent, &mut reader, &json!({ "type": "start", "id": "c-1" }));
    let usage = |reader: &mut Reader, input: u64, usd: f64| {
        read(&agent, reader, &json!({ "usage": { "in": input, "usd": usd } })).usage
    };
    assert_eq!(usage(&mut reader, 10, 0.5), Usage { input: Some(10), output: None, cost_micros: Some(500_000) });
    assert_eq!(usage(&mut reader, 25, 0.75), Usage { input: Some(15), output: None, cost_micros: Some(250_000) });
    let mut next = Reader::carrying(reader.carry.clone());
    read(&agent, &mut next, &json!({ "type": "start", "id": "c-1" }));
    assert_eq!(usage(&mut next, 30, 0.75).input, Some(5));
    let mut fresh = Reader::carrying(reader.carry);
    read(&agent, &mut fresh, &json!({ "type": "start", "id": "c-2" }));
    assert_eq!(usage(&mut fresh, 30, 0.1).input, Some(30), "another conversation has totals of its own");
    assert_eq!(usage(&mut fresh, 4, 0.1).input, Some(4), "a total that fell began again");
}

#[test]
fn amounts_per_line_are_taken_as_they_stand() {
    let agent = agent(json!({ "argv": ["x"], "output_tokens": "/out" }));
    let mut reader = Reader::default();
    for _ in 0..2 {
        assert_eq!(read(&agent, &mut reader, &json!({ "out": 7 })).usage.output, Some(7));
    }
    assert_eq!(read(&agent, &mut reader, &json!({ "out": -7 })).usage, Usage::default());
}

#[test]
fn success_is_exit_zero_and_done_where_that_is_declared() {
    let done = [json!({ "type": "end" })];
    assert_eq!(end(&full(), &done, &Exit::Code(0), ""), Outcome::Completed);
    assert_eq!(end(&full(), &[], &Exit::Code(0), ""), Outcome::Failed(Failure::Crashed));
    assert_eq!(end(&full(), &done, &Exit::Code(1), ""), Outcome::Failed(Failure::Crashed));
    assert_eq!(end(&full(), &done, &Exit::Unknown, ""), Outcome::Failed(Failure::Crashed));
    let bare = agent(json!({ "argv": ["x"] }));
    assert_eq!(end(&bare, &[], &Exit::Code(0), ""), Outcome::Completed);
    assert_eq!(end(&bare, &[], &Exit::Signal(9), ""), Outcome::Failed(Failure::Crashed));
    let why = Failure::Retryable("exit code 3: boom".into());
    assert_eq!(end(&bare, &[], &Exit::Code(3), "x\nboom\n"), Outcome::Failed(why));
}

#[test]
fn a_turn_that_is_over_and_is_stopped_then_was_completed() {
    let mut reader = Reader::default();
    read(&full(), &mut reader, &json!({ "type": "end" }));
    assert_eq!(reader.over, Some(TurnEnd::Done));
    for exit in [Exit::Signal(15), Exit::Code(143)] {
        assert_eq!(full().read_end(&reader, &exit, "").outcome, Outcome::Completed);
    }
    read(&full(), &mut reader, &json!({ "type": "tool", "name": "sh" }));
    assert_eq!(reader.over, None, "another turn has begun");
    assert_eq!(full().read_end(&reader, &Exit::Signal(15), "").outcome, Outcome::Failed(Failure::Crashed));
}

#[test]
fn errors_have_the_class_of_their_words_even_with_exit_zero() {
    let error = |text: &str| json!({ "type": "error", "error": text });
    let class = |text: &str, exit: &Exit| end(&full(), &[error(text), json!({ "type": "end" })], exit, "");
    assert_eq!(class("Rate limit, sorry", &Exit::Code(0)), Outcome::Failed(Failure::Limited(None)));
    assert_eq!(class("please log in", &Exit::Code(1)), Outcome::Failed(Failure::Auth("please log in".into())));
    assert_eq!(class("no such session", &Exit::Code(1)), Outcome::Failed(Failure::BadConversation));
    assert_eq!(class("overloaded", &Exit::Code(0)), Outcome::Failed(Failure::Retryable("overloaded".into())));
    assert_eq!(
        end(&full(), &[], &Exit::Code(1), "fatal: please log in\n"),
        class("fatal: please log in", &Exit::Code(1))
    );
}

#[test]
fn an_error_that_was_overcome_does_not_count() {
    let overcome = [json!({ "type": "error", "error": "rate limit" }), json!({ "type": "tool", "name": "sh" })];
    let done = [&overcome[..], &[json!({ "type": "end" })]].concat();
    assert_eq!(end(&full(), &done, &Exit::Code(0), ""), Outcome::Completed);
    assert_eq!(end(&full(), &overcome, &Exit::Code(1), ""), Outcome::Failed(Failure::Limited(None)));
}

#[test]
fn a_limit_with_its_time_wins_over_words() {
    let line = json!({ "type": "error", "error": "please log in", "resets": 20 });
    let until = Some(Time(moment().now.0 + 20_000_000));
    assert_eq!(end(&full(), &[line], &Exit::Code(0), ""), Outcome::Failed(Failure::Limited(until)));
}

#[test]
fn a_program_that_prints_plain_words_is_shown_and_classed_too() {
    let agent = agent(json!({ "argv": ["x"], "errors": [{ "contains": "quota", "class": "exhausted" }] }));
    let mut reader = Reader::default();
    let reading = agent.read_line(&mut reader, &moment(), "  Quota used up \u{1b}[0m".as_bytes());
    assert!(matches!(&reading.shown[..], [Shown::Text(text)] if text.starts_with("Quota")), "{reading:?}");
    assert!(matches!(agent.read_end(&reader, &Exit::Code(1), "").outcome, Outcome::Failed(Failure::Exhausted(_))));
    assert_eq!(agent.read_end(&reader, &Exit::Code(0), "").outcome, Outcome::Completed);
}

#[test]
fn hostile_lines_are_never_a_panic() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let lines: Vec<Vec<u8>> = vec![
        deep.into_bytes(),
        vec![b'x'; 5 << 20],
        "é".repeat(3000).into_bytes(),
        b"\xff\xfe\x00".to_vec(),
        json!({ "type": "error", "error": { "a": vec!["b"; 500] }, "resets": 1e308, "usage": { "in": 1e30, "usd": -1e308 } })
            .to_string()
            .into_bytes(),
        json!({ "type": "say", "message": { "content": vec![json!({ "text": "x" }); 10_000] } }).to_string().into_bytes(),
    ];
    let mut reader = Reader::default();
    for line in &lines {
        full().read_line(&mut reader, &moment(), line);
    }
    assert!(serde_json::to_string(&reader).unwrap().len() < 4096, "the memory stays small");
}

proptest::proptest! {
    #[test]
    fn garbage_never_panics(line: Vec<u8>, kind in "start|say|tool|error|end", text: String) {
        let mut reader = Reader::default();
        full().read_line(&mut reader, &moment(), &line);
        read(&full(), &mut reader, &json!({ "type": kind, "id": text, "error": text, "resets": text, "name": text }));
        full().read_end(&reader, &Exit::Code(1), &text);
    }
}

#[test]
fn unknown_names_list_built_in_and_declared_ones() {
    let declared = [("mine".to_owned(), json!({ "argv": ["x"] }))].into();
    let error = choose("mini", &declared).map(|_| panic!("there is none")).unwrap_err().to_string();
    assert!(error.contains("known: mine") && error.contains("codex"), "{error}");
    let broken = [("mine".to_owned(), json!({ "argv": 1 }))].into();
    let error = choose("mine", &broken).map(|_| panic!("it is none")).unwrap_err().to_string();
    assert!(error.contains("`mine`") && error.contains("`argv`"), "{error}");
}

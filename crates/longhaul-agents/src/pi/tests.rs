//! What the recorded samples do not show: how Pi is launched, and its other traps.
//! Each pitfall of its page has a test named after it.

use longhaul_core::task::{Delivered, Exit, Failure, Outcome, Sandbox, StopSignal};
use serde_json::{Value, json};

use super::Pi;
use crate::agent::{Agent, Transcript};
use crate::launch::{LaunchSpec, Stdin};
use crate::reading::{Reader, Reading, Shown, TurnEnd};
use crate::tests::every_launch::every_launch;
use crate::tests::sample::{moment, spec};
use crate::tests::strict_cli::StrictCli;

/// The options of `pi` 1.5.0 that make sense here. `--continue` and `--resume` are left out on purpose.
const PI: StrictCli = StrictCli {
    flags: &["-p"],
    valued: &["--mode", "--model", "--session", "--session-id", "--tools"],
    greedy: &[],
    subcommands: &[],
};

fn read(lines: &[Value]) -> (Reader, Vec<Reading>) {
    let mut reader = Reader::default();
    let read = |line: &Value| Pi.read_line(&mut reader, &moment(), line.to_string().as_bytes());
    let readings = lines.iter().map(read).collect();
    (reader, readings)
}

fn outcome(lines: &[Value], exit: i32, stderr: &str) -> Outcome {
    Pi.read_end(&read(lines).0, &Exit::Code(exit), stderr).outcome
}

fn session() -> Value {
    json!({"type": "session", "version": 3, "id": "sup-42"})
}

fn answer(reason: &str, error: Option<&str>) -> Value {
    let usage = json!({"input": 900, "output": 50, "cacheRead": 100, "cacheWrite": 5, "cost": {"total": 0.00348}});
    json!({"type": "message_end", "message":
        {"role": "assistant", "content": [], "stopReason": reason, "errorMessage": error, "usage": usage}})
}

fn settled() -> Value {
    json!({"type": "agent_settled", "aborted": false})
}

fn failed(error: &str) -> Outcome {
    outcome(&[session(), answer("error", Some(error)), settled()], 0, "")
}

#[test]
fn every_launch_is_accepted_by_the_program() {
    every_launch(|spec| {
        let launch = Pi.launch(spec);
        assert_eq!(launch.argv[0], "pi");
        assert!(PI.parse(&launch.argv[1..]).unwrap().positional.is_empty(), "{:?}", launch.argv);
        // An option with its value behind `=` would be taken for one of an extension.
        assert!(!launch.argv.iter().any(|argument| argument.contains('=')), "{:?}", launch.argv);
        assert_eq!((launch.stdin, launch.stop[0].signal), (Stdin::Prompt, StopSignal::Terminate));
    });
}

#[test]
fn what_follows_the_prompt_flag_is_an_option_or_it_would_be_the_prompt() {
    every_launch(|spec| assert_eq!(Pi.launch(spec).argv[1..3], ["-p", "--mode"]));
}

#[test]
fn the_id_is_ours_and_a_resume_refuses_one_it_does_not_know() {
    let extra = ["--thinking".to_owned(), "high".to_owned()];
    let first = LaunchSpec { model: Some("test/m1"), sandbox: Sandbox::ReadOnly, extra: &extra, ..spec() };
    let flags = ["--model", "test/m1", "--tools", "read,grep,find,ls", "--thinking", "high"];
    let argv = Pi.launch(&first).argv;
    assert_eq!(argv[1..6], ["-p", "--mode", "json", "--session-id", spec().session]);
    assert_eq!(argv[6..], flags);
    let again = LaunchSpec { resumes: Some("sup-42"), program: Some("/opt/pi"), ..first };
    let argv = Pi.launch(&again).argv;
    assert_eq!(argv[..6], ["/opt/pi", "-p", "--mode", "json", "--session", "sup-42"]);
    assert_eq!(argv[6..], flags);
}

#[test]
fn only_read_only_narrows_the_tools() {
    every_launch(|spec| {
        let narrowed = Pi.launch(spec).argv.iter().any(|argument| argument == "--tools");
        assert_eq!(narrowed, spec.sandbox == Sandbox::ReadOnly);
    });
}

#[test]
fn exit_code_zero_after_a_failed_call_is_a_failure_of_its_class() {
    let why = |text: &str| text.to_owned();
    for (said, class) in [
        ("401: {}", Failure::Auth(why("401: {}"))),
        ("403: {}", Failure::Auth(why("403: {}"))),
        ("400: {}", Failure::Configuration(why("400: {}"))),
        ("404: {}", Failure::Configuration(why("404: {}"))),
        ("402: {}", Failure::Exhausted(why("402: {}"))),
        ("429: {}", Failure::Limited(None)),
        ("400: {\"code\":\"context_length_exceeded\"}", Failure::ContextFull),
        ("500: {}", Failure::Retryable(why("500: {}"))),
        ("terminated", Failure::Retryable(why("terminated"))),
        ("Request timed out.", Failure::Retryable(why("Request timed out."))),
        ("Stream ended without finish_reason", Failure::Retryable(why("Stream ended without finish_reason"))),
        (
            "Provider finish_reason: content_filter",
            Failure::Configuration(why("Provider finish_reason: content_filter")),
        ),
    ] {
        assert_eq!(failed(said), Outcome::Failed(class), "{said}");
    }
    let quota = "429: You exceeded your current quota";
    assert_eq!(failed(quota), Outcome::Failed(Failure::Exhausted(quota.into())));
}

#[test]
fn a_turn_is_over_only_when_it_settled() {
    let lines = [session(), answer("stop", None), settled()];
    assert_eq!(outcome(&lines, 0, "Warning: noise"), Outcome::Completed);
    assert_eq!(outcome(&lines[..2], 0, ""), Outcome::Failed(Failure::Crashed));
    assert_eq!(outcome(&[session(), answer("toolUse", None), settled()], 0, ""), Outcome::Failed(Failure::Crashed));
    let cut = outcome(&[session(), answer("length", None), settled()], 0, "");
    assert!(matches!(cut, Outcome::Failed(Failure::Retryable(_))));
}

#[test]
fn no_prompt_is_no_success_although_it_exits_with_zero() {
    assert_eq!(outcome(&[session()], 0, ""), Outcome::Failed(Failure::Crashed));
}

#[test]
fn a_retry_takes_the_failure_back_and_a_kill_in_its_wait_does_not() {
    let retry = json!({"type": "auto_retry_start", "attempt": 1, "maxAttempts": 3, "delayMs": 2000,
                       "errorMessage": "429: slow down"});
    let mut lines = vec![session(), answer("error", Some("429: slow down")), retry];
    let (reader, readings) = read(&lines);
    assert_eq!(readings[2].shown, [Shown::Notice("retry 1 of 3 in 2 s: 429: slow down".into())]);
    let killed = Pi.read_end(&reader, &Exit::Signal(9), "").outcome;
    assert_eq!(killed, Outcome::Failed(Failure::Limited(None)));
    lines.push(json!({"type": "agent_start"}));
    assert_eq!(Pi.read_end(&read(&lines).0, &Exit::Signal(9), "").outcome, Outcome::Failed(Failure::Crashed));
}

#[test]
fn a_new_turn_takes_the_end_back() {
    let (reader, _) = read(&[session(), answer("stop", None), settled()]);
    assert_eq!(reader.over, Some(TurnEnd::Done));
    let (reader, _) = read(&[session(), answer("stop", None), settled(), json!({"type": "turn_start"})]);
    assert_eq!((reader.over, reader.verdict), (None, None));
}

#[test]
fn only_the_end_of_a_message_counts_its_usage() {
    let mut lines = vec![session(), answer("stop", None)];
    for kind in ["message_start", "message_update", "turn_end"] {
        lines.push(json!({"type": kind, "message": answer("stop", None)["message"]}));
    }
    lines.push(json!({"type": "agent_end", "messages": [answer("stop", None)["message"]]}));
    let (reader, readings) = read(&lines);
    let inputs: Vec<_> = readings.iter().filter_map(|reading| reading.usage.input).collect();
    assert_eq!((inputs, reader.unknown_lines), (vec![1005], 0));
    assert_eq!((readings[1].usage.output, readings[1].usage.cost_micros), (Some(50), Some(3480)));
}

#[test]
fn a_call_that_was_not_counted_is_unknown_not_zero() {
    let mut line = answer("error", Some("terminated"));
    line["message"]["usage"] = json!({"input": 0, "output": 0, "cacheRead": 0, "cost": {"total": 0}});
    assert_eq!(read(&[line]).1[0].usage, longhaul_core::task::Usage::default());
}

#[test]
fn lines_with_the_whole_prompt_and_odd_separators_are_read() {
    let mut line = answer("stop", None);
    line["message"]["content"] = json!([{"type": "text", "text": format!("a\u{2028}{}", "x".repeat(200_000))}]);
    let (reader, readings) = read(&[session(), line]);
    assert_eq!((reader.unknown_lines, readings[1].shown.len()), (0, 1));
}

#[test]
fn an_unknown_conversation_or_one_of_another_folder_is_a_bad_one() {
    let bad = Outcome::Failed(Failure::BadConversation);
    assert_eq!(outcome(&[], 1, "No session found matching 'sup-42'\n"), bad);
    let asks = "Session found in different project: /x\nFork this session into current directory? [y/N] ";
    assert_eq!(outcome(&[], 0, asks), bad);
}

#[test]
fn a_refusal_before_the_first_line_is_permanent() {
    let key = "No API key found for test";
    assert_eq!(outcome(&[], 1, key), Outcome::Failed(Failure::Auth(key.into())));
    let provider = "Unknown provider \"x\"";
    assert_eq!(outcome(&[], 1, provider), Outcome::Failed(Failure::Configuration(provider.into())));
    // On a node that is too old it dies of its own source.
    let node = "file.js:1\nSyntaxError: Unexpected token\n";
    let why = "SyntaxError: Unexpected token".to_owned();
    assert_eq!(outcome(&[], 1, node), Outcome::Failed(Failure::Configuration(why)));
    assert_eq!(outcome(&[session()], 1, provider), Outcome::Failed(Failure::Crashed));
    assert_eq!(outcome(&[], 143, ""), Outcome::Failed(Failure::Crashed));
}

#[test]
fn an_id_that_could_be_an_option_is_not_taken() {
    let (_, readings) = read(&[json!({"type": "session", "id": "--continue"}), session()]);
    let told: Vec<_> = readings.iter().map(|reading| reading.conversation.as_deref()).collect();
    assert_eq!(told, [None, Some("sup-42")]);
}

proptest::proptest! {
    #[test]
    fn garbage_never_panics(line: Vec<u8>) {
        Pi.read_line(&mut Reader::default(), &moment(), &line);
    }

    #[test]
    fn a_model_stays_one_argument(model: String) {
        let argv = Pi.launch(&LaunchSpec { model: Some(&model), ..spec() }).argv;
        assert_eq!(argv[6..], ["--model", model.as_str()]);
    }
}

#[test]
fn the_session_file_tells_whether_a_prompt_arrived() {
    let entry = |role: &str, text: &str| {
        json!({"type": "message", "message": {"role": role, "content": [{"type": "text", "text": text}]}}).to_string()
    };
    let old = json!({"type": "message", "message": {"role": "user", "content": "Session: t/1.4"}}).to_string();
    let lines =
        [session().to_string(), entry("user", "x\nSession: t/1.1\n"), entry("assistant", "Session: t/1.2"), old];
    let look = |lines: &[String], mark| Pi.delivered(&mut lines.iter().map(|line| line.as_bytes()), mark);
    assert_eq!(look(&lines, "t/1.1"), Delivered::Yes);
    assert_eq!(look(&lines, "t/1.4"), Delivered::Yes);
    assert_eq!(look(&lines, "t/1"), Delivered::No);
    assert_eq!(look(&lines, "t/1.2"), Delivered::No);
    assert_eq!(look(&[], "t/1.1"), Delivered::Unknown);
    let pattern = "sessions/*/*_sup-42.jsonl".to_owned();
    let file = Transcript::File { env: "PI_CODING_AGENT_DIR", default: ".pi/agent", pattern };
    assert_eq!(Pi.transcript("sup-42"), file);
}

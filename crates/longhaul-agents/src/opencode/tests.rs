//! What the recorded samples do not show: how OpenCode is launched, and its other traps.
//! Each pitfall of its page has a test named after it.

use longhaul_core::task::{Delivered, Exit, Failure, Outcome, Sandbox};
use serde_json::{Value, json};

use super::OpenCode;
use crate::agent::{Agent, Transcript};
use crate::launch::{LaunchSpec, Stdin};
use crate::reading::{Reader, Reading, Shown, TurnEnd};
use crate::tests::every_launch::every_launch;
use crate::tests::sample::{moment, server, spec};
use crate::tests::strict_cli::StrictCli;

/// The options of `opencode run` 1.18.33 that make sense here. `--continue` is left out on purpose.
const RUN: StrictCli = StrictCli {
    flags: &["--auto"],
    valued: &["--format", "--dir", "--model", "--session", "--title"],
    greedy: &[],
    subcommands: &[],
};

const OPENCODE: StrictCli = StrictCli { flags: &[], valued: &[], greedy: &[], subcommands: &[("run", &RUN)] };

fn read(lines: &[Value]) -> (Reader, Vec<Reading>) {
    let mut reader = Reader::default();
    let read = |line: &Value| OpenCode.read_line(&mut reader, &moment(), line.to_string().as_bytes());
    let readings = lines.iter().map(read).collect();
    (reader, readings)
}

fn outcome(lines: &[Value], exit: i32, stderr: &str) -> Outcome {
    OpenCode.read_end(&read(lines).0, &Exit::Code(exit), stderr).outcome
}

fn start() -> Value {
    json!({"type": "step_start", "sessionID": "ses_1", "part": {"type": "step-start"}})
}

fn finish(reason: &str) -> Value {
    json!({"type": "step_finish", "sessionID": "ses_1", "part": {"reason": reason}})
}

fn api_error(status: u16, body: &str) -> Value {
    json!({"type": "error", "sessionID": "ses_1",
           "error": {"name": "APIError", "data": {"message": "said", "statusCode": status, "responseBody": body}}})
}

fn named_error(name: &str, message: &str) -> Value {
    json!({"type": "error", "sessionID": "ses_1", "error": {"name": name, "data": {"message": message}}})
}

fn permissions(spec: &LaunchSpec<'_>) -> Option<String> {
    let set = OpenCode.launch(spec).env_set;
    set.into_iter().find_map(|(name, value)| (name == "OPENCODE_PERMISSION").then_some(value))
}

#[test]
fn our_server_is_one_more_in_the_users_configuration() {
    let merged = OpenCode.launch(&LaunchSpec { server: Some(server()), ..spec() }).env_merge;
    let variables = json!({ "LONGHAUL_HOME": "/my \"home\"", "LONGHAUL_SESSION": "s-1" });
    let own = json!({ "type": "local", "command": ["/opt/my bin/longhaul", "mcp"], "environment": variables, "enabled": true });
    let expected = json!({ "mcp": { "longhaul_session": own } });
    assert_eq!(merged, [("OPENCODE_CONFIG_CONTENT".to_owned(), expected)]);
}

#[test]
fn every_launch_is_accepted_by_the_program() {
    every_launch(|spec| {
        let launch = OpenCode.launch(spec);
        // Whatever else stands there would become a part of the prompt.
        assert_eq!(OPENCODE.parse(&launch.argv[1..]).unwrap().positional, ["run"]);
        assert!(launch.argv[2..].iter().all(|argument| argument.starts_with("--")), "{:?}", launch.argv);
        assert_eq!(launch.stdin, Stdin::Prompt);
    });
}

#[test]
fn all_flags_are_repeated_on_resume_in_the_same_directory() {
    let extra = ["--variant=high".to_owned()];
    let first = LaunchSpec { model: Some("test/m1"), sandbox: Sandbox::Full, extra: &extra, ..spec() };
    let flags = ["run", "--format=json", "--dir=/project", "--auto", "--model=test/m1"];
    let title = format!("--title={}", first.mark);
    assert_eq!(OpenCode.launch(&first).argv[1..6], flags);
    assert_eq!(OpenCode.launch(&first).argv[6..], [&title, "--variant=high"]);
    let again = LaunchSpec { resumes: Some("ses_1"), program: Some("/opt/opencode"), ..first };
    assert_eq!(OpenCode.launch(&again).argv[0], "/opt/opencode");
    assert_eq!(OpenCode.launch(&again).argv[1..6], flags);
    assert_eq!(OpenCode.launch(&again).argv[6..], ["--session=ses_1", "--variant=high"]);
}

#[test]
fn the_mark_is_the_title_so_that_a_session_killed_before_its_first_line_can_be_found() {
    let title = format!("--title={}", spec().mark);
    assert!(OpenCode.launch(&spec()).argv.contains(&title));
}

#[test]
fn rules_come_by_the_environment_because_a_repository_overrides_a_config_file() {
    let within = |sandbox| permissions(&LaunchSpec { sandbox, writable: Some("/elsewhere"), ..spec() });
    assert_eq!(within(Sandbox::Full), None);
    assert_eq!(within(Sandbox::ReadOnly).unwrap(), r#"{"bash":"deny","edit":"deny","external_directory":"deny"}"#);
    // The last matching rule wins.
    assert_eq!(within(Sandbox::Workspace).unwrap(), r#"{"external_directory":{"*":"deny","/elsewhere/*":"allow"}}"#);
    assert_eq!(permissions(&spec()).unwrap(), r#"{"external_directory":{"*":"deny"}}"#);
}

#[test]
fn only_full_approves_by_itself() {
    every_launch(|spec| {
        let approves = OpenCode.launch(spec).argv.iter().any(|argument| argument == "--auto");
        assert_eq!(approves, spec.sandbox == Sandbox::Full);
    });
}

#[test]
fn the_id_is_told_with_the_first_line_that_has_it_and_checked() {
    let bad = json!({"type": "step_start", "sessionID": "--last"});
    let (_, readings) = read(&[bad, start(), start()]);
    let told: Vec<_> = readings.iter().map(|reading| reading.conversation.as_deref()).collect();
    assert_eq!(told, [None, Some("ses_1"), None]);
}

#[test]
fn exit_code_zero_alone_is_no_success() {
    assert_eq!(outcome(&[start(), finish("stop")], 0, "warning: noise"), Outcome::Completed);
    assert!(matches!(outcome(&[start(), finish("tool-calls")], 0, ""), Outcome::Failed(Failure::Retryable(_))));
    assert!(matches!(outcome(&[start(), finish("length")], 0, ""), Outcome::Failed(Failure::Retryable(_))));
    assert_eq!(outcome(&[], 0, ""), Outcome::Failed(Failure::Crashed));
}

#[test]
fn an_empty_reply_is_a_finished_turn() {
    assert_eq!(outcome(&[start(), finish("stop")], 0, ""), Outcome::Completed);
}

#[test]
fn an_error_is_not_mended_by_a_later_stop() {
    let lines = [api_error(500, ""), start(), finish("stop")];
    assert_eq!(outcome(&lines, 0, ""), Outcome::Failed(Failure::Retryable("said".into())));
}

#[test]
fn the_third_finish_for_no_reason_in_a_row_is_hopeless_and_stays_so() {
    let unknown = || [start(), finish("unknown")];
    let lines: Vec<Value> = [unknown(), unknown()].concat();
    assert_eq!(read(&lines).0.over, None);
    let interrupted = [&lines[..], &[finish("tool-calls")], &lines[..]].concat();
    assert_eq!(read(&interrupted).0.over, None, "only in a row");
    let (reader, _) = read(&[&lines[..], &unknown(), &[start()]].concat());
    assert_eq!(reader.over, Some(TurnEnd::Unrecoverable));
    let stopped = OpenCode.read_end(&reader, &Exit::Signal(15), "").outcome;
    assert!(matches!(stopped, Outcome::Failed(Failure::Retryable(_))));
}

#[test]
fn a_new_step_takes_the_end_of_a_turn_back() {
    let (reader, _) = read(&[start(), finish("stop"), start()]);
    assert_eq!((reader.over, reader.verdict), (None, None));
}

#[test]
fn a_refused_tool_ends_the_turn_unless_another_step_starts() {
    let refused = |error: &str| {
        json!({"type": "tool_use", "sessionID": "ses_1",
               "part": {"tool": "bash", "state": {"status": "error", "input": {"command": "ls /"}, "error": error}}})
    };
    for error in ["The user rejected permission to use this", "The user has specified a rule which prevents you"] {
        let lines = [start(), refused(error), finish("tool-calls")];
        assert_eq!(outcome(&lines, 0, ""), Outcome::Failed(Failure::Permission("refused bash: ls /".into())));
        let (reader, _) = read(&[&lines[..], &[start(), finish("stop")]].concat());
        let end = OpenCode.read_end(&reader, &Exit::Code(0), "");
        assert_eq!((end.outcome, end.denied), (Outcome::Completed, vec!["bash: ls /".to_owned()]));
    }
    let lines = [start(), refused("exit code 1"), finish("tool-calls"), start(), finish("stop")];
    assert!(read(&lines).0.denied.is_empty());
}

#[test]
fn a_tool_the_program_does_not_have_is_nothing() {
    let invalid = json!({"type": "tool_use", "part": {"tool": "invalid", "state": {"status": "completed"}}});
    let (reader, readings) = read(&[invalid, json!({"type": "reasoning", "part": {}})]);
    assert_eq!(readings[0].shown, [Shown::Tool { name: "invalid".into(), detail: String::new() }]);
    assert_eq!((reader.unknown_lines, reader.verdict), (0, None));
}

#[test]
fn errors_have_the_class_of_their_status_body_and_name() {
    let said = || "said".to_owned();
    for (line, class) in [
        (api_error(401, ""), Failure::Auth(said())),
        (api_error(403, ""), Failure::Auth(said())),
        (api_error(400, ""), Failure::Configuration(said())),
        (api_error(404, ""), Failure::Configuration(said())),
        (api_error(402, ""), Failure::Exhausted(said())),
        (api_error(429, ""), Failure::Limited(None)),
        (api_error(429, r#"{"error":{"code":"insufficient_quota"}}"#), Failure::Exhausted(said())),
        (api_error(400, r#"{"error":{"code":"context_length_exceeded"}}"#), Failure::ContextFull),
        (api_error(503, ""), Failure::Retryable(said())),
        (named_error("ContextOverflowError", "said"), Failure::ContextFull),
        (named_error("UnknownError", "JSON parsing failed"), Failure::Retryable("JSON parsing failed".into())),
        (
            named_error("UnknownError", "The operation timed out."),
            Failure::Retryable("The operation timed out.".into()),
        ),
        (
            named_error("UnknownError", "Unexpected server error. Check"),
            Failure::Configuration("Unexpected server error. Check".into()),
        ),
    ] {
        assert_eq!(outcome(std::slice::from_ref(&line), 1, ""), Outcome::Failed(class), "{line}");
    }
}

#[test]
fn a_limit_ends_when_the_server_says() {
    let until = |told: &str| {
        let mut line = api_error(429, "");
        line["error"]["data"]["responseHeaders"] = json!({"retry-after": told});
        match outcome(&[line], 1, "") {
            Outcome::Failed(Failure::Limited(until)) => until.map(|time| time.rfc3339()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(until("3600").as_deref(), Some("2026-11-15T13:00:00Z"));
    assert_eq!(until("Sun, 15 Nov 2026 12:30:00 GMT").as_deref(), Some("2026-11-15T12:30:00Z"));
    assert_eq!(until("soon"), None);
}

#[test]
fn a_refusal_before_the_first_line_is_read_from_coloured_stderr() {
    let stderr = "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession not found\n";
    assert_eq!(outcome(&[], 1, stderr), Outcome::Failed(Failure::BadConversation));
    let stderr = "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mYou must provide a message or a command\n";
    let why = "Error: You must provide a message or a command".to_owned();
    assert_eq!(outcome(&[], 1, stderr), Outcome::Failed(Failure::Configuration(why)));
    assert_eq!(
        outcome(&[], 1, "database is locked\n"),
        Outcome::Failed(Failure::Retryable("database is locked".into()))
    );
    // Text of the conversation is no refusal.
    assert_eq!(outcome(&[start()], 1, "Session not found"), Outcome::Failed(Failure::Crashed));
}

#[test]
fn cached_input_and_reasoning_are_counted_and_no_price_is_no_zero() {
    let line = json!({"type": "step_finish", "part": {"reason": "stop", "cost": 0,
        "tokens": {"input": 900, "output": 43, "reasoning": 7, "cache": {"read": 100, "write": 5}}}});
    let (_, readings) = read(&[line, finish("stop")]);
    assert_eq!((readings[0].usage.input, readings[0].usage.output), (Some(1005), Some(50)));
    assert_eq!(readings[0].usage.cost_micros, None);
    assert_eq!(readings[1].usage.input, None);
}

#[test]
fn key_order_and_noise_do_not_matter() {
    let mut reader = Reader::default();
    let line = br#" { "part" : {"reason":"stop", "new": [1]}, "sessionID": "ses_1", "type" : "step_finish" } "#;
    OpenCode.read_line(&mut reader, &moment(), line);
    for noise in [&b"noise"[..], b"{", b"[]", b"\xff\xfe", br#"{"type":"new"}"#, br#"{"type":7}"#] {
        OpenCode.read_line(&mut reader, &moment(), noise);
    }
    assert_eq!((reader.verdict, reader.unknown_lines), (Some(Outcome::Completed), 6));
}

proptest::proptest! {
    #[test]
    fn garbage_never_panics(line: Vec<u8>) {
        OpenCode.read_line(&mut Reader::default(), &moment(), &line);
    }

    #[test]
    fn a_model_stays_one_argument(model: String) {
        let argv = OpenCode.launch(&LaunchSpec { model: Some(&model), ..spec() }).argv;
        assert_eq!(argv.iter().filter(|argument| **argument == format!("--model={model}")).count(), 1);
        assert_eq!(argv.len(), 6);
    }
}

#[test]
fn the_export_tells_whether_a_prompt_arrived() {
    let export = json!({"info": {"id": "ses_1", "title": "Session: t/1.3"}, "messages": [
        {"info": {"role": "user"}, "parts": [{"type": "text", "text": "# Executor\n\nSession: t/1.1\nGoal: x"}]},
        {"info": {"role": "assistant"}, "parts": [{"type": "text", "text": "Session: t/1.2"}]}]});
    let pretty = serde_json::to_string_pretty(&export).unwrap();
    let look = |text: &str, mark| OpenCode.delivered(&mut text.split('\n').map(str::as_bytes), mark);
    assert_eq!(look(&pretty, "t/1.1"), Delivered::Yes);
    assert_eq!(look(&pretty, "t/1"), Delivered::No);
    assert_eq!(look(&pretty, "t/1.2"), Delivered::No);
    assert_eq!(look(&pretty[..pretty.len() - 3], "t/1.1"), Delivered::Unknown);
    assert_eq!(look("", "t/1.1"), Delivered::Unknown);
    let export = vec!["export".to_owned(), "ses_1".to_owned()];
    assert_eq!(OpenCode.transcript("ses_1"), Transcript::Command { arguments: export });
}

//! What the recorded samples do not show: how Gemini is launched, and its other traps.
//! Each pitfall of its page has a test named after it.

use longhaul_core::task::{Delivered, Exit, Failure, Outcome, Sandbox};
use serde_json::{Value, json};

use super::Gemini;
use crate::agent::{Agent, Transcript};
use crate::launch::{LaunchSpec, Stdin};
use crate::reading::{Reader, Reading, Shown, TurnEnd};
use crate::tests::every_launch::every_launch;
use crate::tests::sample::{moment, spec};
use crate::tests::strict_cli::StrictCli;

/// The options of `gemini` 0.61.0 that make sense here.
const GEMINI: StrictCli = StrictCli {
    flags: &[],
    valued: &["--output-format", "--approval-mode", "--model", "--include-directories", "--resume"],
    greedy: &[],
    subcommands: &[],
};

fn read(lines: &[Value]) -> (Reader, Vec<Reading>) {
    let mut reader = Reader::default();
    let read = |line: &Value| Gemini.read_line(&mut reader, &moment(), line.to_string().as_bytes());
    let readings = lines.iter().map(read).collect();
    (reader, readings)
}

fn outcome(lines: &[Value], exit: i32, stderr: &str) -> Outcome {
    Gemini.read_end(&read(lines).0, &Exit::Code(exit), stderr).outcome
}

fn init() -> Value {
    json!({"type": "init", "session_id": "a6687f81-4d04", "model": "m1"})
}

fn result(error: &str) -> Value {
    json!({"type": "result", "status": "error", "error": {"type": "unknown", "message": error}})
}

fn success() -> Value {
    json!({"type": "result", "status": "success", "stats": {"input_tokens": 2000, "output_tokens": 100}})
}

#[test]
fn every_launch_is_accepted_by_the_program() {
    every_launch(|spec| {
        let launch = Gemini.launch(spec);
        assert_eq!(launch.argv[0], "gemini");
        assert!(GEMINI.parse(&launch.argv[1..]).unwrap().positional.is_empty(), "{:?}", launch.argv);
        assert!(launch.argv[1..].iter().all(|argument| argument.starts_with("--")), "{:?}", launch.argv);
        assert_eq!(launch.stdin, Stdin::Prompt);
        assert!(!launch.argv.contains(&"--resume=latest".to_owned()));
    });
}

#[test]
fn it_is_one_process_and_trusts_its_workspace() {
    every_launch(|spec| {
        let set = Gemini.launch(spec).env_set;
        for name in ["GEMINI_CLI_NO_RELAUNCH", "GEMINI_CLI_TRUST_WORKSPACE"] {
            assert!(set.contains(&(name.to_owned(), "true".to_owned())), "{name}");
        }
    });
}

#[test]
fn all_flags_are_repeated_on_resume() {
    let extra = ["--debug".to_owned()];
    let first = LaunchSpec { model: Some("m1"), writable: Some("/else where"), extra: &extra, ..spec() };
    let flags =
        ["--output-format=stream-json", "--approval-mode=yolo", "--model=m1", "--include-directories=/else where"];
    assert_eq!(Gemini.launch(&first).argv[1..5], flags);
    assert_eq!(Gemini.launch(&first).argv[5..], ["--debug"]);
    let again = LaunchSpec { resumes: Some("a6687f81-4d04"), program: Some("/opt/gemini"), ..first };
    assert_eq!(Gemini.launch(&again).argv[0], "/opt/gemini");
    assert_eq!(Gemini.launch(&again).argv[1..5], flags);
    assert_eq!(Gemini.launch(&again).argv[5..], ["--resume=a6687f81-4d04", "--debug"]);
}

#[test]
fn a_directory_with_a_comma_would_be_two() {
    let argv = Gemini.launch(&LaunchSpec { writable: Some("/a,b"), ..spec() }).argv;
    assert!(!argv.iter().any(|argument| argument.starts_with("--include-directories")));
}

#[test]
fn read_only_offers_no_tool_that_writes() {
    every_launch(|spec| {
        let default = Gemini.launch(spec).argv.contains(&"--approval-mode=default".to_owned());
        assert_eq!(default, spec.sandbox == Sandbox::ReadOnly);
    });
}

#[test]
fn exit_codes_above_127_are_http_statuses_and_no_signals() {
    let why = || "it said".to_owned();
    for (code, class) in [
        (144, Failure::Configuration(why())),
        (145, Failure::Auth(why())),
        (146, Failure::Exhausted(why())),
        (147, Failure::Auth(why())),
        (173, Failure::Limited(None)),
        (244, Failure::Retryable(why())),
        (247, Failure::Retryable(why())),
    ] {
        let told = outcome(&[init(), result("it said")], code, "");
        assert_eq!(told, Outcome::Failed(class.clone()), "{code}");
        assert_eq!(outcome(&[init()], code, "noise\nit said\n"), Outcome::Failed(class), "{code} without a result");
    }
    let killed = Gemini.read_end(&read(&[init()]).0, &Exit::Signal(17), "").outcome;
    assert_eq!(killed, Outcome::Failed(Failure::Crashed));
    assert_eq!(outcome(&[init()], 143, ""), Outcome::Failed(Failure::Crashed));
}

#[test]
fn exit_code_zero_is_no_success_without_a_result_that_says_so() {
    assert_eq!(outcome(&[init(), success()], 0, "MCP issues detected."), Outcome::Completed);
    assert_eq!(outcome(&[init()], 0, ""), Outcome::Failed(Failure::Crashed));
    assert_eq!(outcome(&[], 0, ""), Outcome::Failed(Failure::Crashed));
    let no_words = json!({"type": "result", "status": "error"});
    assert!(matches!(outcome(&[init(), no_words], 0, ""), Outcome::Failed(Failure::Retryable(_))));
}

#[test]
fn a_failed_reply_with_exit_code_zero_has_the_class_of_its_message() {
    let blocked = json!({"type": "error", "severity": "error", "message": "Blocked for SAFETY reasons"});
    let status = json!({"type": "result", "status": "error"});
    let lines = [init(), blocked, status];
    assert!(matches!(outcome(&lines, 0, ""), Outcome::Failed(Failure::Configuration(_))));
}

#[test]
fn a_status_400_may_be_a_full_conversation_or_a_wrong_key() {
    let api = |message: &str| {
        let answer = json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}});
        outcome(&[init(), result(&format!("[API Error: {answer}]"))], 144, "")
    };
    let full = "The input token count (9) exceeds the maximum number of tokens allowed (8).";
    assert_eq!(api(full), Outcome::Failed(Failure::ContextFull));
    let key = "API key not valid. Please pass a valid API key.";
    assert_eq!(api(key), Outcome::Failed(Failure::Auth(key.into())));
    assert_eq!(api("bad field"), Outcome::Failed(Failure::Configuration("bad field".into())));
}

#[test]
fn a_model_that_is_not_found_is_configuration_although_the_exit_code_is_one() {
    let answer = json!({"error": {"code": 404, "message": "models/x is not found"}});
    let told = outcome(&[init(), result(&format!("[API Error: {answer}]"))], 1, "");
    assert_eq!(told, Outcome::Failed(Failure::Configuration("models/x is not found".into())));
}

#[test]
fn refusals_before_the_first_line_have_codes_of_their_own() {
    let login = "Invalid auth method selected.";
    assert_eq!(outcome(&[], 41, login), Outcome::Failed(Failure::Auth(login.into())));
    for unknown in [
        "Error resuming session: Invalid session identifier \"x\".",
        "No previous sessions found for this project.",
        "Session ID \"x\" already exists.",
    ] {
        assert_eq!(outcome(&[], 42, unknown), Outcome::Failed(Failure::BadConversation));
    }
    let no_prompt = "No input provided via stdin.";
    assert_eq!(outcome(&[], 42, no_prompt), Outcome::Failed(Failure::Configuration(no_prompt.into())));
    assert!(matches!(outcome(&[], 55, "not trusted"), Outcome::Failed(Failure::Configuration(_))));
    assert!(matches!(outcome(&[], 1, "Unknown argument: x"), Outcome::Failed(Failure::Configuration(_))));
}

#[test]
fn repeated_pieces_of_a_retried_reply_are_not_put_together() {
    let piece = || json!({"type": "message", "role": "assistant", "content": "partial", "delta": true});
    let prompt = json!({"type": "message", "role": "user", "content": "do it"});
    let (_, readings) = read(&[init(), prompt, piece(), piece()]);
    let shown: Vec<_> = readings.iter().map(|reading| reading.shown.clone()).collect();
    let partial = vec![Shown::Text("partial".into())];
    assert_eq!(shown, [vec![], vec![], partial.clone(), partial]);
}

#[test]
fn usage_is_told_once_without_a_price_and_a_killed_run_has_none() {
    let (_, readings) = read(&[init(), success()]);
    let usage = readings[1].usage;
    assert_eq!((usage.input, usage.output, usage.cost_micros), (Some(2000), Some(100), None));
    assert_eq!(readings[0].usage.input, None);
}

#[test]
fn a_new_run_takes_the_end_back() {
    let (reader, _) = read(&[init(), success()]);
    assert_eq!(reader.over, Some(TurnEnd::Done));
    let (reader, _) = read(&[init(), success(), init()]);
    assert_eq!((reader.over, reader.verdict), (None, None));
}

#[test]
fn an_unknown_tool_is_nothing_and_an_unknown_line_is_counted() {
    let missing = json!({"type": "tool_result", "status": "error", "error": {"type": "tool_not_registered"}});
    let (reader, readings) = read(&[missing, json!({"type": "new"}), json!([])]);
    assert_eq!((reader.unknown_lines, reader.verdict), (2, None));
    assert!(readings[0].shown.is_empty());
}

proptest::proptest! {
    #[test]
    fn garbage_never_panics(line: Vec<u8>) {
        Gemini.read_line(&mut Reader::default(), &moment(), &line);
    }

    #[test]
    fn any_message_of_an_error_has_a_class(said: String, code: i32) {
        let told = outcome(&[init(), result(&said)], code, &said);
        assert!(matches!(told, Outcome::Failed(_)));
    }

    #[test]
    fn a_model_stays_one_argument(model: String) {
        let argv = Gemini.launch(&LaunchSpec { model: Some(&model), ..spec() }).argv;
        assert_eq!(argv[3..], [format!("--model={model}")]);
    }
}

#[test]
fn the_chat_file_tells_whether_a_prompt_arrived() {
    let lines = [
        json!({"sessionId": "a6687f81-4d04", "projectHash": "x"}),
        json!({"$set": {"messages": [{"id": "4", "type": "user", "content": [{"text": "Session: t/1.4"}]}]}}),
        json!({"id": "1", "type": "user", "content": [{"text": "x\nSession: t/1.1"}]}),
        json!({"id": "2", "type": "gemini", "content": "Session: t/1.2"}),
        json!({"id": "3", "type": "user", "content": "Session: t/1.3"}),
    ]
    .map(|line| line.to_string());
    let look = |lines: &[String], mark| Gemini.delivered(&mut lines.iter().map(|line| line.as_bytes()), mark);
    for (mark, delivered) in [
        ("t/1.1", Delivered::Yes),
        ("t/1.2", Delivered::No),
        ("t/1.3", Delivered::Yes),
        ("t/1.4", Delivered::Yes),
        ("t/1", Delivered::No),
    ] {
        assert_eq!(look(&lines, mark), delivered, "{mark}");
    }
    assert_eq!(look(&[], "t/1.1"), Delivered::Unknown);
    let broken = [lines[0].clone(), "{".to_owned()];
    assert_eq!(look(&broken, "t/1.9"), Delivered::Unknown);
    let pattern = ".gemini/tmp/*/chats/session-*-a6687f81.jsonl".to_owned();
    let file = Transcript::File { env: "GEMINI_CLI_HOME", default: "", pattern };
    assert_eq!(Gemini.transcript("a6687f81-4d04"), file);
}

/// As 0.61.0 leaves it when all of a turn's streams were cut off: `--resume` then finds no session.
#[test]
fn a_failed_turn_is_taken_back_with_its_prompt() {
    let context = json!({"id": "0", "type": "user", "content": [{"text": "<session_context>\nToday's date"}]});
    let prompt = |mark: &str| json!({"id": mark, "type": "user", "content": [{"text": format!("Session: {mark}\n")}]});
    let answer = json!({"id": "a", "type": "gemini", "content": "ok"});
    let look = |records: &[Value], mark: &str| {
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        Gemini.delivered(&mut lines.iter().map(|line| line.as_bytes()), mark)
    };
    let head = json!({"sessionId": "a6687f81-4d04", "kind": "main"});
    let first = [
        head.clone(),
        json!({"$set": {"messages": [context]}}),
        prompt("t/1.1"),
        json!({"$set": {"lastUpdated": "x"}}),
        json!({"$set": {"messages": [context], "lastUpdated": "x"}}),
    ];
    assert_eq!(look(&first[..4], "t/1.1"), Delivered::Yes, "while it lasts");
    assert_eq!(look(&first, "t/1.1"), Delivered::NoTranscript, "nothing is left to resume");
    let kept = json!({"$set": {"messages": [context, prompt("t/1.1"), answer]}});
    let second = [head, prompt("t/1.1"), answer, prompt("t/2.1"), kept];
    assert_eq!(look(&second, "t/2.1"), Delivered::No, "the conversation stands without it");
    assert_eq!(look(&second, "t/1.1"), Delivered::Yes);
}

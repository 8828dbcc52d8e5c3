//! The pitfalls of claude, each named: launching it, what its stream and exit do not say, and what its stderr does.
//! What the recorded samples show is in `tests/samples.rs`; here is what they do not.

use longhaul_core::task::{Failure, Outcome, StopSignal};
use longhaul_core::time::Time;
use serde_json::json;

use super::*;
use crate::launch::Stdin;
use crate::reading::{Shown, TurnEnd};
use crate::tests::sample::{moment, server, spec};
use crate::tests::strict_cli::{StrictCli, Understood};

const SESSION: &str = "a45164bb-e784-4697-b121-f3155d37e684";

/// What `claude -p` takes in 2.1.325, as far as anybody may want to give it.
const CLAUDE: StrictCli = StrictCli {
    flags: &[
        "-p",
        "--print",
        "--verbose",
        "--dangerously-skip-permissions",
        "--fork-session",
        "--bare",
        "--strict-mcp-config",
        "--no-session-persistence",
    ],
    valued: &[
        "--output-format",
        "--permission-mode",
        "--session-id",
        "--resume",
        "-r",
        "--model",
        "--max-turns",
        "--max-budget-usd",
        "--append-system-prompt",
        "--settings",
        "--effort",
        "--json-schema",
    ],
    greedy: &["--allowedTools", "--disallowedTools", "--add-dir", "--mcp-config", "--tools", "--betas"],
    subcommands: &[],
};

fn accepted(argv: &[String]) -> Result<Understood, String> {
    let understood = CLAUDE.parse(&argv[1..])?;
    let value =
        |name: &str| understood.options.iter().find(|(option, _)| option == name).map(|(_, value)| value.as_str());
    const MODES: [&str; 6] = ["acceptEdits", "auto", "bypassPermissions", "manual", "dontAsk", "plan"];
    if value("--output-format") == Some("stream-json") && (value("--verbose").is_none() || value("-p").is_none()) {
        return Err("stream-json requires --verbose and -p".into());
    }
    if value("--permission-mode").is_some_and(|mode| !MODES.contains(&mode)) {
        return Err("no such permission mode".into());
    }
    if value("--session-id").is_some() && value("--resume").is_some() && value("--fork-session").is_none() {
        return Err("--session-id beside --resume needs --fork-session".into());
    }
    if !understood.positional.is_empty() {
        return Err(format!("a prompt by argument: {:?}", understood.positional));
    }
    Ok(understood)
}

fn every_spec(check: impl Fn(&LaunchSpec<'_>)) {
    let extra = ["--effort".to_owned(), "high".to_owned()];
    for sandbox in [Sandbox::ReadOnly, Sandbox::Workspace, Sandbox::Full] {
        for network in [Network::AsSandboxed, Network::Open] {
            for resumes in [None, Some(SESSION)] {
                for writable in [None, Some("/project/.autonomous")] {
                    for user in [User::Plain, User::Root] {
                        let model = writable.map(|_| "opus");
                        check(&LaunchSpec {
                            sandbox,
                            network,
                            resumes,
                            model,
                            writable,
                            user,
                            extra: &extra,
                            server: writable.map(|_| server()),
                            ..spec()
                        });
                    }
                }
            }
        }
    }
}

fn read(lines: &[Value]) -> (Reader, Vec<Reading>) {
    let mut reader = Reader::default();
    let read = |line: &Value| Claude.read_line(&mut reader, &moment(), line.to_string().as_bytes());
    let readings = lines.iter().map(read).collect();
    (reader, readings)
}

fn outcome(reader: &Reader, exit: &Exit, stderr: &str) -> Outcome {
    Claude.read_end(reader, exit, stderr).outcome
}

fn at_start(stderr: &str) -> Failure {
    match outcome(&Reader::default(), &Exit::Code(1), stderr) {
        Outcome::Failed(failure) => failure,
        Outcome::Completed => panic!("completed"),
    }
}

fn init() -> Value {
    json!({"type": "system", "subtype": "init", "session_id": SESSION})
}

fn result(is_error: bool) -> Value {
    let usage = json!({"input_tokens": 100, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2, "output_tokens": 10});
    json!({"type": "result", "subtype": "success", "is_error": is_error, "session_id": SESSION, "total_cost_usd": 0.0012, "usage": usage})
}

fn failed_request(word: &str, said: &str) -> Value {
    json!({"type": "assistant", "error": word, "message": {"content": [{"type": "text", "text": said}]}})
}

#[test]
fn every_command_line_is_one_the_program_takes() {
    every_spec(|spec| {
        let launch = Claude.launch(spec);
        accepted(&launch.argv).unwrap_or_else(|error| panic!("{error}: {:?}", launch.argv));
        assert_eq!(launch.stdin, Stdin::Prompt);
    });
}

#[test]
fn the_strict_model_refuses_what_the_program_refuses() {
    for line in [
        "claude -p --output-format stream-json",
        "claude -p --nope",
        "claude -p --permission-mode=nope",
        "claude -p --session-id a --resume b",
        "claude -p --session-id",
    ] {
        let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
        assert!(accepted(&argv).is_err(), "{line}");
    }
}

#[test]
fn every_flag_is_repeated_on_resume_and_the_id_is_explicit() {
    every_spec(|spec| {
        let fresh = Claude.launch(&LaunchSpec { resumes: None, ..*spec }).argv;
        let resumed = Claude.launch(&LaunchSpec { resumes: Some(SESSION), ..*spec }).argv;
        let split = fresh.len() - 2;
        assert_eq!(fresh[..split], resumed[..split]);
        assert_eq!(fresh[split..], ["--session-id", spec.session]);
        assert_eq!(resumed[split..], ["--resume", SESSION]);
        assert!(!resumed.iter().any(|argument| argument == "--continue" || argument == "-c"));
    });
}

#[test]
fn the_whole_command_line_of_each_mode() {
    let line = |sandbox, network| Claude.launch(&LaunchSpec { sandbox, network, ..spec() }).argv[5..].join(" ");
    let id = format!("--session-id {}", spec().session);
    assert_eq!(
        line(Sandbox::ReadOnly, Network::AsSandboxed),
        format!(
            "--permission-mode=dontAsk --allowedTools=Read,Glob,Grep,TodoWrite,Task --disallowedTools=Edit,Write,NotebookEdit {id}"
        )
    );
    assert_eq!(
        line(Sandbox::Workspace, Network::Open),
        format!(
            "--permission-mode=acceptEdits --allowedTools=Bash,Read,Glob,Grep,TodoWrite,Task,WebFetch,WebSearch {id}"
        )
    );
    assert_eq!(line(Sandbox::Full, Network::AsSandboxed), format!("--dangerously-skip-permissions {id}"));
    let launch =
        Claude.launch(&LaunchSpec { program: Some("/opt/claude"), model: Some("m"), writable: Some("/t"), ..spec() });
    assert_eq!(launch.argv[..5], ["/opt/claude", "-p", "--output-format", "stream-json", "--verbose"]);
    assert!(launch.argv.contains(&"--model=m".to_owned()) && launch.argv.contains(&"--add-dir=/t".to_owned()));
}

#[test]
fn flags_that_take_a_list_swallow_nothing() {
    every_spec(|spec| {
        let argv = Claude.launch(spec).argv;
        let bare = |argument: &&String| CLAUDE.greedy.contains(&argument.as_str());
        assert_eq!(argv.iter().find(bare), None);
    });
}

#[test]
fn our_server_is_one_more_and_its_tools_need_no_approval() {
    let launch = |sandbox| Claude.launch(&LaunchSpec { sandbox, server: Some(server()), ..spec() });
    let line = launch(Sandbox::Workspace).argv.join(" ");
    let own = r#"{"mcpServers":{"longhaul_session":{"args":["mcp"],"command":"/opt/my bin/longhaul","env":{"LONGHAUL_HOME":"/my \"home\"","LONGHAUL_SESSION":"s-1"},"type":"stdio"}}}"#;
    assert!(line.contains(&format!("--mcp-config={own}")) && !line.contains("--strict-mcp-config"), "{line}");
    for sandbox in [Sandbox::Workspace, Sandbox::ReadOnly] {
        assert!(launch(sandbox).argv.iter().any(|word| word.ends_with(",mcp__longhaul_session")), "{sandbox:?}");
    }
    assert!(launch(Sandbox::Full).env_set.contains(&("CLAUDE_CODE_DISABLE_MCP_TASKS".into(), "1".into())));
}

#[test]
fn as_root_the_dangerous_mode_needs_exactly_one() {
    every_spec(|spec| {
        let set = Claude.launch(spec).env_set;
        let sandboxed = set.iter().find(|(name, _)| name == "IS_SANDBOX").map(|(_, value)| value.as_str());
        let needed = spec.sandbox == Sandbox::Full && spec.user == User::Root;
        assert_eq!(sandboxed, needed.then_some("1"));
        assert!(set.contains(&("DISABLE_AUTOUPDATER".into(), "1".into())));
        assert!(set.contains(&("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS".into(), "1".into())));
    });
}

#[test]
fn no_mode_promises_a_wall_that_is_not_there() {
    for sandbox in [Sandbox::ReadOnly, Sandbox::Workspace, Sandbox::Full] {
        assert!(ABOUT.modes.of(sandbox).warning.is_some());
    }
}

#[test]
fn it_is_stopped_by_terminate_whose_note_to_the_model_is_neutral() {
    assert_eq!(Claude.launch(&spec()).stop[0].signal, StopSignal::Terminate);
}

#[test]
fn a_subtype_of_success_is_no_verdict() {
    let (reader, _) = read(&[init(), failed_request("server_error", "API Error: 500"), result(true)]);
    assert_eq!(outcome(&reader, &Exit::Code(1), ""), Outcome::Failed(Failure::Retryable("API Error: 500".into())));
    let (reader, _) = read(&[init(), json!({"type": "result", "subtype": "success"})]);
    assert!(matches!(outcome(&reader, &Exit::Code(0), ""), Outcome::Failed(_)));
}

#[test]
fn exit_zero_without_a_result_is_no_success() {
    let (reader, _) = read(&[init()]);
    assert_eq!(outcome(&reader, &Exit::Code(0), ""), Outcome::Failed(Failure::Crashed));
    assert_eq!(outcome(&Reader::default(), &Exit::Unknown, ""), Outcome::Failed(Failure::Crashed));
}

#[test]
fn a_turn_that_was_over_stays_over_when_it_is_stopped() {
    let (reader, _) = read(&[init(), result(false)]);
    for exit in [Exit::Code(0), Exit::Code(143), Exit::Code(129), Exit::Signal(9), Exit::Signal(15)] {
        assert_eq!(outcome(&reader, &exit, ""), Outcome::Completed);
    }
    for exit in [Exit::Code(1), Exit::Code(137), Exit::Unknown, Exit::NeverStarted, Exit::NotExecutable("x".into())] {
        assert_eq!(outcome(&reader, &exit, ""), Outcome::Failed(Failure::Crashed));
    }
}

#[test]
fn with_more_than_one_result_the_last_counts() {
    let (reader, _) = read(&[init(), result(false), init()]);
    assert_eq!((reader.over, &reader.verdict), (None, &None));
    assert_eq!(outcome(&reader, &Exit::Code(143), ""), Outcome::Failed(Failure::Crashed));
    let (reader, _) = read(&[init(), result(false), init(), failed_request("billing_error", "no"), result(true)]);
    assert!(matches!(outcome(&reader, &Exit::Code(1), ""), Outcome::Failed(Failure::Exhausted(_))));
    let task = json!({"type": "system", "subtype": "task_notification"});
    let (reader, _) = read(&[init(), result(false), task]);
    assert_eq!(reader.over, Some(TurnEnd::Done));
}

fn refused_retry(status: u64) -> Value {
    json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "error_status": status, "error": "authentication_failed"})
}

#[test]
fn a_login_is_refused_after_three_refusals_in_a_row() {
    for status in [401, 403] {
        let (reader, readings) = read(&[init(), refused_retry(status), refused_retry(status), refused_retry(status)]);
        assert_eq!(reader.over, Some(TurnEnd::Unrecoverable));
        assert!(matches!(outcome(&reader, &Exit::Code(143), ""), Outcome::Failed(Failure::Auth(_))));
        assert!(matches!(&readings[1].shown[..], [Shown::Notice(_)]));
    }
}

#[test]
fn one_refused_request_says_nothing_about_the_login() {
    let answer = json!({"type": "assistant", "message": {"content": []}});
    let twice = || vec![refused_retry(401), refused_retry(401)];
    let (reader, _) = read(&[vec![init()], twice(), vec![answer], twice()].concat());
    assert_eq!((reader.over, &reader.verdict), (None, &None), "an answer came in between");
    let killed = outcome(&reader, &Exit::Signal(9), "");
    assert!(matches!(&killed, Outcome::Failed(Failure::Retryable(_))), "{killed:?}");
}

#[test]
fn a_usage_limit_is_shown_once() {
    let event = json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1_794_775_394, "rateLimitType": "five_hour"}});
    let mut failed = result(true);
    failed["result"] = json!("x");
    let shown = |lines: &[Value]| {
        let (_, readings) = read(lines);
        readings.into_iter().flat_map(|reading| reading.shown).collect::<Vec<_>>()
    };
    let shown_once = shown(&[init(), event, failed_request("rate_limit", "x"), failed.clone()]);
    assert!(matches!(&shown_once[..], [Shown::Notice(said)] if said.contains("five_hour")), "{shown_once:?}");
    let without_event = shown(&[init(), failed_request("rate_limit", "x"), failed]);
    assert_eq!(without_event, [Shown::Notice("x".into())]);
}

#[test]
fn what_it_was_waiting_for_when_it_was_killed() {
    let killed_during = |status: Value| {
        let retry = json!({"type": "system", "subtype": "api_retry", "error_status": status, "error": "x"});
        let (reader, _) = read(&[init(), retry]);
        assert_eq!(reader.over, None);
        outcome(&reader, &Exit::Signal(9), "")
    };
    assert_eq!(killed_during(json!(429)), Outcome::Failed(Failure::Limited(None)));
    assert!(matches!(killed_during(json!(529)), Outcome::Failed(Failure::Retryable(_))));
    assert!(matches!(killed_during(Value::Null), Outcome::Failed(Failure::Retryable(_))));
}

#[test]
fn a_limit_is_told_by_the_event_and_only_else_by_words() {
    let ended = |event: Option<Value>, narrower: &str| {
        let info = event.map(|info| json!({"type": "rate_limit_event", "rate_limit_info": info}));
        let mut failed = result(true);
        failed["result"] = json!("You've hit your limit · resets 8:43pm (UTC)");
        failed["api_error"] = json!(narrower);
        let lines =
            [vec![init()], info.into_iter().collect(), vec![failed_request("rate_limit", "x"), failed]].concat();
        let (reader, _) = read(&lines);
        outcome(&reader, &Exit::Code(1), "")
    };
    let limited = |time: Option<i64>| Outcome::Failed(Failure::Limited(time.map(|time| Time(time * 1_000_000))));
    let rejected = json!({"status": "rejected", "resetsAt": 1_794_775_394_u64});
    assert_eq!(ended(Some(rejected), "usage_limit_reached"), limited(Some(1_794_775_394)));
    assert_eq!(ended(None, "usage_limit_reached"), limited(Some(1_794_775_440)));
    assert_eq!(ended(Some(json!({"status": "rejected"})), "other"), limited(None));
    // A warning is a warning: it says when the window ends, not that anything is over.
    assert_eq!(
        ended(Some(json!({"status": "allowed_warning", "resetsAt": 1_794_775_394_u64})), "other"),
        limited(None)
    );
}

#[test]
fn tokens_are_of_the_turn_and_costs_of_the_conversation() {
    let mut second = result(false);
    second["total_cost_usd"] = json!(0.0018);
    let (reader, readings) = read(&[init(), result(false), init(), second]);
    let usage = |at: usize| (readings[at].usage.input, readings[at].usage.output, readings[at].usage.cost_micros);
    assert_eq!(usage(1), (Some(107), Some(10), Some(1200)));
    assert_eq!(usage(3), (Some(107), Some(10), Some(600)));
    let mut next = Reader::carrying(reader.carry.clone());
    let mut third = result(false);
    third["total_cost_usd"] = json!(0.002);
    assert_eq!(Claude.read_line(&mut next, &moment(), third.to_string().as_bytes()).usage.cost_micros, Some(200));
    let mut other = Reader::carrying(reader.carry);
    third["session_id"] = json!("another");
    assert_eq!(Claude.read_line(&mut other, &moment(), third.to_string().as_bytes()).usage.cost_micros, Some(2000));
    let (_, readings) = read(&[json!({"type": "result", "is_error": false, "total_cost_usd": -1})]);
    assert_eq!(readings[0].usage, longhaul_core::task::Usage::default());
}

#[test]
fn a_refused_tool_is_told_although_the_run_ends_well() {
    let denied =
        json!({"type": "system", "subtype": "permission_denied", "tool_name": "Bash", "message": "needs approval"});
    let mut ended = result(false);
    ended["permission_denials"] = json!([{"tool_name": "Bash", "tool_input": {"command": "rm x"}}]);
    let (reader, _) = read(&[init(), denied, ended.clone()]);
    let end = Claude.read_end(&reader, &Exit::Code(0), "");
    assert_eq!((end.outcome, end.denied), (Outcome::Completed, vec!["Bash: needs approval".to_owned()]));
    let (reader, _) = read(&[init(), ended]);
    assert_eq!(Claude.read_end(&reader, &Exit::Code(0), "").denied, ["Bash: rm x"]);
}

#[test]
fn a_refusal_at_start_is_only_on_stderr() {
    assert_eq!(at_start("No conversation found with session ID: 1\n"), Failure::BadConversation);
    assert_eq!(at_start("Error: --resume requires a valid session ID or session title when"), Failure::BadConversation);
    assert!(matches!(at_start("Error: Session ID x is already in use.\n"), Failure::Retryable(_)));
    for (stderr, expected) in [
        ("error: unknown option '--nope'\n(Did you mean --name?)\n", "error: unknown option '--nope'"),
        (
            "--dangerously-skip-permissions cannot be used with root/sudo privileges\n",
            "--dangerously-skip-permissions cannot be used with root/sudo privileges",
        ),
        (
            "Error: Invalid MCP configuration:\nMCP config file not found: /x\n",
            "Error: Invalid MCP configuration: MCP config file not found: /x",
        ),
        ("Error: Settings file not found: /x\n", "Error: Settings file not found: /x"),
        ("claude native binary not installed\n", "claude native binary not installed"),
    ] {
        assert_eq!(at_start(stderr), Failure::Configuration(expected.into()));
    }
    assert_eq!(at_start("something new\n"), Failure::Retryable("something new".into()));
    assert_eq!(at_start(""), Failure::Crashed);
}

#[test]
fn stderr_of_a_session_that_ran_says_nothing() {
    let (reader, _) = read(&[init()]);
    assert_eq!(outcome(&reader, &Exit::Code(1), "error: noise"), Outcome::Failed(Failure::Crashed));
    let (reader, _) = read(&[init(), result(false)]);
    assert_eq!(outcome(&reader, &Exit::Code(0), "error: noise"), Outcome::Completed);
}

#[test]
fn an_unknown_session_keeps_its_id_to_itself() {
    let errors = json!(["No conversation found with session ID: 1"]);
    let ended = json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "session_id": SESSION, "errors": errors});
    let (reader, readings) = read(&[ended]);
    assert_eq!(readings[0].conversation, None);
    assert_eq!(outcome(&reader, &Exit::Code(1), ""), Outcome::Failed(Failure::BadConversation));
}

#[test]
fn key_order_is_free_and_unknown_lines_are_counted() {
    let mut reader = Reader::default();
    let line = format!(r#" {{"session_id":"{SESSION}","subtype":"init","more":{{}},"type":"system"}} "#);
    let reading = Claude.read_line(&mut reader, &moment(), line.as_bytes());
    assert_eq!(reading.conversation.as_deref(), Some(SESSION));
    for line in [&b"noise"[..], b"{", br#"{"type":"new"}"#, b"[]", b"\xff"] {
        assert_eq!(Claude.read_line(&mut reader, &moment(), line), Reading::default());
    }
    assert_eq!(reader.unknown_lines, 5);
    Claude.read_line(&mut reader, &moment(), br#"{"type":"system","subtype":"ui_invalidate"}"#);
    assert_eq!(reader.unknown_lines, 5);
}

#[test]
fn only_what_the_user_said_delivers_a_prompt() {
    let mark = spec().mark;
    let prompt = format!("Go on.\n\nSession: {mark}\n");
    let user = |content: Value, sidechain: bool| {
        json!({"type": "user", "isSidechain": sidechain, "message": {"role": "user", "content": content}}).to_string()
    };
    let look = |lines: &[String]| Claude.delivered(&mut lines.iter().map(String::as_bytes), mark);
    assert_eq!(look(&[user(json!(prompt), false)]), Delivered::Yes);
    assert_eq!(look(&[user(json!([{"type": "text", "text": prompt}]), false)]), Delivered::Yes);
    assert_eq!(look(&[user(json!(prompt), true)]), Delivered::No);
    assert_eq!(look(&[user(json!([{"type": "tool_result", "content": prompt}]), false)]), Delivered::No);
    let queued = json!({"type": "queue-operation", "operation": "enqueue", "content": prompt}).to_string();
    let quoted = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": prompt}]}}).to_string();
    assert_eq!(look(&[queued, quoted]), Delivered::No);
    assert_eq!(look(&[]), Delivered::Unknown);
}

#[test]
fn the_transcript_is_found_whatever_the_directory_was() {
    let Transcript::File { env, default, pattern } = Claude.transcript(SESSION) else { panic!("no file") };
    assert_eq!((env, default, pattern), ("CLAUDE_CONFIG_DIR", ".claude", format!("projects/*/{SESSION}.jsonl")));
}

#[test]
fn what_people_see() {
    let said = json!({"type": "assistant", "message": {"content": [
        {"type": "text", "text": "I will."},
        {"type": "tool_use", "name": "Bash", "input": {"command": "ls\n-la", "description": "x"}},
        {"type": "tool_use", "name": "Write", "input": {"file_path": "/project/a", "content": "x"}},
    ]}});
    let (_, readings) = read(&[said, failed_request("billing_error", "Credit balance is too low")]);
    let tool = |name: &str, detail: &str| Shown::Tool { name: name.into(), detail: detail.into() };
    assert_eq!(readings[0].shown, [Shown::Text("I will.".into()), tool("Bash", "ls"), tool("Write", "/project/a")]);
    assert_eq!(readings[1].shown, [Shown::Notice("Credit balance is too low".into())]);
}

proptest::proptest! {
    #[test]
    fn garbage_never_panics(line: Vec<u8>, text: String, cost: f64) {
        let mut reader = Reader::default();
        Claude.read_line(&mut reader, &moment(), &line);
        let event = json!({"type": "result", "is_error": true, "api_error": "usage_limit_reached", "result": text, "total_cost_usd": cost});
        Claude.read_line(&mut reader, &moment(), event.to_string().as_bytes());
        Claude.read_end(&Reader::default(), &Exit::Code(1), &text);
    }
}

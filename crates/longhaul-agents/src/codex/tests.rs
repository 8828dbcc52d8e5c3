//! The pitfalls of codex, each named: launching it, what its stream does not say, and what its stderr does.
//! What the recorded samples show is in `tests/samples.rs`; here is what they do not.

use longhaul_core::task::{Delivered, Exit, Failure, Outcome, Sandbox};
use longhaul_core::time::Time;

use super::*;
use crate::launch::{Stdin, User};
use crate::reading::{Shown, TurnEnd};
use crate::tests::sample::{moment, server, spec};
use crate::tests::strict_cli::StrictCli;

const THREAD: &str = "01a1e094-4a55-7e31-a327-a686a02badae";

/// What `codex exec resume` takes in 0.166.0.
const RESUME: StrictCli = StrictCli {
    flags: &[
        "--json",
        "--skip-git-repo-check",
        "--last",
        "--all",
        "--ephemeral",
        "--strict-config",
        "--worktree",
        "--ignore-user-config",
        "--ignore-rules",
        "--dangerously-bypass-approvals-and-sandbox",
    ],
    valued: &["-c", "--config", "--enable", "--disable", "-i", "--image", "-m", "--model", "-o", "--output-schema"],
    greedy: &[],
    subcommands: &[],
};

/// What `codex exec` takes in 0.166.0.
const EXEC: StrictCli = StrictCli {
    flags: &[
        "--json",
        "--skip-git-repo-check",
        "--ephemeral",
        "--strict-config",
        "--oss",
        "--worktree",
        "--approve-for-me",
        "--ignore-user-config",
        "--ignore-rules",
        "--dangerously-bypass-approvals-and-sandbox",
    ],
    valued: &[
        "-c",
        "--config",
        "--enable",
        "--disable",
        "-m",
        "--model",
        "-p",
        "--profile",
        "-s",
        "--sandbox",
        "-C",
        "--cd",
        "--add-dir",
        "--output-schema",
        "-o",
        "--output-last-message",
        "--color",
        "--local-provider",
    ],
    greedy: &["-i", "--image"],
    subcommands: &[("resume", &RESUME)],
};

const CODEX: StrictCli = StrictCli { flags: &[], valued: &[], greedy: &[], subcommands: &[("exec", &EXEC)] };

fn every_spec(check: impl Fn(&LaunchSpec<'_>)) {
    let extra = ["--profile".to_owned(), "fast".to_owned()];
    for sandbox in [Sandbox::ReadOnly, Sandbox::Workspace, Sandbox::Full] {
        for network in [Network::AsSandboxed, Network::Open] {
            for resumes in [None, Some(THREAD)] {
                for model in [None, Some("gpt-5.5")] {
                    for writable in [None, Some("/project/.autonomous")] {
                        for extra in [&[][..], &extra] {
                            let server = writable.map(|_| server());
                            check(&LaunchSpec { sandbox, network, resumes, model, writable, extra, server, ..spec() });
                        }
                    }
                }
            }
        }
    }
}

fn read(lines: &[&str]) -> (Reader, Vec<Reading>) {
    let mut reader = Reader::default();
    let readings = lines.iter().map(|line| Codex.read_line(&mut reader, &moment(), line.as_bytes())).collect();
    (reader, readings)
}

fn outcome(reader: &Reader, exit: &Exit, stderr: &str) -> Outcome {
    Codex.read_end(reader, exit, stderr).outcome
}

fn at_start(stderr: &str) -> Failure {
    match outcome(&Reader::default(), &Exit::Code(1), stderr) {
        Outcome::Failed(failure) => failure,
        Outcome::Completed => panic!("completed"),
    }
}

#[test]
fn every_command_line_is_one_the_program_takes() {
    every_spec(|spec| {
        let launch = Codex.launch(spec);
        let understood = CODEX.parse(&launch.argv[1..]).unwrap_or_else(|error| panic!("{error}: {:?}", launch.argv));
        let expected: &[&str] = if spec.resumes.is_some() { &["exec", "resume", THREAD, "-"] } else { &["exec", "-"] };
        assert_eq!(understood.positional, expected);
    });
}

#[test]
fn our_server_is_one_more_and_its_tools_need_no_approval() {
    let argv = Codex.launch(&LaunchSpec { server: Some(server()), ..spec() }).argv;
    let ours: Vec<&str> = argv.iter().filter_map(|word| word.strip_prefix("mcp_servers.longhaul_session.")).collect();
    let env = r#"env={LONGHAUL_HOME="/my \"home\"",LONGHAUL_SESSION="s-1"}"#;
    let approved = r#"default_tools_approval_mode="approve""#;
    let program = r#"command="/opt/my bin/longhaul""#;
    assert_eq!(ours, [program, r#"args=["mcp"]"#, env, r#"env_vars=["API_TOKEN"]"#, approved]);
    assert!(argv.contains(&"features.goals=false".to_owned()), "no loop beside ours");
    let runner = Codex.launch(&LaunchSpec { server: Some(server()), argument: Some("do it"), ..spec() }).argv;
    assert!(!runner.iter().any(|word| word.contains("mcp_servers")), "as the shell runner starts it");
}

#[test]
fn the_strict_model_refuses_what_the_program_refuses() {
    for line in
        ["exec resume ID -C / -", "exec resume ID -s read-only -", "exec resume --add-dir / ID -", "exec --cwd / -"]
    {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        assert!(CODEX.parse(&arguments).is_err(), "{line}");
    }
}

#[test]
fn nothing_is_inherited_on_resume_so_every_flag_is_repeated() {
    every_spec(|spec| {
        let mut resumed = Codex.launch(&LaunchSpec { resumes: Some(THREAD), ..*spec }).argv;
        let fresh = Codex.launch(&LaunchSpec { resumes: None, ..*spec }).argv;
        let at = resumed.iter().position(|argument| argument == "resume").unwrap();
        assert_eq!(resumed.drain(at..at + 2).collect::<Vec<_>>(), ["resume", THREAD]);
        assert_eq!(resumed, fresh);
    });
}

#[test]
fn the_prompt_comes_by_stdin_and_the_last_session_is_never_guessed() {
    every_spec(|spec| {
        let launch = Codex.launch(spec);
        assert_eq!((launch.argv.last().map(String::as_str), launch.stdin), (Some("-"), Stdin::Prompt));
        assert!(!launch.argv.iter().any(|argument| argument == "--last"));
    });
}

#[test]
fn the_sandbox_is_always_named_because_the_default_can_write_nothing() {
    let mode = |sandbox| Codex.launch(&LaunchSpec { sandbox, ..spec() }).argv[7].clone();
    assert_eq!(mode(Sandbox::ReadOnly), "read-only");
    assert_eq!(mode(Sandbox::Workspace), "workspace-write");
    assert_eq!(mode(Sandbox::Full), "danger-full-access");
    assert!(ABOUT.modes.of(Sandbox::Full).warning.is_some());
}

#[test]
fn the_network_is_opened_only_where_that_is_all_it_means() {
    every_spec(|spec| {
        let opened = Codex.launch(spec).argv.iter().any(|argument| argument.ends_with("network_access=true"));
        assert_eq!(opened, spec.network == Network::Open && spec.sandbox == Sandbox::Workspace);
    });
}

#[test]
fn the_whole_command_line_of_a_first_and_a_resumed_session() {
    let launch = Codex.launch(&LaunchSpec {
        resumes: Some(THREAD),
        model: Some("m"),
        writable: Some("/tasks"),
        program: Some("/opt/codex"),
        network: Network::Open,
        user: User::Root,
        ..spec()
    });
    let expected = format!(
        "/opt/codex exec --json --skip-git-repo-check -C /project -s workspace-write -c approval_policy=\"never\" \
         -c check_for_update_on_startup=false -c features.unbounded_connection_retries=false -c features.goals=false \
         -c sandbox_workspace_write.network_access=true --add-dir /tasks --model=m resume {THREAD} -"
    );
    assert_eq!(launch.argv.join(" "), expected);
    assert_eq!(Codex.launch(&spec()).argv[0], "codex");
}

#[test]
fn a_refused_connection_is_not_tried_for_ever() {
    assert!(Codex.launch(&spec()).argv.contains(&"features.unbounded_connection_retries=false".to_owned()));
}

#[test]
fn a_backtrace_would_hide_the_reason_so_it_is_off_and_tolerated() {
    assert_eq!(Codex.launch(&spec()).env_unset, ["RUST_BACKTRACE"]);
    let stderr = "Error: Model provider `x` not found\n\nStack backtrace:\n   0: <unknown>\n";
    assert_eq!(at_start(stderr), Failure::Configuration("Error: Model provider `x` not found".into()));
}

#[test]
fn the_home_must_exist_and_not_lie_in_temp() {
    let home = ABOUT.homes[0];
    assert!(home.env == "CODEX_HOME" && home.must_exist && home.not_in_temp.is_some());
}

#[test]
fn it_is_stopped_by_interrupt_because_terminate_leaves_children() {
    assert_eq!(Codex.launch(&spec()).stop[0].signal, StopSignal::Interrupt);
}

#[test]
fn a_refusal_at_start_is_only_on_stderr() {
    let unknown = "Error: thread/resume: thread/resume failed: no rollout found for thread id 1 (code -32600)\n";
    assert_eq!(at_start(unknown), Failure::BadConversation);
    assert_eq!(at_start("Error: failed to read session metadata of x"), Failure::BadConversation);
    assert!(matches!(at_start("Error: thread already has an active writer (code -32600)"), Failure::Retryable(_)));
    assert!(matches!(at_start("required MCP servers failed to initialize: sup: x"), Failure::Configuration(_)));
    assert!(matches!(at_start("Not inside a trusted directory and --skip"), Failure::Configuration(_)));
    let config = at_start("Error loading config.toml:\n/home/u/config.toml:1:5: key with no value\n");
    assert_eq!(
        config,
        Failure::Configuration("Error loading config.toml: /home/u/config.toml:1:5: key with no value".into())
    );
    assert!(matches!(at_start("Error: something new"), Failure::Retryable(_)));
    assert_eq!(at_start(" \n"), Failure::Crashed);
}

#[test]
fn a_bad_command_line_is_exit_two() {
    let stderr =
        "error: unexpected argument '-C' found\n\nUsage: codex exec resume\n\nFor more information, try '--help'.\n";
    let expected = Failure::Configuration("error: unexpected argument '-C' found".into());
    assert_eq!(outcome(&Reader::default(), &Exit::Code(2), stderr), Outcome::Failed(expected));
}

#[test]
fn stderr_of_a_session_that_ran_says_nothing() {
    let started = format!(r#"{{"type":"thread.started","thread_id":"{THREAD}"}}"#);
    let (reader, _) = read(&[&started, r#"{"type":"turn.started"}"#]);
    assert_eq!(outcome(&reader, &Exit::Code(1), "no rollout found"), Outcome::Failed(Failure::Crashed));
    let (reader, _) = read(&[&started, r#"{"type":"turn.completed","usage":{}}"#]);
    assert_eq!(outcome(&reader, &Exit::Code(0), "Error: noise"), Outcome::Completed);
}

#[test]
fn exit_zero_without_a_verdict_is_no_success() {
    assert_eq!(outcome(&Reader::default(), &Exit::Code(0), ""), Outcome::Failed(Failure::Crashed));
    assert_eq!(outcome(&Reader::default(), &Exit::Unknown, ""), Outcome::Failed(Failure::Crashed));
}

#[test]
fn a_turn_that_was_over_stays_over_when_it_is_stopped() {
    let (reader, _) = read(&[r#"{"type":"turn.completed","usage":{}}"#]);
    for exit in [Exit::Code(0), Exit::Code(1), Exit::Signal(9)] {
        assert_eq!(outcome(&reader, &exit, ""), Outcome::Completed);
    }
    for exit in [Exit::Code(101), Exit::Unknown, Exit::NeverStarted, Exit::NotExecutable("x".into())] {
        assert_eq!(outcome(&reader, &exit, ""), Outcome::Failed(Failure::Crashed));
    }
}

#[test]
fn a_new_turn_takes_the_end_back() {
    let (reader, _) = read(&[r#"{"type":"turn.completed","usage":{}}"#, r#"{"type":"turn.started"}"#]);
    assert_eq!((reader.over, &reader.verdict), (None, &None));
    assert_eq!(outcome(&reader, &Exit::Code(0), ""), Outcome::Failed(Failure::Crashed));
}

#[test]
fn reconnecting_is_news_and_forgotten_once_it_goes_on() {
    let reconnecting = r#"{"type":"error","message":"Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"}"#;
    let (reader, readings) = read(&[reconnecting]);
    assert!(matches!(&readings[0].shown[..], [Shown::Notice(_)]));
    assert_eq!((reader.over, &reader.verdict), (None, &None));
    assert_eq!(outcome(&reader, &Exit::Signal(9), ""), Outcome::Failed(Failure::Limited(None)));
    let (reader, _) =
        read(&[reconnecting, r#"{"type":"item.started","item":{"type":"command_execution","command":"ls"}}"#]);
    assert_eq!(outcome(&reader, &Exit::Signal(9), ""), Outcome::Failed(Failure::Crashed));
}

#[test]
fn an_item_of_type_error_is_a_warning() {
    let (reader, readings) =
        read(&[r#"{"type":"item.completed","item":{"type":"error","message":"Model metadata not found"}}"#]);
    assert_eq!(readings[0].shown, [Shown::Notice("Model metadata not found".into())]);
    assert_eq!((reader.verdict, reader.unknown_lines), (None, 0));
}

#[test]
fn usage_is_cumulative_over_the_thread() {
    let started = format!(r#"{{"thread_id":"{THREAD}","type":"thread.started"}}"#);
    let completed = |input, output| {
        format!(
            r#"{{"type":"turn.completed","usage":{{"input_tokens":{input},"cached_input_tokens":90,"output_tokens":{output}}}}}"#
        )
    };
    let (reader, readings) = read(&[&started, &completed(200, 20), &completed(300, 25)]);
    assert_eq!(
        (readings[1].usage.input, readings[1].usage.output, readings[1].usage.cost_micros),
        (Some(200), Some(20), None)
    );
    assert_eq!((readings[2].usage.input, readings[2].usage.output), (Some(100), Some(5)));
    let mut next = Reader::carrying(reader.carry);
    for line in [&started, &completed(310, 25)] {
        let reading = Codex.read_line(&mut next, &moment(), line.as_bytes());
        assert!(reading.usage.input.is_none_or(|input| input == 10));
    }
    let (_, readings) = read(&[r#"{"type":"turn.completed"}"#]);
    assert_eq!(readings[0].usage.total(), None);
}

#[test]
fn a_structured_reset_wins_over_words_and_an_old_one_is_not_believed() {
    let failed = r#"{"type":"turn.failed","error":{"message":"You’ve hit your usage limit. Try again later or try again at 8:24 PM."}}"#;
    let limits = |percent, resets: u64| {
        format!(
            r#"{{"type":"event_msg","payload":{{"type":"token_count","rate_limits":{{"primary":{{"used_percent":{percent},"resets_at":{resets}}},"secondary":{{"used_percent":100.0,"resets_at":{}}}}}}}}}"#,
            resets + 50
        )
    };
    let complete = r#"{"type":"event_msg","payload":{"type":"task_complete","error":{"message":"You’ve hit your usage limit. Or try again at 8:24 PM.","codex_error_info":"usage_limit_exceeded"}}}"#;
    let until = |limits: &str, stream: &[&str]| {
        let (mut reader, _) = read(stream);
        for line in [limits, complete] {
            Codex.read_transcript(&mut reader, &moment(), line.as_bytes());
        }
        outcome(&reader, &Exit::Code(1), "")
    };
    let limited = |time: i64| Outcome::Failed(Failure::Limited(Some(Time(time * 1_000_000))));
    assert_eq!(until(&limits(40.0, 1_794_775_010), &[failed]), limited(1_794_775_060));
    assert_eq!(until(&limits(100.0, 1_794_775_010), &[failed]), limited(1_794_775_060));
    assert_eq!(until(&limits(100.0, 1_794_700_000), &[failed]), limited(1_794_774_300));
    // The tail of an older turn says nothing about a session that was killed before its own.
    assert_eq!(until(&limits(100.0, 1_794_775_010), &[]), Outcome::Failed(Failure::Crashed));
}

#[test]
fn a_provider_with_its_own_key_is_found_in_the_configuration() {
    let keys = Codex.provider_keys().unwrap();
    let text = "model = \"x\"\n[model_providers.mine]\n  env_key = \"MINE_KEY\" # of mine\nenv_key_instructions = \"x\"\nenv_key=\"B\"\nenv_key = 7\n";
    assert_eq!(keys.names_in(text), ["MINE_KEY", "B"]);
    assert_eq!(keys.names_in("env_key"), Vec::<String>::new());
}

#[test]
fn tokens_of_a_turn_that_did_not_complete_are_in_the_transcript() {
    let started = r#"{"type":"thread.started","thread_id":"t-1"}"#;
    let recorded = |input: u64, output: u64| {
        format!(
            r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{input},"output_tokens":{output}}}}}}}}}"#
        )
    };
    let used = |reader: &mut Reader, lines: &[String]| {
        let read = lines.iter().map(|line| Codex.read_transcript(reader, &moment(), line.as_bytes()));
        read.fold(Usage::default(), Usage::plus)
    };
    let (mut first, _) = read(&[started]);
    let usage = used(&mut first, &[recorded(100, 10), recorded(250, 20)]);
    assert_eq!((usage.input, usage.output), (Some(250), Some(20)));
    let mut next = Reader::carrying(first.carry);
    Codex.read_line(&mut next, &moment(), started.as_bytes());
    let usage = used(&mut next, &[recorded(100, 10), recorded(250, 20), recorded(300, 20)]);
    assert_eq!((usage.input, usage.output), (Some(50), None), "older records of the thread were counted");
    let completed = r#"{"type":"turn.completed","usage":{"input_tokens":310,"output_tokens":25}}"#;
    let reading = Codex.read_line(&mut next, &moment(), completed.as_bytes());
    assert_eq!(reading.usage.total(), Some(15), "the stream continues from there");
    assert_eq!(used(&mut next, &[recorded(310, 25)]), Usage::default(), "what the stream reported counts once");
}

#[test]
fn a_refused_request_that_is_sent_again_says_nothing_about_the_login() {
    let retried = r#"{"type":"error","message":"Reconnecting... 1/5 (unexpected status 401 Unauthorized: x)"}"#;
    let (reader, _) = read(&[r#"{"type":"turn.started"}"#, retried]);
    let killed = outcome(&reader, &Exit::Signal(9), "");
    assert!(matches!(&killed, Outcome::Failed(Failure::Retryable(_))), "{killed:?}");
    let gave_up = r#"{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: x"}}"#;
    let (reader, _) = read(&[r#"{"type":"turn.started"}"#, retried, gave_up]);
    assert!(matches!(outcome(&reader, &Exit::Code(1), ""), Outcome::Failed(Failure::Auth(_))));
}

#[test]
fn every_structured_cause_has_its_class() {
    let class = |cause: &str, message: &str| {
        let (mut reader, _) = read(&[r#"{"type":"turn.failed","error":{"message":"x"}}"#]);
        let line = format!(
            r#"{{"type":"event_msg","payload":{{"type":"task_complete","error":{{"message":"{message}","codex_error_info":{cause}}}}}}}"#
        );
        Codex.read_transcript(&mut reader, &moment(), line.as_bytes());
        outcome(&reader, &Exit::Code(1), "")
    };
    let failed = Outcome::Failed;
    let x = || "x".to_owned();
    assert_eq!(
        class(r#"{"response_too_many_failed_attempts":{"http_status_code":429}}"#, "x"),
        failed(Failure::Limited(None))
    );
    assert_eq!(class(r#"{"http_connection_failed":{"http_status_code":401}}"#, "x"), failed(Failure::Auth(x())));
    assert_eq!(class(r#"{"http_connection_failed":{"http_status_code":null}}"#, "x"), failed(Failure::Retryable(x())));
    assert_eq!(class(r#""rate_limit_exceeded""#, "x"), failed(Failure::Limited(None)));
    assert_eq!(class(r#""usage_limit_exceeded""#, "x"), failed(Failure::Limited(None)));
    let quota = "Quota exceeded. Check";
    assert_eq!(class(r#""usage_limit_exceeded""#, quota), failed(Failure::Exhausted(quota.into())));
    assert_eq!(class(r#""server_overloaded""#, "x"), failed(Failure::Retryable(x())));
    assert_eq!(class(r#""internal_server_error""#, "x"), failed(Failure::Retryable(x())));
    assert_eq!(class(r#""model_not_found""#, "x"), failed(Failure::Configuration(x())));
    assert_eq!(class(r#""context_window_exceeded""#, "x"), failed(Failure::ContextFull));
    assert_eq!(
        class(r#""other""#, "Missing environment variable: `K`."),
        failed(Failure::Auth("Missing environment variable: `K`.".into()))
    );
}

#[test]
fn an_id_that_could_be_an_option_or_a_path_is_not_taken() {
    for id in ["--last", "../x", "a b", ""] {
        let (_, readings) = read(&[&format!(r#"{{"type":"thread.started","thread_id":"{id}"}}"#)]);
        assert_eq!(readings[0].conversation, None);
    }
}

#[test]
fn killed_right_after_turn_started_the_prompt_is_not_in_the_history() {
    let mark = "0190c5a4-0000-7c3a-8f00-0123456789ab/1.1";
    let said = |role: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"Go\n\nSession: {mark}\n"}}]}}}}"#
        )
    };
    let item = format!(
        r#"{{"type":"event_msg","payload":{{"type":"item_completed","item":{{"type":"UserMessage","content":[{{"type":"text","text":"Session: {mark}"}}]}}}}}}"#
    );
    let meta = r#"{"type":"session_meta","payload":{"id":"x"}}"#.to_owned();
    let look = |lines: &[String]| Codex.delivered(&mut lines.iter().map(String::as_bytes), mark);
    assert_eq!(look(std::slice::from_ref(&meta)), Delivered::No);
    assert_eq!(look(&[meta.clone(), said("assistant"), said("developer")]), Delivered::No);
    assert_eq!(look(&[meta.clone(), said("user")]), Delivered::Yes);
    assert_eq!(look(&[meta.clone(), item]), Delivered::Yes);
    assert_eq!(look(&[meta, said("user")[..60].to_owned()]), Delivered::Unknown);
}

#[test]
fn the_transcript_is_found_by_the_thread() {
    let Transcript::File { env, default, pattern } = Codex.transcript(THREAD) else { panic!("no file") };
    assert_eq!((env, default), ("CODEX_HOME", ".codex"));
    assert_eq!(pattern, format!("sessions/*/*/*/rollout-*-{THREAD}.jsonl"));
}

#[test]
fn unknown_events_are_counted_and_unknown_items_passed_over() {
    let (reader, _) =
        read(&["noise", r#"{"type":"new"}"#, "{}", r#"{"type":"item.completed","item":{"type":"new"}}"#, "[]"]);
    assert_eq!(reader.unknown_lines, 4);
    let deep = format!(r#"{{"type":{}1{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(read(&[&deep]).0.unknown_lines, 1);
}

#[test]
fn what_people_see() {
    let (_, readings) = read(&[
        r#"{"type":"item.completed","item":{"type":"agent_message","text":"I will."}}"#,
        r#"{"type":"item.started","item":{"type":"command_execution","command":"/bin/bash -lc 'ls'"}}"#,
        r#"{"type":"item.completed","item":{"type":"file_change","changes":[{"path":"/project/a","kind":"add"}]}}"#,
        r#"{"type":"turn.failed","error":{"message":"Selected model is at capacity."}}"#,
    ]);
    let shown: Vec<Shown> = readings.into_iter().flat_map(|reading| reading.shown).collect();
    let tool = |name: &str, detail: &str| Shown::Tool { name: name.into(), detail: detail.into() };
    let expected = [
        Shown::Text("I will.".into()),
        tool("shell", "ls"),
        tool("patch", "add /project/a"),
        Shown::Notice("Selected model is at capacity.".into()),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn a_failed_turn_is_over_too() {
    let (reader, _) = read(&[r#"{"type":"turn.failed"}"#]);
    assert_eq!(reader.over, Some(TurnEnd::Done));
    assert!(matches!(outcome(&reader, &Exit::Code(0), ""), Outcome::Failed(Failure::Retryable(_))));
}

proptest::proptest! {
    #[test]
    fn garbage_never_panics(line: Vec<u8>, text: String) {
        let mut reader = Reader::default();
        Codex.read_line(&mut reader, &moment(), &line);
        let event = serde_json::json!({"type": "turn.failed", "error": {"message": text}});
        Codex.read_line(&mut reader, &moment(), event.to_string().as_bytes());
        Codex.read_end(&Reader::default(), &Exit::Code(1), &text);
    }
}

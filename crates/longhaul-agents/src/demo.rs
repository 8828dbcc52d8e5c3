//! The demo agent: a small program inside this binary, so that everything can be tried without an agent or a key.
//!
//! It plans and works like a real one and speaks its own JSONL dialect. This file only launches and reads it; the program itself is
//! in the binary crate. Tests run another program in its place that fails on request, so this file reads more failures than the demo has.

use std::borrow::Cow;

use serde::Deserialize;

use longhaul_core::task::{Exit, Failure, Outcome, Sandbox, Usage};
use longhaul_core::time::Time;

use crate::about::{About, Cost, Ids, Login, Mode, Modes, Version, words};
use crate::agent::Agent;
use crate::launch::{Launch, LaunchSpec, Network, TERMINATE};
use crate::reading::{Moment, Reader, Reading, Shown, TurnEnd};
use crate::text::last_line;

/// The number of SIGTERM.
const TERMINATED: i32 = 15;

/// The built-in demo agent.
pub(crate) struct Demo;

static ABOUT: About = About {
    name: words("demo"),
    summary: words("built in: simulates a small project step by step, needs no key"),
    program: None,
    env: Cow::Borrowed(&[]),
    ids: Ids::Captured,
    homes: &[],
    cost: Cost::Told,
    modes: Modes {
        read_only: Mode::plain("no effect: the demo has no sandbox"),
        workspace: Mode::plain("the demo has no sandbox, and writes only in the workspace"),
        full: Mode::plain("the same"),
        network: words("uses none"),
    },
    version: Version { arguments: Cow::Borrowed(&[]), known: &[] },
    login: Login::NotNeeded,
    install_help: None,
    login_help: None,
};

/// One line of the dialect. Unknown types and fields are tolerated: a newer program must not break an older reader.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Session { id: String },
    Text { text: String },
    Tool { name: String, detail: String },
    Usage { input: u64, output: u64, cost_micros: Option<u64> },
    Limit { until_ms: Option<i64> },
    Error { class: String, message: String },
    Done,
}

impl Agent for Demo {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn launch(&self, spec: &LaunchSpec<'_>) -> Launch {
        let mut argv = vec![spec.own_program.to_owned(), "demo-agent".to_owned()];
        if let Some(id) = spec.resumes {
            argv.extend(["--resume".to_owned(), id.to_owned()]);
        }
        if let Some(model) = spec.model {
            argv.extend(["--model".to_owned(), model.to_owned()]);
        }
        if spec.sandbox != Sandbox::default() {
            argv.extend(["--sandbox".to_owned(), spec.sandbox.to_string()]);
        }
        if spec.network == Network::Open {
            argv.push("--network".to_owned());
        }
        Launch::new(argv, TERMINATE)
    }

    fn read_line(&self, reader: &mut Reader, _: &Moment<'_>, line: &[u8]) -> Reading {
        let Ok(line) = serde_json::from_slice::<Line>(line) else { return reader.unknown_line() };
        match line {
            Line::Session { id } => Reading { conversation: Some(id), ..Reading::default() },
            Line::Text { text } => Reading::showing(Shown::Text(text)),
            Line::Tool { name, detail } => Reading::showing(Shown::Tool { name, detail }),
            Line::Usage { input, output, cost_micros } => {
                let usage = Usage { input: Some(input), output: Some(output), cost_micros };
                Reading { usage, ..Reading::default() }
            }
            Line::Limit { until_ms } => {
                let until = until_ms.map(|millis| Time(millis.saturating_mul(1000)));
                reader.verdict = Some(Outcome::Failed(Failure::Limited(until)));
                Reading::showing(Shown::Notice("usage limit reached".into()))
            }
            Line::Error { class, message } => {
                reader.verdict = Some(Outcome::Failed(failure(&class, &message)));
                Reading::showing(Shown::Notice(message))
            }
            Line::Done => {
                reader.verdict = Some(Outcome::Completed);
                reader.over = Some(TurnEnd::Done);
                Reading::default()
            }
        }
    }

    fn outcome(&self, reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
        match (exit, &reader.verdict) {
            (Exit::Code(0), Some(verdict)) => verdict.clone(),
            (Exit::Code(2), _) => Outcome::Failed(refused(stderr_tail)),
            (_, Some(Outcome::Failed(failure))) => Outcome::Failed(failure.clone()),
            // Its turn was over and it stayed, so it was told to stop.
            (Exit::Signal(TERMINATED), Some(Outcome::Completed)) => Outcome::Completed,
            // A turn that ended and then died, or died without a verdict: the process did not do what it said.
            (Exit::Code(_) | Exit::Signal(_) | Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown, _) => {
                Outcome::Failed(Failure::Crashed)
            }
        }
    }
}

fn refused(stderr_tail: &str) -> Failure {
    Failure::Configuration(last_line(stderr_tail).unwrap_or_else(|| "refused its command line".to_owned()))
}

fn failure(class: &str, message: &str) -> Failure {
    match class {
        "bad_conversation" => Failure::BadConversation,
        "auth" => Failure::Auth(message.to_owned()),
        "context_full" => Failure::ContextFull,
        "permission" => Failure::Permission(message.to_owned()),
        "exhausted" => Failure::Exhausted(message.to_owned()),
        _ => Failure::Retryable(message.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample::{moment, spec};

    fn read(lines: &[&str]) -> (Reader, Vec<Reading>) {
        let mut reader = Reader::default();
        let readings = lines.iter().map(|line| Demo.read_line(&mut reader, &moment(), line.as_bytes())).collect();
        (reader, readings)
    }

    #[test]
    fn a_finished_turn_is_completed_only_with_exit_zero() {
        let (reader, readings) = read(&[r#"{"type":"session","id":"d-1"}"#, r#"{"type":"done"}"#]);
        assert_eq!(readings[0].conversation.as_deref(), Some("d-1"));
        assert_eq!(Demo.read_end(&reader, &Exit::Code(0), "").outcome, Outcome::Completed);
        assert_eq!(reader.over, Some(TurnEnd::Done));
        assert_eq!(Demo.read_end(&reader, &Exit::Signal(15), "").outcome, Outcome::Completed, "it was told to stop");
        assert_eq!(Demo.read_end(&Reader::default(), &Exit::Signal(15), "").outcome, Outcome::Failed(Failure::Crashed));
        assert_eq!(Demo.read_end(&reader, &Exit::Signal(9), "").outcome, Outcome::Failed(Failure::Crashed));
        assert_eq!(Demo.read_end(&reader, &Exit::Unknown, "").outcome, Outcome::Failed(Failure::Crashed));
    }

    #[test]
    fn no_verdict_is_a_crash_even_with_exit_zero() {
        let (reader, _) = read(&[r#"{"type":"text","text":"all done, exit code 0"}"#]);
        assert_eq!(Demo.read_end(&reader, &Exit::Code(0), "").outcome, Outcome::Failed(Failure::Crashed));
    }

    #[test]
    fn errors_inside_the_stream_count_with_exit_zero() {
        let (reader, _) = read(&[r#"{"type":"limit","until_ms":5}"#]);
        assert_eq!(
            Demo.read_end(&reader, &Exit::Code(0), "").outcome,
            Outcome::Failed(Failure::Limited(Some(Time(5000))))
        );
        let (reader, _) = read(&[r#"{"type":"error","class":"bad_conversation","message":"no such session"}"#]);
        assert_eq!(Demo.read_end(&reader, &Exit::Code(1), "").outcome, Outcome::Failed(Failure::BadConversation));
    }

    #[test]
    fn a_refused_command_line_is_permanent() {
        let outcome = Demo.read_end(&Reader::default(), &Exit::Code(2), "noise\nunknown option --x\n\n").outcome;
        assert_eq!(outcome, Outcome::Failed(Failure::Configuration("unknown option --x".into())));
    }

    #[test]
    fn key_order_blanks_and_noise_do_not_matter() {
        let (reader, readings) = read(&[
            r#"  { "id" : "x", "extra": [1], "type": "session" } "#,
            "noise",
            "{",
            "\u{feff}{}",
            r#"{"type":"new"}"#,
        ]);
        assert_eq!(readings[0].conversation.as_deref(), Some("x"));
        assert_eq!(reader.unknown_lines, 4);
    }

    proptest::proptest! {
        #[test]
        fn garbage_never_panics(line: Vec<u8>) {
            Demo.read_line(&mut Reader::default(), &moment(), &line);
        }
    }

    #[test]
    fn every_flag_is_repeated_on_resume() {
        let spec = LaunchSpec { resumes: Some("d-1"), model: Some("m"), ..spec() };
        assert_eq!(Demo.launch(&spec).argv, ["/proc/self/exe", "demo-agent", "--resume", "d-1", "--model", "m"]);
        let spec = LaunchSpec { sandbox: Sandbox::Full, network: Network::Open, model: None, ..spec };
        let argv = Demo.launch(&spec).argv;
        assert_eq!(argv[2..], ["--resume", "d-1", "--sandbox", "full", "--network"]);
    }
}

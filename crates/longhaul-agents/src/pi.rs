//! Pi: how it is launched, and where it keeps its conversations. Its stream and its failures are read in
//! `events.rs`. Facts are those of version 1.5.0, recorded in `samples/pi`; 0.87.1 behaves the same.
//!
//! In its JSON mode the exit code is 0 even when the model could not be reached: only the stream shows the failure.

use std::borrow::Cow;

use serde_json::Value;

use longhaul_core::task::{Delivered, Exit, Outcome, Sandbox};

use crate::about::{About, Cost, Ids, Login, Mode, Modes, Version, Words, words};
use crate::agent::{Agent, Transcript};
use crate::launch::{Interactive, Launch, LaunchSpec, TERMINATE};
use crate::mark;
use crate::reading::{Moment, Reader, Reading};

mod events;
#[cfg(test)]
mod tests;

/// The Pi command line.
pub(crate) struct Pi;

const ENV: &[Words] = &[
    words("PI_CODING_AGENT_DIR"),
    words("ANTHROPIC_API_KEY"),
    words("ANTHROPIC_OAUTH_TOKEN"),
    words("OPENAI_API_KEY"),
    words("GEMINI_API_KEY"),
    words("OPENROUTER_API_KEY"),
];

static ABOUT: About = About {
    name: words("pi"),
    summary: words("Pi, with its own configured providers and models"),
    program: Some(words("pi")),
    env: Cow::Borrowed(ENV),
    ids: Ids::Preset,
    homes: &[],
    cost: Cost::Told,
    modes: Modes {
        read_only: Mode::warned(
            "`--tools read,grep,find,ls`: pi has no tool that writes or runs commands",
            "this only limits the tools and is not a sandbox; pi can read files outside the workspace",
        ),
        workspace: Mode::warned(
            "the same as full: pi has neither a sandbox nor permissions",
            "nothing keeps pi in the workspace: all its tools run as you",
        ),
        full: Mode::warned("all tools, without asking", "everything runs as you, without a sandbox and without asking"),
        network: words("no effect: pi has no network sandbox, so its tools can always use the network"),
    },
    version: Version::of(&["1.5.0", "0.87.1"]),
    login: Login::Unknown,
    install_help: Some("`npm install -g @earendil-works/pi-coding-agent`"),
    login_help: None,
};

impl Agent for Pi {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn launch(&self, spec: &LaunchSpec<'_>) -> Launch {
        // SIGTERM is the one signal on which it also kills what its tools started; SIGINT leaves them alive.
        Launch::new(arguments(spec), TERMINATE).set("PI_OFFLINE", "1")
    }

    fn read_line(&self, reader: &mut Reader, _: &Moment<'_>, line: &[u8]) -> Reading {
        events::read(reader, line)
    }

    fn outcome(&self, reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
        events::outcome(reader, exit, stderr_tail)
    }

    fn interactive(&self, conversation: &str, spec: &LaunchSpec<'_>) -> Option<Interactive> {
        let mut argv = spec.command("pi", &["--session", conversation]);
        argv.extend(modes(spec));
        Some(Interactive::new(argv))
    }

    fn transcript(&self, conversation: &str) -> Transcript {
        Transcript::File {
            env: "PI_CODING_AGENT_DIR",
            default: ".pi/agent",
            pattern: format!("sessions/*/*_{conversation}.jsonl"),
        }
    }

    fn delivered(&self, lines: &mut dyn Iterator<Item = &[u8]>, mark: &str) -> Delivered {
        mark::delivered(lines, mark, user_texts)
    }
}

/// The program knows no `--flag=value`, and takes what follows `-p` for a prompt unless it looks like an option.
fn arguments(spec: &LaunchSpec<'_>) -> Vec<String> {
    // Unlike `--session-id`, `--session` refuses an id it does not know, so a lost conversation is noticed.
    let (option, id) = spec.resumes.map_or(("--session-id", spec.session), |id| ("--session", id));
    let mut argv = spec.command("pi", &["-p", "--mode", "json", option, id]);
    argv.extend(modes(spec));
    argv.extend_from_slice(spec.extra);
    argv
}

/// The task's choices.
fn modes(spec: &LaunchSpec<'_>) -> Vec<String> {
    let mut arguments = Vec::new();
    if let Some(model) = spec.model {
        arguments.extend(["--model".to_owned(), model.to_owned()]);
    }
    if spec.sandbox == Sandbox::ReadOnly {
        arguments.extend(["--tools", "read,grep,find,ls"].map(String::from));
    }
    arguments
}

fn user_texts(entry: &Value) -> Vec<&str> {
    let message = &entry["message"];
    if entry["type"] != "message" || message["role"] != "user" {
        return Vec::new();
    }
    if let Some(text) = message["content"].as_str() {
        return vec![text];
    }
    let parts = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

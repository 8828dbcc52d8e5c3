//! Gemini CLI: how it is launched, and where it keeps its conversations. Its stream and its failures are read in
//! `events.rs`. Facts are those of version 0.61.0, recorded in `samples/gemini`.
//!
//! Exit codes say little: 0 also after a failed reply and after SIGTERM, and the HTTP status modulo 256 for errors of the API.

use std::borrow::Cow;

use longhaul_core::task::{Delivered, Exit, Outcome, Sandbox};

use crate::about::{About, Cost, Ids, Login, Mode, Modes, Version, Words, words};
use crate::agent::{Agent, Transcript};
use crate::launch::{Interactive, Launch, LaunchSpec, TERMINATE};
use crate::reading::{Moment, Reader, Reading};

mod chat;
mod events;
#[cfg(test)]
mod tests;

/// The Gemini command line.
pub(crate) struct Gemini;

const ENV: &[Words] = &[
    words("GEMINI_API_KEY"),
    words("GOOGLE_API_KEY"),
    words("GOOGLE_GEMINI_BASE_URL"),
    words("GOOGLE_GENAI_USE_VERTEXAI"),
    words("GOOGLE_CLOUD_PROJECT"),
    words("GOOGLE_CLOUD_LOCATION"),
    words("GOOGLE_APPLICATION_CREDENTIALS"),
    words("GEMINI_CLI_HOME"),
];

static ABOUT: About = About {
    name: words("gemini"),
    summary: words("Gemini CLI, with its own login and model settings"),
    program: Some(words("gemini")),
    env: Cow::Borrowed(ENV),
    // An id of ours would do too, but its files are named by the minute and the first eight characters: two ids of one minute that
    // begin with the time would share a file.
    ids: Ids::Captured,
    homes: &[],
    cost: Cost::Unknown,
    modes: Modes {
        read_only: Mode::warned(
            "`--approval-mode=default`: gemini offers the model no tools that write or run commands",
            "this only limits the tools and is not a sandbox; it does not restrict the tools of trusted MCP servers",
        ),
        workspace: Mode::warned(
            "the same as full: gemini offers no shell in unattended use otherwise",
            "nothing keeps gemini in the workspace: its shell commands run as you, without asking",
        ),
        full: Mode::warned(
            "`--approval-mode=yolo`: all tools, without asking",
            "everything runs as you, without a sandbox and without asking",
        ),
        network: words(
            "no effect: Longhaul uses no network sandbox of gemini, so its tools can always use the network",
        ),
    },
    version: Version::of(&["0.61.0"]),
    login: Login::Unknown,
    install_help: Some("`npm install -g @google/gemini-cli`"),
    login_help: Some("an API key in `GEMINI_API_KEY` or an enterprise licence; Google serves no other logins any more"),
};

/// Else the program is only a parent that ignores signals, and the real one outlives it, writing and spending.
const NO_RELAUNCH: &str = "GEMINI_CLI_NO_RELAUNCH";

/// Else it refuses to work in a directory that no person has opened before.
const TRUST_WORKSPACE: &str = "GEMINI_CLI_TRUST_WORKSPACE";

impl Agent for Gemini {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn launch(&self, spec: &LaunchSpec<'_>) -> Launch {
        Launch::new(arguments(spec), TERMINATE).set(NO_RELAUNCH, "true").set(TRUST_WORKSPACE, "true")
    }

    fn read_line(&self, reader: &mut Reader, _: &Moment<'_>, line: &[u8]) -> Reading {
        events::read(reader, line)
    }

    fn outcome(&self, reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
        events::outcome(reader, exit, stderr_tail)
    }

    fn interactive(&self, conversation: &str, spec: &LaunchSpec<'_>) -> Option<Interactive> {
        // With somebody to ask, nothing has to be allowed for fear that a tool is not offered.
        let approval = match spec.sandbox {
            Sandbox::ReadOnly => "--approval-mode=default",
            Sandbox::Workspace => "--approval-mode=auto_edit",
            Sandbox::Full => "--approval-mode=yolo",
        };
        let mut argv = spec.command("gemini", &[approval]);
        argv.extend(choices(spec));
        argv.push(format!("--resume={conversation}"));
        Some(Interactive::new(argv).set(NO_RELAUNCH, "true").set(TRUST_WORKSPACE, "true"))
    }

    fn transcript(&self, conversation: &str) -> Transcript {
        let beginning: String = conversation.chars().take(8).collect();
        Transcript::File {
            env: "GEMINI_CLI_HOME",
            default: "",
            pattern: format!(".gemini/tmp/*/chats/session-*-{beginning}.jsonl"),
        }
    }

    fn delivered(&self, lines: &mut dyn Iterator<Item = &[u8]>, mark: &str) -> Delivered {
        chat::delivered(lines, mark)
    }
}

fn arguments(spec: &LaunchSpec<'_>) -> Vec<String> {
    let approval = match spec.sandbox {
        Sandbox::ReadOnly => "--approval-mode=default",
        Sandbox::Workspace | Sandbox::Full => "--approval-mode=yolo",
    };
    let mut argv = spec.command("gemini", &["--output-format=stream-json", approval]);
    argv.extend(choices(spec));
    argv.extend(spec.resumes.map(|id| format!("--resume={id}")));
    argv.extend_from_slice(spec.extra);
    argv
}

/// The task's choices beside the mode.
fn choices(spec: &LaunchSpec<'_>) -> Vec<String> {
    let model = spec.model.map(|model| format!("--model={model}"));
    // Its own file tools keep to the workspace; the option splits at commas.
    let writable = spec.writable.filter(|directory| !directory.contains(','));
    model.into_iter().chain(writable.map(|directory| format!("--include-directories={directory}"))).collect()
}

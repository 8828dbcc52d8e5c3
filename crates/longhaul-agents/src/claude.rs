//! Claude Code, Anthropic's coding agent: what is fixed about it and how one session of `claude -p` is started.
//!
//! The stream is read in `claude/events.rs`, failures are classed in `claude/failure.rs`. Model and login stay those of the
//! user's own configuration.

mod events;
mod failure;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use longhaul_core::task::{Delivered, Exit, Outcome, Sandbox};
use serde_json::{Value, json};

use crate::about::{About, Cost, Ids, Login, Mode, Modes, Version, words};
use crate::agent::{Agent, Transcript};
use crate::json_line::text;
use crate::launch::{Interactive, Launch, LaunchSpec, Network, SessionServer, TERMINATE, User};
use crate::reading::{Moment, Reader, Reading};

/// Anthropic's Claude Code.
pub(crate) struct Claude;

static ABOUT: About = About {
    name: words("claude"),
    summary: words("Anthropic's Claude Code"),
    program: Some(words("claude")),
    env: Cow::Borrowed(&[
        words("CLAUDE_CONFIG_DIR"),
        words("ANTHROPIC_API_KEY"),
        words("ANTHROPIC_BASE_URL"),
        words("CLAUDE_CODE_OAUTH_TOKEN"),
    ]),
    ids: Ids::Preset,
    homes: &[],
    cost: Cost::Told,
    modes: Modes {
        read_only: Mode::warned(
            "claude itself refuses its editing tools and commands that it thinks would write",
            "the operating system does not enforce this: read-only is claude's own rule",
        ),
        workspace: Mode::warned(
            "claude itself keeps its editing tools in the workspace; its shell commands are not restricted",
            "the operating system does not enforce this: claude's shell commands can write wherever you can, and use the network",
        ),
        full: Mode::warned(
            "nothing is refused: every tool can do whatever you can",
            "claude runs with --dangerously-skip-permissions, and with IS_SANDBOX=1 as root; use it only where losing everything is acceptable",
        ),
        network: words(
            "allows the tools WebFetch and WebSearch; in modes `workspace` and `full`, shell commands can use the network anyway",
        ),
    },
    version: Version::of(&["2.1.325"]),
    login: Login::Command(&["auth", "status"]),
    install_help: Some("`npm install -g @anthropic-ai/claude-code`"),
    login_help: Some("`claude`, then `/login`"),
};

/// Tools that change no file.
const READING_TOOLS: &str = "Read,Glob,Grep,TodoWrite,Task";

impl Agent for Claude {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn launch(&self, spec: &LaunchSpec<'_>) -> Launch {
        // TERM is noted for the model as a killed command; INT as a user who wants it to stop.
        let launch = Launch::new(arguments(spec), TERMINATE).set("DISABLE_AUTOUPDATER", "1");
        // The end of a turn is the end of a session: what is left in the background would be killed with it, so the model is told
        // that there is none.
        let launch = launch.set("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1");
        // Nor may a task of another server continue the conversation later.
        let launch = launch.set("CLAUDE_CODE_DISABLE_MCP_TASKS", "1");
        if needs_consent(spec) { launch.set("IS_SANDBOX", "1") } else { launch }
    }

    fn read_line(&self, reader: &mut Reader, moment: &Moment<'_>, line: &[u8]) -> Reading {
        events::read(reader, moment, line)
    }

    fn outcome(&self, reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
        failure::outcome(reader, exit, stderr_tail)
    }

    fn interactive(&self, conversation: &str, spec: &LaunchSpec<'_>) -> Option<Interactive> {
        let mut argv = spec.command("claude", &[]);
        argv.extend(modes(spec));
        argv.extend(["--resume".to_owned(), conversation.to_owned()]);
        let interactive = Interactive::new(argv);
        Some(if needs_consent(spec) { interactive.set("IS_SANDBOX", "1") } else { interactive })
    }

    fn transcript(&self, conversation: &str) -> Transcript {
        let pattern = format!("projects/*/{conversation}.jsonl");
        Transcript::File { env: "CLAUDE_CONFIG_DIR", default: ".claude", pattern }
    }

    fn delivered(&self, lines: &mut dyn Iterator<Item = &[u8]>, mark: &str) -> Delivered {
        crate::mark::delivered(lines, mark, user_texts)
    }
}

/// Lists are joined to their options by `=`: given apart they would swallow whatever follows.
fn arguments(spec: &LaunchSpec<'_>) -> Vec<String> {
    let mut argv = spec.command("claude", &["-p", "--output-format", "stream-json", "--verbose"]);
    argv.extend(modes(spec));
    argv.extend(spec.server.iter().map(server));
    argv.extend(spec.extra.iter().cloned());
    let (option, id) = spec.resumes.map_or(("--session-id", spec.session), |id| ("--resume", id));
    argv.extend([option.to_owned(), id.to_owned()]);
    argv
}

/// Our server, beside those of the user's configuration.
fn server(server: &SessionServer<'_>) -> String {
    let (command, args) = (server.program, server.arguments);
    let own = json!({ "type": "stdio", "command": command, "args": args, "env": server.environment() });
    format!("--mcp-config={}", json!({ "mcpServers": { SessionServer::NAME: own } }))
}

/// Whether claude refuses its mode unless the user confirms it.
fn needs_consent(spec: &LaunchSpec<'_>) -> bool {
    spec.sandbox == Sandbox::Full && spec.user == User::Root
}

/// The task's choices: what is permitted, where, and which model.
fn modes(spec: &LaunchSpec<'_>) -> Vec<String> {
    let mut arguments = permissions(spec);
    arguments.extend(spec.writable.map(|directory| format!("--add-dir={directory}")));
    arguments.extend(spec.model.map(|model| format!("--model={model}")));
    arguments
}

/// Editing tools are not in the list of mode `workspace`: an entry there would allow them everywhere, `acceptEdits` allows them in
/// the workspace.
fn permissions(spec: &LaunchSpec<'_>) -> Vec<String> {
    let web = if spec.network == Network::Open { ",WebFetch,WebSearch" } else { "" };
    let own = spec.server.map_or_else(String::new, |_| format!(",mcp__{}", SessionServer::NAME));
    match spec.sandbox {
        Sandbox::ReadOnly => vec![
            "--permission-mode=dontAsk".to_owned(),
            format!("--allowedTools={READING_TOOLS}{web}{own}"),
            "--disallowedTools=Edit,Write,NotebookEdit".to_owned(),
        ],
        Sandbox::Workspace => {
            vec!["--permission-mode=acceptEdits".to_owned(), format!("--allowedTools=Bash,{READING_TOOLS}{web}{own}")]
        }
        Sandbox::Full => vec!["--dangerously-skip-permissions".to_owned()],
    }
}

/// What the user said on this line: not what tools returned, and not what another agent was told.
fn user_texts(line: &Value) -> Vec<&str> {
    if text(line, "/type") != Some("user") || line["isSidechain"] == Value::Bool(true) {
        return Vec::new();
    }
    match &line["message"]["content"] {
        Value::String(said) => vec![said],
        Value::Array(parts) => {
            let said = parts.iter().filter(|part| text(part, "/type") == Some("text"));
            said.filter_map(|part| text(part, "/text")).collect()
        }
        _ => Vec::new(),
    }
}

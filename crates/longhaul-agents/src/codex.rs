//! Codex, OpenAI's coding agent: what is fixed about it and how one session of `codex exec --json` is started.
//!
//! The stream is read in `codex/events.rs`, failures are classed in `codex/failure.rs`, its own transcript in
//! `codex/rollout.rs`. Model, provider and login stay those of the user's own configuration.

mod events;
mod failure;
mod rollout;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use longhaul_core::task::{Delivered, Exit, Outcome, Sandbox, StopSignal, StopStep, Usage};

use crate::about::{About, AgentHome, Cost, Ids, Login, Mode, Modes, Version, words};
use crate::agent::{Agent, ProviderKeys, Transcript};
use serde_json::Value;

use crate::launch::{Interactive, Launch, LaunchSpec, Network, SessionServer, Stdin};
use crate::reading::{Moment, Reader, Reading};

/// OpenAI's Codex CLI.
pub(crate) struct Codex;

static ABOUT: About = About {
    name: words("codex"),
    summary: words("OpenAI's Codex CLI"),
    program: Some(words("codex")),
    env: Cow::Borrowed(&[words("CODEX_HOME"), words("CODEX_API_KEY"), words("OPENAI_API_KEY")]),
    ids: Ids::Captured,
    homes: &[AgentHome {
        env: "CODEX_HOME",
        default: ".codex",
        must_exist: true,
        not_in_temp: Some("codex cannot find its sandbox from there, and every command would fail"),
    }],
    cost: Cost::Unknown,
    modes: Modes {
        read_only: Mode::plain("commands can write nothing; the operating system enforces it"),
        workspace: Mode::plain(
            "commands can write only in the workspace and the temp directory; the operating system enforces it",
        ),
        full: Mode::warned(
            "no sandbox: commands can do whatever you can",
            "codex runs commands without any sandbox; use it only where losing everything is acceptable",
        ),
        network: words(
            "blocked in the sandbox, including this machine's own addresses; `--network` allows it in mode `workspace`; `full` always has it",
        ),
    },
    version: Version::of(&["0.166.0"]),
    login: Login::Command(&["login", "status"]),
    install_help: Some("`npm install -g @openai/codex`"),
    login_help: Some("`codex login`"),
};

/// INT ends the turn and its commands in a tenth of a second; TERM would leave their children behind.
const STOP: &[StopStep] = &[StopStep { signal: StopSignal::Interrupt, grace_ms: 5000 }];

impl Agent for Codex {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn launch(&self, spec: &LaunchSpec<'_>) -> Launch {
        let mut launch = match spec.argument {
            Some(prompt) => Launch { stdin: Stdin::Null, ..Launch::new(runner_arguments(spec, prompt), STOP) },
            None => Launch::new(arguments(spec), STOP),
        };
        // With it, errors on stderr end in a stack trace, and their reason is no longer the last line.
        launch.env_unset.push("RUST_BACKTRACE".to_owned());
        launch
    }

    fn read_line(&self, reader: &mut Reader, moment: &Moment<'_>, line: &[u8]) -> Reading {
        events::read(reader, moment, line)
    }

    fn outcome(&self, reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
        failure::outcome(reader, exit, stderr_tail)
    }

    fn interactive(&self, conversation: &str, spec: &LaunchSpec<'_>) -> Option<Interactive> {
        Some(Interactive::new(interactive_arguments(conversation, spec)))
    }

    fn provider_keys(&self) -> Option<ProviderKeys> {
        Some(ProviderKeys { env: "CODEX_HOME", default: ".codex", file: "config.toml", key: "env_key" })
    }

    fn transcript(&self, conversation: &str) -> Transcript {
        let pattern = format!("sessions/*/*/*/rollout-*-{conversation}.jsonl");
        Transcript::File { env: "CODEX_HOME", default: ".codex", pattern }
    }

    fn read_transcript(&self, reader: &mut Reader, moment: &Moment<'_>, line: &[u8]) -> Usage {
        rollout::read(reader, moment, line)
    }

    fn delivered(&self, lines: &mut dyn Iterator<Item = &[u8]>, mark: &str) -> Delivered {
        crate::mark::delivered(lines, mark, rollout::user_texts)
    }
}

/// By default a refused connection is tried again for ever.
const BOUNDED_RETRIES: [&str; 2] = ["-c", "features.unbounded_connection_retries=false"];

/// A loop of codex's own would continue the conversation beside ours.
const NO_GOALS: [&str; 2] = ["-c", "features.goals=false"];

/// All options come before the word `resume`, which takes few of them; nothing is inherited by a resumed thread.
fn arguments(spec: &LaunchSpec<'_>) -> Vec<String> {
    let sandbox = sandbox_mode(spec.sandbox);
    let mut argv = spec.command("codex", &["exec", "--json", "--skip-git-repo-check", "-C", spec.cwd, "-s", sandbox]);
    argv.extend(["-c", "approval_policy=\"never\"", "-c", "check_for_update_on_startup=false"].map(str::to_owned));
    argv.extend(BOUNDED_RETRIES.into_iter().chain(NO_GOALS).map(str::to_owned));
    argv.extend(spec.server.iter().flat_map(server));
    argv.extend(modes(spec));
    argv.extend(spec.extra.iter().cloned());
    if let Some(thread) = spec.resumes {
        argv.extend(["resume".to_owned(), thread.to_owned()]);
    }
    argv.push("-".to_owned());
    argv
}

/// Our server, beside those of the user's configuration. Codex gives a server nothing but six variables of its own and what is named here,
/// starts it outside the sandbox, and refuses its tools unless they are approved.
fn server(server: &SessionServer<'_>) -> Vec<String> {
    let set =
        |key: &str, value: String| ["-c".to_owned(), format!("mcp_servers.{}.{key}={value}", SessionServer::NAME)];
    let variables = server.environment.iter().map(|(name, value)| format!("{name}={}", Value::from(value.as_str())));
    [
        set("command", Value::from(server.program).to_string()),
        set("args", Value::from(server.arguments).to_string()),
        set("env", format!("{{{}}}", variables.collect::<Vec<_>>().join(","))),
        set("env_vars", Value::from(server.inherited).to_string()),
        set("default_tools_approval_mode", "\"approve\"".to_owned()),
    ]
    .concat()
}

/// The arguments as the existing shell runner passes them: everything that `exec resume` also takes, then the conversation, then a short
/// prompt. For `run-session` only; the directory is where the process starts.
fn runner_arguments(spec: &LaunchSpec<'_>, prompt: &str) -> Vec<String> {
    let mut argv = spec.command("codex", &["exec"]);
    argv.extend(spec.resumes.map(|_| "resume".to_owned()));
    argv.extend(["--json", "--skip-git-repo-check", "-c", "approval_policy=\"never\"", "-c"].map(str::to_owned));
    argv.push(format!("sandbox_mode=\"{}\"", sandbox_mode(spec.sandbox)));
    argv.extend(BOUNDED_RETRIES.map(str::to_owned));
    if let Some(directory) = spec.writable.filter(|_| spec.sandbox == Sandbox::Workspace) {
        let quoted = serde_json::Value::from(directory);
        argv.extend(["-c".to_owned(), format!("sandbox_workspace_write.writable_roots=[{quoted}]")]);
    }
    argv.extend(spec.extra.iter().cloned());
    argv.extend(spec.resumes.map(str::to_owned));
    argv.push(prompt.to_owned());
    argv
}

/// The task's choices besides the sandbox.
fn modes(spec: &LaunchSpec<'_>) -> Vec<String> {
    let mut arguments = Vec::new();
    if spec.sandbox == Sandbox::Workspace && spec.network == Network::Open {
        arguments.extend(["-c", "sandbox_workspace_write.network_access=true"].map(str::to_owned));
    }
    if let Some(directory) = spec.writable {
        arguments.extend(["--add-dir".to_owned(), directory.to_owned()]);
    }
    arguments.extend(spec.model.map(|model| format!("--model={model}")));
    arguments
}

/// Whether to ask is left to the person's own configuration: somebody is there to answer. Without the shared background server, because
/// its turn would continue after the program has ended.
fn interactive_arguments(thread: &str, spec: &LaunchSpec<'_>) -> Vec<String> {
    let sandbox = sandbox_mode(spec.sandbox);
    let mut argv = spec.command("codex", &["resume", "--no-daemon", "-C", spec.cwd, "-s", sandbox]);
    argv.extend(modes(spec));
    argv.push(thread.to_owned());
    argv
}

fn sandbox_mode(sandbox: Sandbox) -> &'static str {
    match sandbox {
        Sandbox::ReadOnly => "read-only",
        Sandbox::Workspace => "workspace-write",
        Sandbox::Full => "danger-full-access",
    }
}

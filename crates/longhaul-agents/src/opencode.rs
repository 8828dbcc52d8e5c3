//! OpenCode: how it is launched, and where it keeps its conversations. Its stream and its failures are read in
//! `events.rs`. Facts are those of version 1.18.33, recorded in `samples/opencode`.
//!
//! The prompt goes by stdin: a prompt argument with a blank would reach the model in literal quotes.

use std::borrow::Cow;

use serde_json::{Value, json};

use longhaul_core::task::{Delivered, Exit, Outcome, Sandbox};

use crate::about::{About, Cost, Ids, Login, Mode, Modes, Version, Words, words};
use crate::agent::{Agent, Transcript};
use crate::launch::{Interactive, Launch, LaunchSpec, SessionServer, TERMINATE};
use crate::mark;
use crate::reading::{Moment, Reader, Reading};

mod events;
#[cfg(test)]
mod tests;

/// The OpenCode command line.
pub(crate) struct OpenCode;

const ENV: &[Words] = &[
    words("OPENCODE_CONFIG"),
    words("OPENCODE_CONFIG_CONTENT"),
    words("OPENCODE_CONFIG_DIR"),
    words("OPENCODE_DB"),
    words("XDG_CONFIG_HOME"),
    words("XDG_DATA_HOME"),
    words("ANTHROPIC_API_KEY"),
    words("OPENAI_API_KEY"),
    words("OPENROUTER_API_KEY"),
];

static ABOUT: About = About {
    name: words("opencode"),
    summary: words("OpenCode, with its own configured providers and models"),
    program: Some(words("opencode")),
    env: Cow::Borrowed(ENV),
    ids: Ids::Captured,
    homes: &[],
    cost: Cost::Told,
    modes: Modes {
        read_only: Mode::warned(
            "opencode denies its edit and shell tools, and paths outside the project",
            "this is opencode's own rule, not a sandbox; it does not restrict the tools of MCP servers",
        ),
        workspace: Mode::warned(
            "opencode denies paths outside the project; anything it would ask about is refused and ends the session",
            "this is opencode's own rule, not a sandbox; shell commands run as you and can write wherever you can",
        ),
        full: Mode::warned(
            "`--auto`: approves everything that your configuration does not deny",
            "everything runs as you, without a sandbox and without asking",
        ),
        network: words("no effect: opencode has no network sandbox, so its tools can always use the network"),
    },
    version: Version::of(&["1.18.33"]),
    login: Login::Unknown,
    install_help: Some("`npm install -g opencode-ai`"),
    login_help: None,
};

impl Agent for OpenCode {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn launch(&self, spec: &LaunchSpec<'_>) -> Launch {
        // It has no handler for any signal: the first one ends it.
        let launch = Launch::new(arguments(spec), TERMINATE)
            .set("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .set("OPENCODE_DISABLE_LSP_DOWNLOAD", "1");
        let launch = match permissions(spec) {
            Some(rules) => launch.set("OPENCODE_PERMISSION", &rules.to_string()),
            None => launch,
        };
        let own = spec.server.iter().map(|server| ("OPENCODE_CONFIG_CONTENT".to_owned(), config(server)));
        Launch { env_merge: own.collect(), ..launch }
    }

    fn read_line(&self, reader: &mut Reader, moment: &Moment<'_>, line: &[u8]) -> Reading {
        events::read(reader, moment, line)
    }

    fn outcome(&self, reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
        events::outcome(reader, exit, stderr_tail)
    }

    fn interactive(&self, conversation: &str, spec: &LaunchSpec<'_>) -> Option<Interactive> {
        let mut argv = spec.command("opencode", &[spec.cwd]);
        argv.extend(modes(spec));
        argv.push(format!("--session={conversation}"));
        let interactive = Interactive::new(argv);
        Some(match permissions(spec) {
            Some(rules) => interactive.set("OPENCODE_PERMISSION", &rules.to_string()),
            None => interactive,
        })
    }

    fn transcript(&self, conversation: &str) -> Transcript {
        Transcript::Command { arguments: vec!["export".into(), conversation.into()] }
    }

    /// The export is one JSON document over many lines.
    fn delivered(&self, lines: &mut dyn Iterator<Item = &[u8]>, mark: &str) -> Delivered {
        let document = lines.collect::<Vec<_>>().join(&b'\n');
        mark::delivered(&mut std::iter::once(&document[..]), mark, user_texts)
    }
}

/// Our server, beside those of the user's configuration.
fn config(server: &SessionServer<'_>) -> Value {
    let command: Vec<&str> = std::iter::once(&server.program).chain(server.arguments).copied().collect();
    let own = json!({ "type": "local", "command": command, "environment": server.environment(), "enabled": true });
    json!({ "mcp": { SessionServer::NAME: own } })
}

fn arguments(spec: &LaunchSpec<'_>) -> Vec<String> {
    let mut argv = spec.command("opencode", &["run", "--format=json"]);
    // Without it the program trusts PWD, and works where that points.
    argv.push(format!("--dir={}", spec.cwd));
    argv.extend(modes(spec));
    match spec.resumes {
        Some(id) => argv.push(format!("--session={id}")),
        // Saves a request for a title, and is the only handle to a session that is killed before its first line.
        None => argv.push(format!("--title={}", spec.mark)),
    }
    argv.extend_from_slice(spec.extra);
    argv
}

/// The task's choices that are arguments.
fn modes(spec: &LaunchSpec<'_>) -> Vec<String> {
    let auto = (spec.sandbox == Sandbox::Full).then(|| "--auto".to_owned());
    auto.into_iter().chain(spec.model.map(|model| format!("--model={model}"))).collect()
}

/// The last matching rule wins; in the text the names are in order, so `*` comes before any path.
fn permissions(spec: &LaunchSpec<'_>) -> Option<Value> {
    match spec.sandbox {
        Sandbox::Full => None,
        Sandbox::ReadOnly => Some(json!({"bash": "deny", "edit": "deny", "external_directory": "deny"})),
        Sandbox::Workspace => {
            let mut outside = json!({"*": "deny"});
            if let Some(directory) = spec.writable {
                outside[format!("{directory}/*")] = "allow".into();
            }
            Some(json!({"external_directory": outside}))
        }
    }
}

fn user_texts(export: &Value) -> Vec<&str> {
    let messages = export["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_user = messages.iter().filter(|message| message["info"]["role"] == "user");
    let parts = of_user.filter_map(|message| message["parts"].as_array()).flatten();
    parts.filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str()).collect()
}

//! The table of configuration keys: type, default, meaning, effect, and what an untrusted file may do with each.
//! Reading, `config show`, the reference page and the JSON schema all come from it. A key without a row does not exist.

use std::time::Duration;

use longhaul_core::task::{ChecksIn, Context, Limit, Occasion, OnLimit, Sandbox, Setting};

use super::key::{Key, Untrusted};
use super::kind::{Kind, NONE};
use super::settings::Settings;
use super::value::Raw;

/// The settings when nothing is set.
pub(crate) fn defaults() -> Settings {
    let mut settings = Settings::default();
    for key in KEYS {
        let value = key.read(&Raw::Word(key.default.to_owned()));
        let taken = value.is_some_and(|value| (key.place)(&mut settings).put(value));
        assert!(taken, "the default of `{}` is one of its values", key.name);
    }
    settings
}

/// The names of the sections, each once, in the table's order.
pub(super) fn sections() -> Vec<&'static str> {
    let mut sections: Vec<&'static str> = KEYS.iter().filter_map(|key| key.split().0).collect();
    sections.dedup();
    sections
}

/// Whether a key, by its name, has a path of this machine as its value.
pub(crate) fn is_path(name: &str) -> bool {
    KEYS.iter().any(|key| key.name == name && matches!(key.kind, Kind::File | Kind::Projects))
}

const HOUR: u64 = 3_600;
const DAY: u64 = 86_400;

const fn times(least: u64, most: u64) -> Kind {
    Kind::Span { least: Duration::from_secs(least), most: Duration::from_secs(most) }
}

/// A time limit, which must not be zero.
const fn patience(most: u64) -> Kind {
    Kind::Span { least: Duration::from_millis(1), most: Duration::from_secs(most) }
}

const fn sizes(least: u64, most: u64) -> Kind {
    Kind::Size { least, most }
}

const KIB: u64 = 1 << 10;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
/// The largest number a file can hold.
const MOST: u64 = i64::MAX as u64;

/// The defaults of a row: the key must have a value, needs trust, and applies to new tasks only.
const KEY: Key = Key {
    name: "",
    kind: Kind::Flag,
    default: "",
    off: None,
    doc: "",
    affects: "",
    untrusted: Untrusted::Nothing,
    place: |settings| &mut settings.network,
    flag: None,
    help: None,
    edit: None,
};

/// Every key.
pub(crate) const KEYS: &[Key] = &[
    Key {
        name: "agent",
        kind: Kind::Agent,
        default: NONE,
        off: Some(
            "the only one that is installed and logged in, else the one last used in the project, else you are asked",
        ),
        doc: "the agent that works on tasks",
        affects: "which program every session of a new task runs",
        place: |settings| &mut settings.agent,
        flag: Some("--agent"),
        edit: Some(|settings| Setting::Agent(settings.agent.clone().unwrap_or_default())),
        ..KEY
    },
    Key {
        name: "fallbacks",
        kind: Kind::Agents,
        default: "",
        doc: "the agents to switch to, in order, when the first one reaches its usage limit",
        affects: "which agent takes over with `session.on_limit = \"switch\"`",
        place: |settings| &mut settings.fallbacks,
        flag: Some("--agents"),
        edit: Some(|settings| Setting::Fallbacks(settings.fallbacks.clone())),
        ..KEY
    },
    Key {
        name: "sandbox",
        kind: Kind::Choice(Sandbox::WORDS),
        default: "workspace",
        doc: "what agents may write: nothing, their workspace, or everything you can",
        affects: "the sandbox mode of every session of a new task, if its agent supports it",
        place: |settings| &mut settings.sandbox,
        flag: Some("--sandbox"),
        edit: Some(|settings| Setting::Sandbox(settings.sandbox)),
        ..KEY
    },
    Key {
        name: "network",
        kind: Kind::Flag,
        default: "false",
        doc: "whether agents' tools may use the network where a sandbox blocks it",
        affects: "network access in every session of a new task",
        place: |settings| &mut settings.network,
        flag: Some("--network"),
        edit: Some(|settings| Setting::Network(settings.network)),
        ..KEY
    },
    Key {
        name: "model",
        kind: Kind::Model,
        default: NONE,
        off: Some("the agent's own configuration decides"),
        doc: "the model the agent should use",
        affects: "the model of every session of a new task",
        place: |settings| &mut settings.model,
        flag: Some("--model"),
        edit: Some(|settings| Setting::Model(settings.model.clone())),
        ..KEY
    },
    Key {
        name: "workspace.in_place",
        kind: Kind::Flag,
        default: "false",
        doc: "whether the agent works in your own checkout and not in a separate worktree",
        affects: "where the agent of a new task edits files and commits",
        place: |settings| &mut settings.workspace.in_place,
        flag: Some("--in-place"),
        ..KEY
    },
    Key {
        name: "workspace.setup",
        kind: Kind::Command,
        default: NONE,
        off: Some("no setup"),
        doc: "the command that prepares a clean checkout, such as `npm ci`",
        affects: "what runs before the checks in a clean checkout",
        place: |settings| &mut settings.workspace.setup,
        ..KEY
    },
    Key {
        name: "verify.commands",
        kind: Kind::Commands,
        default: "",
        doc: "the commands that check the result; all must succeed",
        affects: "what runs once every step is ticked; without any command, a task ends as done but unverified",
        place: |settings| &mut settings.verify.commands,
        ..KEY
    },
    Key {
        name: "verify.where",
        kind: Kind::Choice(ChecksIn::WORDS),
        default: "auto",
        doc: "where checks run: in the workspace, in a clean checkout, or `auto`: clean if `workspace.setup` is set",
        affects: "whether files that git ignores are present when the checks run",
        place: |settings| &mut settings.verify.checks_in,
        ..KEY
    },
    Key {
        name: "verify.deadline",
        kind: patience(7 * DAY),
        default: "30m",
        doc: "how long one check, or the setup command, may take",
        affects: "when a check is stopped and counts as failed",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.check_ms,
        ..KEY
    },
    Key {
        name: "verify.fix_attempts",
        kind: Kind::Count { least: 0, most: 100 },
        default: "3",
        doc: "how often the agent may try to fix failing checks",
        affects: "when a task with failing checks ends as not verified",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.fix_attempts,
        flag: Some("--fix-attempts"),
        help: Some(("N", "Number of fixing sessions after failed checks")),
        edit: Some(|settings| Setting::FixAttempts(settings.patience.fix_attempts)),
        ..KEY
    },
    Key {
        name: "limits.max_sessions",
        kind: Kind::Count { least: 1, most: 100_000 },
        default: NONE,
        off: Some("no limit"),
        doc: "the most sessions a task may use",
        affects: "when a limit stops a task",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.max_sessions,
        flag: Some("--max-sessions"),
        help: Some(("N", "Total number of agent sessions, or `none`; checks do not count")),
        edit: Some(|settings| Setting::Limit(Limit::Sessions, settings.patience.max_sessions.map(u64::from))),
    },
    Key {
        name: "limits.max_time",
        kind: patience(365 * DAY),
        default: "5h",
        off: Some("no limit"),
        doc: "the most working time a task may use: the time of all its sessions, without waits and pauses",
        affects: "when a limit stops a task",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.max_time_ms,
        flag: Some("--max-time"),
        help: Some(("SPAN", "Total working time, such as `5h`, or `none`; waits and pauses do not count")),
        edit: Some(|settings| Setting::Limit(Limit::Time, settings.patience.max_time_ms)),
    },
    Key {
        name: "limits.max_tokens",
        kind: Kind::Count { least: 1, most: MOST },
        default: NONE,
        off: Some("no limit"),
        doc: "the most tokens a task may use",
        affects: "when a limit stops a task",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.max_tokens,
        flag: Some("--max-tokens"),
        help: Some(("N", "Total number of tokens, or `none`")),
        edit: Some(|settings| Setting::Limit(Limit::Tokens, settings.patience.max_tokens)),
    },
    Key {
        name: "limits.max_cost",
        kind: Kind::Money,
        default: NONE,
        off: Some("no limit"),
        doc: "the most US dollars a task may cost, as far as its agent reports costs",
        affects: "when a limit stops a task",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.max_cost_micros,
        flag: Some("--max-cost"),
        help: Some(("USD", "Total cost in US dollars, or `none`")),
        edit: Some(|settings| Setting::Limit(Limit::Cost, settings.patience.max_cost_micros)),
    },
    Key {
        name: "limits.idle_sessions",
        kind: Kind::Count { least: 1, most: 1_000 },
        default: "3",
        doc: "after how many completed sessions in a row without progress the task asks for you",
        affects: "when a task needs you",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.idle_sessions,
        flag: Some("--idle-sessions"),
        help: Some(("N", "Ask you after this many sessions in a row without progress")),
        edit: Some(|settings| Setting::IdleSessions(settings.patience.idle_sessions)),
        ..KEY
    },
    Key {
        name: "limits.attempts",
        kind: Kind::Count { least: 1, most: 100 },
        default: "5",
        doc: "after how many failed sessions in a row the task asks for you",
        affects: "when a task needs you",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.attempts,
        flag: Some("--attempts"),
        help: Some(("N", "Ask you after this many failed sessions in a row")),
        edit: Some(|settings| Setting::Attempts(settings.patience.attempts)),
        ..KEY
    },
    Key {
        name: "limits.session_wall",
        kind: patience(30 * DAY),
        default: "5h",
        off: Some("no limit"),
        doc: "how long a session may take",
        affects: "when a session is stopped",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.wall_ms,
        flag: Some("--wall"),
        help: Some(("SPAN", "Stop a session after this time, or `none`")),
        edit: Some(|settings| Setting::Wall(settings.patience.wall_ms)),
    },
    Key {
        name: "limits.session_silence",
        kind: patience(30 * DAY),
        default: "30m",
        off: Some("no limit"),
        doc: "how long a session may print nothing",
        affects: "when a session is stopped",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.silence_ms,
        flag: Some("--silence"),
        help: Some(("SPAN", "Stop a session after this time without output, or `none`")),
        edit: Some(|settings| Setting::Silence(settings.patience.silence_ms)),
    },
    Key {
        name: "limits.spare_busy",
        kind: Kind::Flag,
        default: "false",
        doc: "whether a silent session may continue while it uses at least 5 percent of one processor",
        affects: "whether silence stops a session during a long build or test run; `limits.session_wall` still applies",
        place: |settings| &mut settings.patience.spare_busy,
        ..KEY
    },
    Key {
        name: "limits.backoff",
        kind: times(0, DAY),
        default: "2s",
        doc: "how long to wait after a failed session; the wait doubles with each further failure",
        affects: "when the next session starts after a failed one",
        untrusted: Untrusted::Raise,
        place: |settings| &mut settings.patience.backoff_ms,
        flag: Some("--backoff"),
        ..KEY
    },
    Key {
        name: "limits.backoff_cap",
        kind: times(0, 7 * DAY),
        default: "10m",
        doc: "the longest wait after failed sessions; also caps `limits.backoff`",
        affects: "when the next session starts after a failed one",
        untrusted: Untrusted::Raise,
        place: |settings| &mut settings.patience.backoff_cap_ms,
        ..KEY
    },
    Key {
        name: "limits.longest_wait",
        kind: times(1, 366 * DAY),
        default: "8d",
        doc: "the longest wait for a usage limit; if one ends later, the task switches agents or asks a person",
        affects: "whether a task waits for its agent's usage limit to end, switches agents or needs you",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.longest_wait_ms,
        ..KEY
    },
    Key {
        name: "children.max",
        kind: Kind::Count { least: 0, most: 1_000 },
        default: "20",
        doc: "how many unfinished child tasks a task may have, including the children of its children",
        affects: "when a child task that an agent submits is refused",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.max_children,
        ..KEY
    },
    Key {
        name: "children.depth",
        kind: Kind::Count { least: 0, most: 10 },
        default: "2",
        doc: "how many levels of child tasks are allowed: 1 allows only children, 0 none",
        affects: "when a child task that an agent submits is refused",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.child_depth,
        ..KEY
    },
    Key {
        name: "session.delay",
        kind: times(0, HOUR),
        default: "3s",
        doc: "how long to wait between two sessions",
        affects: "when the next session starts after a completed one",
        untrusted: Untrusted::Any,
        place: |settings| &mut settings.patience.delay_ms,
        flag: Some("--delay"),
        help: Some(("SPAN", "Pause between two sessions")),
        edit: Some(|settings| Setting::Delay(settings.patience.delay_ms)),
        ..KEY
    },
    Key {
        name: "session.context",
        kind: Kind::Choice(Context::WORDS),
        default: "auto",
        doc: "whether a session resumes the conversation of the last one: never, always, or only after an interruption",
        affects: "how every session of a new task starts",
        place: |settings| &mut settings.session.context,
        flag: Some("--context"),
        edit: Some(|settings| Setting::Context(settings.session.context)),
        ..KEY
    },
    Key {
        name: "session.on_limit",
        kind: Kind::Choice(OnLimit::WORDS),
        default: "wait",
        doc: "what to do at the agent's usage limit: wait until it ends, switch to the next agent, ask a person, or stop",
        affects: "what a task does when its agent reaches a usage limit",
        place: |settings| &mut settings.session.on_limit,
        flag: Some("--on-limit"),
        edit: Some(|settings| Setting::OnLimit(settings.session.on_limit)),
        ..KEY
    },
    Key {
        name: "session.hours",
        kind: Kind::Hours,
        default: NONE,
        off: Some("at any hour"),
        doc: "the hours of the day in which sessions may start, in the machine's time zone",
        affects: "when the next session of a new task starts",
        place: |settings| &mut settings.session.hours,
        flag: Some("--hours"),
        edit: Some(|settings| Setting::Hours(settings.session.hours)),
        ..KEY
    },
    Key {
        name: "session.linger",
        kind: times(1, HOUR),
        default: "1m",
        doc: "how long to wait for background processes after the agent's turn ends",
        affects: "when a session is stopped whose turn has ended but whose processes still run",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.linger_ms,
        ..KEY
    },
    Key {
        name: "session.inhibit_sleep",
        kind: Kind::Flag,
        default: "true",
        doc: "whether to keep the machine awake while a session runs",
        affects: "whether the machine can sleep during sessions",
        place: |settings| &mut settings.patience.keep_awake,
        ..KEY
    },
    Key {
        name: "session.scopes",
        kind: Kind::Flag,
        default: "true",
        doc: "whether workers and sessions run in their own systemd scopes, if a user manager is running and lingering is enabled",
        affects: "whether logging out stops workers and sessions started from that login",
        place: |settings| &mut settings.patience.scopes,
        ..KEY
    },
    Key {
        name: "floors.memory",
        kind: sizes(0, TIB),
        default: "256MiB",
        doc: "how much memory must be free before a session starts",
        affects: "when a task is blocked until memory is free",
        untrusted: Untrusted::Raise,
        place: |settings| &mut settings.patience.memory_floor,
        ..KEY
    },
    Key {
        name: "floors.disk",
        kind: sizes(0, 1024 * TIB),
        default: "1GiB",
        doc: "how much disk space must be free before a session starts",
        affects: "when a task is blocked until disk space is free",
        untrusted: Untrusted::Raise,
        place: |settings| &mut settings.patience.disk_floor,
        ..KEY
    },
    Key {
        name: "log.segment",
        kind: sizes(4 * KIB, GIB),
        default: "16MiB",
        doc: "the size of one log segment; never more than `log.cap`",
        affects: "the unit in which a session's output is kept and dropped",
        place: |settings| &mut settings.patience.log_segment,
        ..KEY
    },
    Key {
        name: "log.cap",
        kind: sizes(4 * KIB, TIB),
        default: "256MiB",
        doc: "how much of each output stream of a session to keep; the oldest segments are dropped first",
        affects: "how much of a session's output is kept",
        place: |settings| &mut settings.patience.log_cap,
        ..KEY
    },
    Key {
        name: "retention.age",
        kind: times(0, 3_650 * DAY),
        default: "30d",
        off: Some("forever"),
        doc: "how long to keep a finished task",
        affects: "which finished tasks `longhaul gc` removes",
        place: |settings| &mut settings.retention.age,
        ..KEY
    },
    Key {
        name: "retention.count",
        kind: Kind::Count { least: 0, most: 10_000_000 },
        default: "1000",
        off: Some("all"),
        doc: "how many finished tasks to keep, newest first",
        affects: "which finished tasks `longhaul gc` removes",
        place: |settings| &mut settings.retention.count,
        ..KEY
    },
    Key {
        name: "retention.bytes",
        kind: sizes(0, 1024 * TIB),
        default: "10GiB",
        off: Some("any amount"),
        doc: "how much disk space all finished tasks may use together; the newest are kept",
        affects: "which finished tasks `longhaul gc` removes",
        place: |settings| &mut settings.retention.bytes,
        ..KEY
    },
    Key {
        name: "env.need",
        kind: Kind::Names,
        default: "",
        doc: "environment variables the agent needs besides those Longhaul knows of",
        affects: "when a task is blocked because a variable is missing that was set when the agent was chosen",
        place: |settings| &mut settings.env.need,
        ..KEY
    },
    Key {
        name: "env.only",
        kind: Kind::Names,
        default: NONE,
        off: Some("all but Longhaul's own"),
        doc: "the only environment variables that agents and checks get, besides those the agent needs (strict mode)",
        affects: "the environment of every session",
        place: |settings| &mut settings.env.only,
        ..KEY
    },
    Key {
        name: "redact.extra",
        kind: Kind::Names,
        default: "",
        doc: "environment variables whose values are secret although their names do not suggest it",
        affects: "what is masked in logs, plans, goals and reports",
        place: |settings| &mut settings.redact.extra,
        ..KEY
    },
    Key {
        name: "prompts.project",
        kind: Kind::Flag,
        default: "false",
        doc: "whether to use the project's own prompt templates, `.longhaul/prompts/*.md`",
        affects: "the prompts of a new task's sessions",
        place: |settings| &mut settings.prompts.project,
        ..KEY
    },
    Key {
        name: "serve.projects",
        kind: Kind::Projects,
        default: "",
        doc: "the directories that callers of the HTTP server may work in; has no effect in a `longhaul.toml`",
        affects: "which workspaces and files a request with an API key may name, links resolved; without any, such a request submits nothing",
        place: |settings| &mut settings.serve.projects,
        ..KEY
    },
    Key {
        name: "notify.on",
        kind: Kind::Words(Occasion::WORDS),
        default: "done,failed,needs_person,limit,stopped",
        doc: "the occasions on which to notify the targets below",
        affects: "which notices a new task sends",
        place: |settings| &mut settings.notify.on,
        ..KEY
    },
    Key {
        name: "notify.command",
        kind: Kind::Argv,
        default: "",
        doc: "a program and its arguments; it gets the facts in environment variables and as JSON on stdin",
        affects: "who is notified about a new task",
        place: |settings| &mut settings.notify.command,
        ..KEY
    },
    Key {
        name: "notify.file",
        kind: Kind::File,
        default: NONE,
        off: Some("no file"),
        doc: "a file to write each notice to; `{name}`, `{task}` and `{occasion}` in the path are replaced",
        affects: "who is notified about a new task",
        place: |settings| &mut settings.notify.file,
        ..KEY
    },
    Key {
        name: "notify.webhook",
        kind: Kind::Url,
        default: NONE,
        off: Some("no server"),
        doc: "a URL that receives a POST; if the URL is secret, name the variable that holds it",
        affects: "who is notified about a new task",
        place: |settings| &mut settings.notify.webhook,
        ..KEY
    },
    Key {
        name: "notify.webhook_secret_env",
        kind: Kind::Name,
        default: NONE,
        off: Some("not signed"),
        doc: "the environment variable that holds the key for the signature in `X-Longhaul-Signature`",
        affects: "whether the server can verify that a notice comes from you",
        place: |settings| &mut settings.notify.webhook_secret_env,
        ..KEY
    },
    Key {
        name: "notify.desktop",
        kind: Kind::Flag,
        default: "false",
        doc: "whether to show a desktop notification, with notify-send or osascript",
        affects: "who is notified about a new task",
        place: |settings| &mut settings.notify.desktop,
        ..KEY
    },
    Key {
        name: "notify.timeout",
        kind: times(1, HOUR),
        default: "30s",
        doc: "how long one attempt to send a notice may take",
        affects: "when a hanging program is killed or a request to a server is given up",
        place: |settings| &mut settings.notify.timeout,
        ..KEY
    },
];

//! The one table of configuration keys: type, default, meaning, effect, and what an untrusted file may do with each.
//! Reading, `config show`, the reference page and the JSON schema all come from it; a key that is not here does not exist.

use std::time::Duration;

use longhaul_core::task::{ChecksIn, Context, Limit, Occasion, OnLimit, Sandbox, Setting};

use super::key::{Key, Untrusted};
use super::kind::{Kind, NONE};
use super::settings::Settings;
use super::value::Raw;

/// The settings when nobody has set anything.
pub fn defaults() -> Settings {
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

const HOUR: u64 = 3_600;
const DAY: u64 = 86_400;

const fn times(least: u64, most: u64) -> Kind {
    Kind::Span { least: Duration::from_secs(least), most: Duration::from_secs(most) }
}

/// A time that ends something, so that nothing is not one.
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

/// What a key is unless its row says otherwise: it has a value, needs trust, and counts for new tasks only.
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
    edit: None,
};

/// Every key.
pub const KEYS: &[Key] = &[
    Key {
        name: "agent",
        kind: Kind::Agent,
        default: "demo",
        doc: "the agent that works on tasks",
        affects: "which program every session of a new task runs",
        place: |settings| &mut settings.agent,
        flag: Some("--agent"),
        edit: Some(|settings| Setting::Agent(settings.agent.clone())),
        ..KEY
    },
    Key {
        name: "fallbacks",
        kind: Kind::Agents,
        default: "",
        doc: "the agents to go on with when the first one has reached its usage limit, in order",
        affects: "who works on with `session.on_limit = \"switch\"`",
        place: |settings| &mut settings.fallbacks,
        flag: Some("--agents"),
        edit: Some(|settings| Setting::Fallbacks(settings.fallbacks.clone())),
        ..KEY
    },
    Key {
        name: "sandbox",
        kind: Kind::Choice(Sandbox::WORDS),
        default: "workspace",
        doc: "what agents may write: nothing, their workspace, or everything you may",
        affects: "the mode in which every session of a new task is started, as far as its agent has one",
        place: |settings| &mut settings.sandbox,
        flag: Some("--sandbox"),
        edit: Some(|settings| Setting::Sandbox(settings.sandbox)),
        ..KEY
    },
    Key {
        name: "network",
        kind: Kind::Flag,
        default: "false",
        doc: "whether the network is opened to the agents' tools where a sandbox closes it",
        affects: "the mode in which every session of a new task is started",
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
        doc: "the model to ask the agent for",
        affects: "what every session of a new task is asked with",
        place: |settings| &mut settings.model,
        flag: Some("--model"),
        edit: Some(|settings| Setting::Model(settings.model.clone())),
        ..KEY
    },
    Key {
        name: "workspace.in_place",
        kind: Kind::Flag,
        default: "false",
        doc: "whether the agent works in your own checkout instead of a worktree of its own",
        affects: "where a new task's files and commits are made",
        place: |settings| &mut settings.workspace.in_place,
        flag: Some("--in-place"),
        ..KEY
    },
    Key {
        name: "workspace.setup",
        kind: Kind::Command,
        default: NONE,
        off: Some("no setup"),
        doc: "the command that makes a clean checkout usable, such as `npm ci`",
        affects: "what runs before the checks in a clean checkout",
        place: |settings| &mut settings.workspace.setup,
        ..KEY
    },
    Key {
        name: "verify.commands",
        kind: Kind::Commands,
        default: "",
        doc: "the commands that check the result; all must succeed",
        affects: "what is run once every step is ticked; without any, a task ends done and unverified",
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
        affects: "when a check is ended and counts as failed",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.check_ms,
        ..KEY
    },
    Key {
        name: "verify.fix_attempts",
        kind: Kind::Count { least: 0, most: 100 },
        default: "3",
        doc: "how often the agent is sent to repair what a check found",
        affects: "when a task with failing checks ends as not verified",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.fix_attempts,
        flag: Some("--fix-attempts"),
        edit: Some(|settings| Setting::FixAttempts(settings.patience.fix_attempts)),
        ..KEY
    },
    Key {
        name: "limits.max_sessions",
        kind: Kind::Count { least: 1, most: 100_000 },
        default: NONE,
        off: Some("no limit"),
        doc: "the most sessions of one task",
        affects: "when a task is stopped by a limit",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.max_sessions,
        flag: Some("--max-sessions"),
        edit: Some(|settings| Setting::Limit(Limit::Sessions, settings.patience.max_sessions.map(u64::from))),
    },
    Key {
        name: "limits.max_time",
        kind: patience(365 * DAY),
        default: "5h",
        off: Some("no limit"),
        doc: "the most working time of one task: its sessions' durations together, without waits and pauses",
        affects: "when a task is stopped by a limit",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.max_time_ms,
        flag: Some("--max-time"),
        edit: Some(|settings| Setting::Limit(Limit::Time, settings.patience.max_time_ms)),
    },
    Key {
        name: "limits.max_tokens",
        kind: Kind::Count { least: 1, most: MOST },
        default: NONE,
        off: Some("no limit"),
        doc: "the most tokens of one task",
        affects: "when a task is stopped by a limit",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.max_tokens,
        flag: Some("--max-tokens"),
        edit: Some(|settings| Setting::Limit(Limit::Tokens, settings.patience.max_tokens)),
    },
    Key {
        name: "limits.max_cost",
        kind: Kind::Money,
        default: NONE,
        off: Some("no limit"),
        doc: "the most US dollars of one task, as far as its agent tells them",
        affects: "when a task is stopped by a limit",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.max_cost_micros,
        flag: Some("--max-cost"),
        edit: Some(|settings| Setting::Limit(Limit::Cost, settings.patience.max_cost_micros)),
    },
    Key {
        name: "limits.idle_sessions",
        kind: Kind::Count { least: 1, most: 1_000 },
        default: "3",
        doc: "completed sessions in a row without progress after which a person is asked",
        affects: "when a task needs help",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.idle_sessions,
        flag: Some("--idle-sessions"),
        edit: Some(|settings| Setting::IdleSessions(settings.patience.idle_sessions)),
        ..KEY
    },
    Key {
        name: "limits.attempts",
        kind: Kind::Count { least: 1, most: 100 },
        default: "5",
        doc: "failed sessions in a row after which a person is asked",
        affects: "when a task needs help",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.attempts,
        flag: Some("--attempts"),
        edit: Some(|settings| Setting::Attempts(settings.patience.attempts)),
        ..KEY
    },
    Key {
        name: "limits.session_wall",
        kind: patience(30 * DAY),
        default: "5h",
        off: Some("no limit"),
        doc: "how long one session may take",
        affects: "when a session is ended",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.wall_ms,
        flag: Some("--wall"),
        edit: Some(|settings| Setting::Wall(settings.patience.wall_ms)),
    },
    Key {
        name: "limits.session_silence",
        kind: patience(30 * DAY),
        default: "30m",
        off: Some("no limit"),
        doc: "how long one session may print nothing",
        affects: "when a session is ended",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.silence_ms,
        flag: Some("--silence"),
        edit: Some(|settings| Setting::Silence(settings.patience.silence_ms)),
    },
    Key {
        name: "limits.spare_busy",
        kind: Kind::Flag,
        default: "false",
        doc: "whether a silent session that keeps a processor busy (5 percent of one) is left alone",
        affects: "whether silence ends a session that compiles or tests for long; `limits.session_wall` still does",
        place: |settings| &mut settings.patience.spare_busy,
        ..KEY
    },
    Key {
        name: "limits.backoff",
        kind: times(0, DAY),
        default: "2s",
        doc: "how long to wait after the first failed session; doubles with each further one",
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
        doc: "the longest wait after failed sessions; it caps `limits.backoff` too",
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
        affects: "whether a task waits for its agent's usage limit, switches or needs help",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.longest_wait_ms,
        ..KEY
    },
    Key {
        name: "children.max",
        kind: Kind::Count { least: 0, most: 1_000 },
        default: "20",
        doc: "how many unfinished child tasks a task may have, including the children of its children",
        affects: "when an agent's submission of a child task is refused",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.max_children,
        ..KEY
    },
    Key {
        name: "children.depth",
        kind: Kind::Count { least: 0, most: 10 },
        default: "2",
        doc: "how many levels of child tasks are allowed: 1 allows only children, 0 none",
        affects: "when an agent's submission of a child task is refused",
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
        edit: Some(|settings| Setting::Delay(settings.patience.delay_ms)),
        ..KEY
    },
    Key {
        name: "session.context",
        kind: Kind::Choice(Context::WORDS),
        default: "auto",
        doc: "whether a session goes on in the agent's conversation of the last one: never, always, or after an interrupted one",
        affects: "how every session of a new task begins",
        place: |settings| &mut settings.session.context,
        flag: Some("--context"),
        edit: Some(|settings| Setting::Context(settings.session.context)),
        ..KEY
    },
    Key {
        name: "session.on_limit",
        kind: Kind::Choice(OnLimit::WORDS),
        default: "wait",
        doc: "what a usage limit of the agent means: wait for its end, switch to the next agent, ask a person, or stop",
        affects: "what a task does when its agent has reached a usage limit",
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
        doc: "how long what an agent left running is waited for once its turn is over",
        affects: "when a session that is over and still runs is ended",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.patience.linger_ms,
        ..KEY
    },
    Key {
        name: "session.inhibit_sleep",
        kind: Kind::Flag,
        default: "true",
        doc: "whether the machine is asked to stay awake while a session runs",
        affects: "the machine's sleep during sessions",
        place: |settings| &mut settings.patience.keep_awake,
        ..KEY
    },
    Key {
        name: "session.scopes",
        kind: Kind::Flag,
        default: "true",
        doc: "whether workers and sessions run in scopes of their own when a systemd user manager answers and you linger",
        affects: "whether a logout ends what was started from that login",
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
        doc: "how much disk must be free before a session starts",
        affects: "when a task is blocked until the disk has room",
        untrusted: Untrusted::Raise,
        place: |settings| &mut settings.patience.disk_floor,
        ..KEY
    },
    Key {
        name: "log.segment",
        kind: sizes(4 * KIB, GIB),
        default: "16MiB",
        doc: "the size of one piece of a session's log; `log.cap` caps it too",
        affects: "in which pieces a session's output is kept and dropped",
        place: |settings| &mut settings.patience.log_segment,
        ..KEY
    },
    Key {
        name: "log.cap",
        kind: sizes(4 * KIB, TIB),
        default: "256MiB",
        doc: "the most that is kept of each stream of a session; the oldest pieces go first",
        affects: "how much of a session's output is kept",
        place: |settings| &mut settings.patience.log_cap,
        ..KEY
    },
    Key {
        name: "retention.age",
        kind: times(0, 3_650 * DAY),
        default: "30d",
        off: Some("for ever"),
        doc: "how long a finished task is kept",
        affects: "which finished tasks are swept",
        place: |settings| &mut settings.retention.age,
        ..KEY
    },
    Key {
        name: "retention.count",
        kind: Kind::Count { least: 0, most: 10_000_000 },
        default: "1000",
        off: Some("all"),
        doc: "how many finished tasks are kept; the newest stay",
        affects: "which finished tasks are swept",
        place: |settings| &mut settings.retention.count,
        ..KEY
    },
    Key {
        name: "retention.bytes",
        kind: sizes(0, 1024 * TIB),
        default: "10GiB",
        off: Some("any amount"),
        doc: "how much disk finished tasks may take together; the newest stay",
        affects: "which finished tasks are swept",
        place: |settings| &mut settings.retention.bytes,
        ..KEY
    },
    Key {
        name: "env.need",
        kind: Kind::Names,
        default: "",
        doc: "variables the agent needs besides those its adapter names",
        affects: "when a task is blocked because a variable that was set when the agent was chosen is missing",
        place: |settings| &mut settings.env.need,
        ..KEY
    },
    Key {
        name: "env.only",
        kind: Kind::Names,
        default: NONE,
        off: Some("all but Longhaul's own"),
        doc: "the only variables agents and checks get, besides those the agent needs (strict mode)",
        affects: "the environment of every session",
        place: |settings| &mut settings.env.only,
        ..KEY
    },
    Key {
        name: "redact.extra",
        kind: Kind::Names,
        default: "",
        doc: "variables whose values are secrets although their names do not say so",
        affects: "what is masked in logs, plans, goals and reports",
        place: |settings| &mut settings.redact.extra,
        ..KEY
    },
    Key {
        name: "prompts.project",
        kind: Kind::Flag,
        default: "false",
        doc: "whether the project's own prompt templates, `.longhaul/prompts/*.md`, are used",
        affects: "what the agents of a new task are told",
        place: |settings| &mut settings.prompts.project,
        ..KEY
    },
    Key {
        name: "notify.on",
        kind: Kind::Words(Occasion::WORDS),
        default: "done,failed,needs_person,limit,stopped",
        doc: "the occasions on which the targets below are told",
        affects: "what of a new task is told to people who are not looking",
        place: |settings| &mut settings.notify.on,
        ..KEY
    },
    Key {
        name: "notify.command",
        kind: Kind::Argv,
        default: "",
        doc: "a program and its arguments, run with the facts in variables and as JSON on its standard input",
        affects: "who is told what a new task came to",
        place: |settings| &mut settings.notify.command,
        ..KEY
    },
    Key {
        name: "notify.file",
        kind: Kind::File,
        default: NONE,
        off: Some("no file"),
        doc: "a file that is written, in whose path `{name}`, `{task}` and `{occasion}` stand for the task's",
        affects: "who is told what a new task came to",
        place: |settings| &mut settings.notify.file,
        ..KEY
    },
    Key {
        name: "notify.webhook",
        kind: Kind::Url,
        default: NONE,
        off: Some("no server"),
        doc: "a server that gets a POST; an address that is a secret is named by the variable that holds it",
        affects: "who is told what a new task came to",
        place: |settings| &mut settings.notify.webhook,
        ..KEY
    },
    Key {
        name: "notify.webhook_secret_env",
        kind: Kind::Name,
        default: NONE,
        off: Some("not signed"),
        doc: "the variable that holds the key of the signature in `X-Longhaul-Signature`",
        affects: "whether the server can tell that a message is ours",
        place: |settings| &mut settings.notify.webhook_secret_env,
        ..KEY
    },
    Key {
        name: "notify.desktop",
        kind: Kind::Flag,
        default: "false",
        doc: "whether the desktop shows it, by notify-send or osascript",
        affects: "who is told what a new task came to",
        place: |settings| &mut settings.notify.desktop,
        ..KEY
    },
    Key {
        name: "notify.timeout",
        kind: times(1, HOUR),
        default: "30s",
        doc: "how long one try to tell somebody may take",
        affects: "when a program that hangs is killed and a server is given up",
        place: |settings| &mut settings.notify.timeout,
        ..KEY
    },
];

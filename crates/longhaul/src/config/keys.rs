//! The one table of configuration keys: type, default, meaning, effect, and what an untrusted file may do with each.
//! Reading, `config show`, the reference page and the JSON schema all come from it; a key that is not here does not exist.

use std::time::Duration;

use longhaul_core::task::{Context, Occasion, OnLimit, Sandbox};

use super::kind::{Kind, NONE};
use super::settings::Settings;
use super::value::{Raw, Slot, Value};

/// The place of one value in the settings.
pub(crate) type Place = for<'a> fn(&'a mut Settings) -> &'a mut dyn Slot;

/// One key.
pub(crate) struct Key {
    /// Its name, with its section before the dot.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The default, written as a variable would be.
    pub(crate) default: &'static str,
    /// What `none` means for it; without this it must have a value.
    pub(crate) off: Option<&'static str>,
    /// What it says, in one line.
    pub(crate) doc: &'static str,
    /// Which part of a task's life it changes.
    pub(crate) affects: &'static str,
    pub(crate) untrusted: Untrusted,
    pub(crate) place: Place,
}

/// What a `longhaul.toml` may do with a key before a person has trusted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Untrusted {
    /// Set it: no value within its bounds does harm.
    Any,
    /// Only lower it.
    Lower,
    /// Only raise it.
    Raise,
    /// Nothing: it runs a program, chooses who works or what is seen, or reaches beyond this project.
    Nothing,
}

impl Untrusted {
    /// The rule as the reference says it.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Untrusted::Any => "any value",
            Untrusted::Lower => "only a lower one",
            Untrusted::Raise => "only a higher one",
            Untrusted::Nothing => "ignored",
        }
    }

    /// Whether a file that nobody trusted may change one value into another.
    pub(crate) fn allows(self, from: &Value, to: &Value) -> bool {
        match self {
            Untrusted::Any => true,
            Untrusted::Lower => to.is_at_most(from),
            Untrusted::Raise => from.is_at_most(to),
            Untrusted::Nothing => from == to,
        }
    }
}

impl Key {
    /// Finds a key by the parts of its name, so that a dot inside a quoted part is not taken for a section's.
    pub(crate) fn find(parts: &[&str]) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.name.split('.').eq(parts.iter().copied()))
    }

    /// The environment variable that sets it.
    pub(crate) fn variable(&self) -> String {
        format!("LONGHAUL_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// The section it is in, if any, and its name there.
    pub(crate) fn split(&self) -> (Option<&'static str>, &'static str) {
        self.name.split_once('.').map_or((None, self.name), |(section, name)| (Some(section), name))
    }

    /// The value that was written, or nothing when this key does not take it.
    pub(crate) fn read(&self, raw: &Raw) -> Option<Value> {
        match raw {
            Raw::Word(word) | Raw::Text(word) if self.off.is_some() && word.trim() == NONE => Some(Value::Nothing),
            _ => self.kind.read(raw),
        }
    }

    /// What may be written, in words.
    pub(crate) fn wanted(&self) -> String {
        match self.off {
            Some(meaning) => format!("{}, or `{NONE}` ({meaning})", self.kind.wanted()),
            None => self.kind.wanted(),
        }
    }

    /// The value it has in these settings.
    pub(crate) fn value(&self, settings: &mut Settings) -> Value {
        (self.place)(settings).get()
    }
}

/// The settings when nobody has set anything.
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
pub(crate) fn sections() -> Vec<&'static str> {
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

/// Every key.
pub(crate) const KEYS: &[Key] = &[
    Key {
        name: "agent",
        kind: Kind::Agent,
        default: "demo",
        off: None,
        doc: "the agent that works on tasks",
        affects: "which program every session of a new task runs",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.agent,
    },
    Key {
        name: "fallbacks",
        kind: Kind::Agents,
        default: "",
        off: None,
        doc: "the agents to go on with when the first one has reached its usage limit, in order",
        affects: "who works on with `session.on_limit = \"switch\"`",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.fallbacks,
    },
    Key {
        name: "sandbox",
        kind: Kind::Choice(Sandbox::WORDS),
        default: "workspace",
        off: None,
        doc: "what agents may write: nothing, their workspace, or everything you may",
        affects: "the mode in which every session of a new task is started, as far as its agent has one",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.sandbox,
    },
    Key {
        name: "network",
        kind: Kind::Flag,
        default: "false",
        off: None,
        doc: "whether the network is opened to the agents' tools where a sandbox closes it",
        affects: "the mode in which every session of a new task is started",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.network,
    },
    Key {
        name: "model",
        kind: Kind::Model,
        default: NONE,
        off: Some("the agent's own configuration decides"),
        doc: "the model to ask the agent for",
        affects: "what every session of a new task is asked with",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.model,
    },
    Key {
        name: "workspace.in_place",
        kind: Kind::Flag,
        default: "false",
        off: None,
        doc: "whether the agent works in your own checkout instead of a worktree of its own",
        affects: "where a new task's files and commits are made",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.workspace.in_place,
    },
    Key {
        name: "verify.commands",
        kind: Kind::Commands,
        default: "",
        off: None,
        doc: "the commands that check the result; all must succeed",
        affects: "what is run once every step is ticked; without any, a task ends done and unverified",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.verify.commands,
    },
    Key {
        name: "verify.deadline",
        kind: patience(7 * DAY),
        default: "30m",
        off: None,
        doc: "how long one check may take",
        affects: "when a check is ended and counts as failed",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.verify.deadline,
    },
    Key {
        name: "verify.fix_attempts",
        kind: Kind::Count { least: 0, most: 100 },
        default: "3",
        off: None,
        doc: "how often the agent is sent to repair what a check found",
        affects: "when a task with failing checks ends as not verified",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.verify.fix_attempts,
    },
    Key {
        name: "limits.max_sessions",
        kind: Kind::Count { least: 1, most: 100_000 },
        default: NONE,
        off: Some("no limit"),
        doc: "the most sessions of one task",
        affects: "when a task is stopped by a limit",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.limits.max_sessions,
    },
    Key {
        name: "limits.max_time",
        kind: patience(365 * DAY),
        default: "5h",
        off: Some("no limit"),
        doc: "the most working time of one task: its sessions' durations together, without waits and pauses",
        affects: "when a task is stopped by a limit",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.limits.max_time,
    },
    Key {
        name: "limits.max_tokens",
        kind: Kind::Count { least: 1, most: MOST },
        default: NONE,
        off: Some("no limit"),
        doc: "the most tokens of one task",
        affects: "when a task is stopped by a limit",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.limits.max_tokens,
    },
    Key {
        name: "limits.max_cost",
        kind: Kind::Money,
        default: NONE,
        off: Some("no limit"),
        doc: "the most US dollars of one task, as far as its agent tells them",
        affects: "when a task is stopped by a limit",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.limits.max_cost_micros,
    },
    Key {
        name: "limits.idle_sessions",
        kind: Kind::Count { least: 1, most: 1_000 },
        default: "3",
        off: None,
        doc: "completed sessions in a row without progress after which a person is asked",
        affects: "when a task needs help",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.limits.idle_sessions,
    },
    Key {
        name: "limits.attempts",
        kind: Kind::Count { least: 1, most: 100 },
        default: "5",
        off: None,
        doc: "failed sessions in a row after which a person is asked",
        affects: "when a task needs help",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.limits.attempts,
    },
    Key {
        name: "limits.session_wall",
        kind: patience(30 * DAY),
        default: "5h",
        off: Some("no limit"),
        doc: "how long one session may take",
        affects: "when a session is ended",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.limits.session_wall,
    },
    Key {
        name: "limits.session_silence",
        kind: patience(30 * DAY),
        default: "30m",
        off: Some("no limit"),
        doc: "how long one session may print nothing",
        affects: "when a session is ended",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.limits.session_silence,
    },
    Key {
        name: "limits.spare_busy",
        kind: Kind::Flag,
        default: "false",
        off: None,
        doc: "whether a silent session that keeps a processor busy (5 percent of one) is left alone",
        affects: "whether silence ends a session that compiles or tests for long; `limits.session_wall` still does",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.limits.spare_busy,
    },
    Key {
        name: "limits.backoff",
        kind: times(0, DAY),
        default: "2s",
        off: None,
        doc: "how long to wait after the first failed session; doubles with each further one",
        affects: "when the next session starts after a failed one",
        untrusted: Untrusted::Raise,
        place: |settings| &mut settings.limits.backoff,
    },
    Key {
        name: "limits.backoff_cap",
        kind: times(0, 7 * DAY),
        default: "10m",
        off: None,
        doc: "the longest wait after failed sessions; it caps `limits.backoff` too",
        affects: "when the next session starts after a failed one",
        untrusted: Untrusted::Raise,
        place: |settings| &mut settings.limits.backoff_cap,
    },
    Key {
        name: "session.delay",
        kind: times(0, HOUR),
        default: "3s",
        off: None,
        doc: "how long to wait between two sessions",
        affects: "when the next session starts after a completed one",
        untrusted: Untrusted::Any,
        place: |settings| &mut settings.session.delay,
    },
    Key {
        name: "session.context",
        kind: Kind::Choice(Context::WORDS),
        default: "auto",
        off: None,
        doc: "whether a session goes on in the agent's conversation of the last one: never, always, or after an interrupted one",
        affects: "how every session of a new task begins",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.session.context,
    },
    Key {
        name: "session.on_limit",
        kind: Kind::Choice(OnLimit::WORDS),
        default: "wait",
        off: None,
        doc: "what a usage limit of the agent means: wait for its end, switch to the next agent, ask a person, or stop",
        affects: "what a task does when its agent has reached a usage limit",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.session.on_limit,
    },
    Key {
        name: "session.hours",
        kind: Kind::Hours,
        default: NONE,
        off: Some("at any hour"),
        doc: "the hours of the day in which sessions may start, in the machine's time zone",
        affects: "when the next session of a new task starts",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.session.hours,
    },
    Key {
        name: "session.linger",
        kind: times(1, HOUR),
        default: "1m",
        off: None,
        doc: "how long what an agent left running is waited for once its turn is over",
        affects: "when a session that is over and still runs is ended",
        untrusted: Untrusted::Lower,
        place: |settings| &mut settings.session.linger,
    },
    Key {
        name: "session.inhibit_sleep",
        kind: Kind::Flag,
        default: "true",
        off: None,
        doc: "whether the machine is asked to stay awake while a session runs",
        affects: "the machine's sleep during sessions",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.session.inhibit_sleep,
    },
    Key {
        name: "session.scopes",
        kind: Kind::Flag,
        default: "true",
        off: None,
        doc: "whether workers and sessions run in scopes of their own when a systemd user manager answers and you linger",
        affects: "whether a logout ends what was started from that login",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.session.scopes,
    },
    Key {
        name: "floors.memory",
        kind: sizes(0, TIB),
        default: "256MiB",
        off: None,
        doc: "how much memory must be free before a session starts",
        affects: "when a task is blocked until memory is free",
        untrusted: Untrusted::Raise,
        place: |settings| &mut settings.floors.memory,
    },
    Key {
        name: "floors.disk",
        kind: sizes(0, 1024 * TIB),
        default: "1GiB",
        off: None,
        doc: "how much disk must be free before a session starts",
        affects: "when a task is blocked until the disk has room",
        untrusted: Untrusted::Raise,
        place: |settings| &mut settings.floors.disk,
    },
    Key {
        name: "log.segment",
        kind: sizes(4 * KIB, GIB),
        default: "16MiB",
        off: None,
        doc: "the size of one piece of a session's log; `log.cap` caps it too",
        affects: "in which pieces a session's output is kept and dropped",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.log.segment,
    },
    Key {
        name: "log.cap",
        kind: sizes(4 * KIB, TIB),
        default: "256MiB",
        off: None,
        doc: "the most that is kept of each stream of a session; the oldest pieces go first",
        affects: "how much of a session's output is kept",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.log.cap,
    },
    Key {
        name: "retention.age",
        kind: times(0, 3_650 * DAY),
        default: "30d",
        off: Some("for ever"),
        doc: "how long a finished task is kept",
        affects: "which finished tasks are swept",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.retention.age,
    },
    Key {
        name: "retention.count",
        kind: Kind::Count { least: 0, most: 10_000_000 },
        default: "1000",
        off: Some("all"),
        doc: "how many finished tasks are kept; the newest stay",
        affects: "which finished tasks are swept",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.retention.count,
    },
    Key {
        name: "retention.bytes",
        kind: sizes(0, 1024 * TIB),
        default: "10GiB",
        off: Some("any amount"),
        doc: "how much disk finished tasks may take together; the newest stay",
        affects: "which finished tasks are swept",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.retention.bytes,
    },
    Key {
        name: "env.need",
        kind: Kind::Names,
        default: "",
        off: None,
        doc: "variables the agent needs besides those its adapter names",
        affects: "when a task is blocked because a variable that was set when the agent was chosen is missing",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.env.need,
    },
    Key {
        name: "env.only",
        kind: Kind::Names,
        default: NONE,
        off: Some("all but Longhaul's own"),
        doc: "the only variables agents and checks get, besides those the agent needs (strict mode)",
        affects: "the environment of every session",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.env.only,
    },
    Key {
        name: "redact.extra",
        kind: Kind::Names,
        default: "",
        off: None,
        doc: "variables whose values are secrets although their names do not say so",
        affects: "what is masked in logs, plans, goals and reports",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.redact.extra,
    },
    Key {
        name: "prompts.project",
        kind: Kind::Flag,
        default: "false",
        off: None,
        doc: "whether the project's own prompt templates, `.longhaul/prompts/*.md`, are used",
        affects: "what the agents of a new task are told",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.prompts.project,
    },
    Key {
        name: "notify.on",
        kind: Kind::Words(Occasion::WORDS),
        default: "done,failed,needs_person,limit,stopped",
        off: None,
        doc: "the occasions on which the targets below are told",
        affects: "what of a new task is told to people who are not looking",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.notify.on,
    },
    Key {
        name: "notify.command",
        kind: Kind::Argv,
        default: "",
        off: None,
        doc: "a program and its arguments, run with the facts in variables and as JSON on its standard input",
        affects: "who is told what a new task came to",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.notify.command,
    },
    Key {
        name: "notify.file",
        kind: Kind::File,
        default: NONE,
        off: Some("no file"),
        doc: "a file that is written, in whose path `{name}`, `{task}` and `{occasion}` stand for the task's",
        affects: "who is told what a new task came to",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.notify.file,
    },
    Key {
        name: "notify.webhook",
        kind: Kind::Url,
        default: NONE,
        off: Some("no server"),
        doc: "a server that gets a POST; an address that is a secret is named by the variable that holds it",
        affects: "who is told what a new task came to",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.notify.webhook,
    },
    Key {
        name: "notify.webhook_secret_env",
        kind: Kind::Name,
        default: NONE,
        off: Some("not signed"),
        doc: "the variable that holds the key of the signature in `X-Longhaul-Signature`",
        affects: "whether the server can tell that a message is ours",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.notify.webhook_secret_env,
    },
    Key {
        name: "notify.desktop",
        kind: Kind::Flag,
        default: "false",
        off: None,
        doc: "whether the desktop shows it, by notify-send or osascript",
        affects: "who is told what a new task came to",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.notify.desktop,
    },
    Key {
        name: "notify.openclaw",
        kind: Kind::Flag,
        default: "false",
        off: None,
        doc: "whether OpenClaw gets a system event",
        affects: "who is told what a new task came to",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.notify.openclaw,
    },
    Key {
        name: "notify.timeout",
        kind: times(1, HOUR),
        default: "30s",
        off: None,
        doc: "how long one try to tell somebody may take",
        affects: "when a program that hangs is killed and a server is given up",
        untrusted: Untrusted::Nothing,
        place: |settings| &mut settings.notify.timeout,
    },
];

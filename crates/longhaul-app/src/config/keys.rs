//! The table of configuration keys: type, default, meaning, effect, and what an untrusted file may do with each.
//! Reading, `config show`, the reference page and the JSON schema all come from it. A key without a row does not exist.

use std::time::Duration;

use longhaul_core::task::{ChecksIn, Context, Limit, Occasion, OnLimit, Sandbox, Setting};

use super::key::{Key, Untrusted, key};
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

const fn count(least: u64, most: u64) -> Kind {
    Kind::Count { least, most }
}

const fn sizes(least: u64, most: u64) -> Kind {
    Kind::Size { least, most }
}

const KIB: u64 = 1 << 10;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
/// The largest number a file can hold.
const MOST: u64 = i64::MAX as u64;

const ALL_OCCASIONS: &str = "done,failed,needs_person,limit,stopped";

/// Every key.
pub(crate) const KEYS: &[Key] = &[
    key("agent", Kind::Agent, NONE, |settings| &mut settings.agent)
        .doc("the agent that works on tasks")
        .affects("which program every session of a new task runs")
        .off("the only one that is installed and logged in, else the one last used in the project, else you are asked")
        .flag("--agent")
        .edit(|settings| Setting::Agent(settings.agent.clone().unwrap_or_default())),
    key("fallbacks", Kind::Agents, "", |settings| &mut settings.fallbacks)
        .doc("the agents to switch to, in order, when the first one reaches its usage limit")
        .affects("which agent takes over with `session.on_limit = \"switch\"`")
        .flag("--agents")
        .edit(|settings| Setting::Fallbacks(settings.fallbacks.clone())),
    key("sandbox", Kind::Choice(Sandbox::WORDS), "workspace", |settings| &mut settings.sandbox)
        .doc("what agents may write: nothing, their workspace, or everything you can")
        .affects("the sandbox mode of every session of a new task, if its agent supports it")
        .flag("--sandbox")
        .edit(|settings| Setting::Sandbox(settings.sandbox)),
    key("network", Kind::Flag, "false", |settings| &mut settings.network)
        .doc("whether agents' tools may use the network where a sandbox blocks it")
        .affects("network access in every session of a new task")
        .flag("--network")
        .edit(|settings| Setting::Network(settings.network)),
    key("model", Kind::Model, NONE, |settings| &mut settings.model)
        .doc("the model the agent should use")
        .affects("the model of every session of a new task")
        .off("the agent's own configuration decides")
        .flag("--model")
        .edit(|settings| Setting::Model(settings.model.clone())),
    key("workspace.in_place", Kind::Flag, "false", |settings| &mut settings.workspace.in_place)
        .doc("whether the agent works in your own checkout and not in a separate worktree")
        .affects("where the agent of a new task edits files and commits")
        .flag("--in-place"),
    key("workspace.setup", Kind::Command, NONE, |settings| &mut settings.workspace.setup)
        .doc("the command that prepares a new worktree or a clean checkout, such as `npm ci`")
        .affects("what runs in a task's worktree before the first session, and in a clean checkout before the checks")
        .off("no setup")
        .flag("--setup")
        .edit(|settings| Setting::Setup(settings.workspace.setup.clone())),
    key("workspace.copy", Kind::Patterns, "", |settings| &mut settings.workspace.copy)
        .doc("ignored files of your checkout that agents and checks need, such as `.env`")
        .affects("which files are copied into a task's worktree and into clean checkouts"),
    key("verify.commands", Kind::Commands, "", |settings| &mut settings.verify.commands)
        .doc("the commands that check the result; all must succeed")
        .affects("what runs once every step is ticked; without any command, a task ends as done but unverified"),
    key("verify.where", Kind::Choice(ChecksIn::WORDS), "auto", |settings| &mut settings.verify.checks_in)
        .doc("where checks run: in the workspace, in a clean checkout, or `auto`: clean if `workspace.setup` is set")
        .affects("whether files that git ignores are present when the checks run"),
    key("verify.deadline", patience(7 * DAY), "30m", |settings| &mut settings.patience.check_ms)
        .doc("how long one check, or the setup command, may take")
        .affects("when a check is stopped and counts as failed")
        .untrusted(Untrusted::Lower),
    key("verify.fix_attempts", count(0, 100), "3", |settings| &mut settings.patience.fix_attempts)
        .doc("how often the agent may try to fix failing checks")
        .affects("when a task with failing checks ends as not verified")
        .untrusted(Untrusted::Lower)
        .limit_flag("--fix-attempts", "N", "Number of fixing sessions after failed checks")
        .edit(|settings| Setting::FixAttempts(settings.patience.fix_attempts)),
    key("limits.max_sessions", count(1, 100_000), NONE, |settings| &mut settings.patience.max_sessions)
        .doc("the most sessions a task may use")
        .affects("when a limit stops a task")
        .off("no limit")
        .untrusted(Untrusted::Lower)
        .limit_flag("--max-sessions", "N", "Total number of agent sessions, or `none`; checks do not count")
        .edit(|settings| Setting::Limit(Limit::Sessions, settings.patience.max_sessions.map(u64::from))),
    key("limits.max_time", patience(365 * DAY), "5h", |settings| &mut settings.patience.max_time_ms)
        .doc("the most working time a task may use: the time of all its sessions, without waits and pauses")
        .affects("when a limit stops a task")
        .off("no limit")
        .untrusted(Untrusted::Lower)
        .limit_flag("--max-time", "SPAN", "Total working time, such as `5h`, or `none`; waits and pauses do not count")
        .edit(|settings| Setting::Limit(Limit::Time, settings.patience.max_time_ms)),
    key("limits.max_tokens", count(1, MOST), NONE, |settings| &mut settings.patience.max_tokens)
        .doc("the most tokens a task may use")
        .affects("when a limit stops a task")
        .off("no limit")
        .untrusted(Untrusted::Lower)
        .limit_flag("--max-tokens", "N", "Total number of tokens, or `none`")
        .edit(|settings| Setting::Limit(Limit::Tokens, settings.patience.max_tokens)),
    key("limits.max_cost", Kind::Money, NONE, |settings| &mut settings.patience.max_cost_micros)
        .doc("the most US dollars a task may cost, as far as its agent reports costs")
        .affects("when a limit stops a task")
        .off("no limit")
        .untrusted(Untrusted::Lower)
        .limit_flag("--max-cost", "USD", "Total cost in US dollars, or `none`")
        .edit(|settings| Setting::Limit(Limit::Cost, settings.patience.max_cost_micros)),
    key("limits.idle_sessions", count(1, 1_000), "3", |settings| &mut settings.patience.idle_sessions)
        .doc("after how many completed sessions in a row without progress the task asks for you")
        .affects("when a task needs you")
        .untrusted(Untrusted::Lower)
        .limit_flag("--idle-sessions", "N", "Ask you after this many sessions in a row without progress")
        .edit(|settings| Setting::IdleSessions(settings.patience.idle_sessions)),
    key("limits.attempts", count(1, 100), "5", |settings| &mut settings.patience.attempts)
        .doc("after how many failed sessions in a row the task asks for you")
        .affects("when a task needs you")
        .untrusted(Untrusted::Lower)
        .limit_flag("--attempts", "N", "Ask you after this many failed sessions in a row")
        .edit(|settings| Setting::Attempts(settings.patience.attempts)),
    key("limits.session_wall", patience(30 * DAY), "5h", |settings| &mut settings.patience.wall_ms)
        .doc("how long a session may take")
        .affects("when a session is stopped")
        .off("no limit")
        .untrusted(Untrusted::Lower)
        .limit_flag("--wall", "SPAN", "Stop a session after this time, or `none`")
        .edit(|settings| Setting::Wall(settings.patience.wall_ms)),
    key("limits.session_silence", patience(30 * DAY), "30m", |settings| &mut settings.patience.silence_ms)
        .doc("how long a session may print nothing")
        .affects("when a session is stopped")
        .off("no limit")
        .untrusted(Untrusted::Lower)
        .limit_flag("--silence", "SPAN", "Stop a session after this time without output, or `none`")
        .edit(|settings| Setting::Silence(settings.patience.silence_ms)),
    key("limits.spare_busy", Kind::Flag, "false", |settings| &mut settings.patience.spare_busy)
        .doc("whether a silent session may continue while it uses at least 5 percent of one processor")
        .affects(
            "whether silence stops a session during a long build or test run; `limits.session_wall` still \
             applies",
        ),
    key("limits.backoff", times(0, DAY), "2s", |settings| &mut settings.patience.backoff_ms)
        .doc("how long to wait after a failed session; the wait doubles with each further failure")
        .affects("when the next session starts after a failed one")
        .untrusted(Untrusted::Raise)
        .flag("--backoff"),
    key("limits.backoff_cap", times(0, 7 * DAY), "10m", |settings| &mut settings.patience.backoff_cap_ms)
        .doc("the longest wait after failed sessions; also caps `limits.backoff`")
        .affects("when the next session starts after a failed one")
        .untrusted(Untrusted::Raise),
    key("limits.longest_wait", times(1, 366 * DAY), "8d", |settings| &mut settings.patience.longest_wait_ms)
        .doc("the longest wait for a usage limit; if one ends later, the task switches agents or asks a person")
        .affects("whether a task waits for its agent's usage limit to end, switches agents or needs you")
        .untrusted(Untrusted::Lower),
    key("children.max", count(0, 1_000), "20", |settings| &mut settings.patience.max_children)
        .doc("how many unfinished child tasks a task may have, including the children of its children")
        .affects("when a child task that an agent submits is refused")
        .untrusted(Untrusted::Lower),
    key("children.depth", count(0, 10), "2", |settings| &mut settings.patience.child_depth)
        .doc("how many levels of child tasks are allowed: 1 allows only children, 0 none")
        .affects("when a child task that an agent submits is refused")
        .untrusted(Untrusted::Lower),
    key("session.delay", times(0, HOUR), "3s", |settings| &mut settings.patience.delay_ms)
        .doc("how long to wait between two sessions")
        .affects("when the next session starts after a completed one")
        .untrusted(Untrusted::Any)
        .limit_flag("--delay", "SPAN", "Pause between two sessions")
        .edit(|settings| Setting::Delay(settings.patience.delay_ms)),
    key("session.context", Kind::Choice(Context::WORDS), "auto", |settings| &mut settings.session.context)
        .doc("whether a session resumes the conversation of the last one: never, always, or only after an interruption")
        .affects("how every session of a new task starts")
        .flag("--context")
        .edit(|settings| Setting::Context(settings.session.context)),
    key("session.on_limit", Kind::Choice(OnLimit::WORDS), "wait", |settings| &mut settings.session.on_limit)
        .doc(
            "what to do at the agent's usage limit: wait until it ends, switch to the next agent, ask a person, or \
             stop",
        )
        .affects("what a task does when its agent reaches a usage limit")
        .flag("--on-limit")
        .edit(|settings| Setting::OnLimit(settings.session.on_limit)),
    key("session.hours", Kind::Hours, NONE, |settings| &mut settings.session.hours)
        .doc("the hours of the day in which sessions may start, in the machine's time zone")
        .affects("when the next session of a new task starts")
        .off("at any hour")
        .flag("--hours")
        .edit(|settings| Setting::Hours(settings.session.hours)),
    key("session.linger", times(1, HOUR), "1m", |settings| &mut settings.patience.linger_ms)
        .doc("how long to wait for background processes after the agent's turn ends")
        .affects("when a session is stopped whose turn has ended but whose processes still run")
        .untrusted(Untrusted::Lower),
    key("session.inhibit_sleep", Kind::Flag, "true", |settings| &mut settings.patience.keep_awake)
        .doc("whether to keep the machine awake while a session runs")
        .affects("whether the machine can sleep during sessions"),
    key("session.scopes", Kind::Flag, "true", |settings| &mut settings.patience.scopes)
        .doc(
            "whether workers and sessions run in their own systemd scopes, if a user manager is running and \
             lingering is enabled",
        )
        .affects("whether logging out stops workers and sessions started from that login"),
    key("floors.memory", sizes(0, TIB), "256MiB", |settings| &mut settings.patience.memory_floor)
        .doc("how much memory must be free before a session starts")
        .affects("when a task is blocked until memory is free")
        .untrusted(Untrusted::Raise),
    key("floors.disk", sizes(0, 1024 * TIB), "1GiB", |settings| &mut settings.patience.disk_floor)
        .doc("how much disk space must be free before a session starts")
        .affects("when a task is blocked until disk space is free")
        .untrusted(Untrusted::Raise),
    key("log.segment", sizes(4 * KIB, GIB), "16MiB", |settings| &mut settings.patience.log_segment)
        .doc("the size of one log segment; never more than `log.cap`")
        .affects("the unit in which a session's output is kept and dropped"),
    key("log.cap", sizes(4 * KIB, TIB), "256MiB", |settings| &mut settings.patience.log_cap)
        .doc("how much of each output stream of a session to keep; the oldest segments are dropped first")
        .affects("how much of a session's output is kept"),
    key("land.trailer", Kind::Flag, "true", |settings| &mut settings.land.trailer)
        .doc("whether the message of a commit that lands ends with `Longhaul-Task: ID`")
        .affects("the message of the commit that `longhaul land` makes")
        .untrusted(Untrusted::Any),
    key("retention.age", times(0, 3_650 * DAY), "30d", |settings| &mut settings.retention.age)
        .doc("how long to keep a finished task")
        .affects("which finished tasks `longhaul gc` removes")
        .off("forever"),
    key("retention.count", count(0, 10_000_000), "1000", |settings| &mut settings.retention.count)
        .doc("how many finished tasks to keep, newest first")
        .affects("which finished tasks `longhaul gc` removes")
        .off("all"),
    key("retention.bytes", sizes(0, 1024 * TIB), "10GiB", |settings| &mut settings.retention.bytes)
        .doc("how much disk space all finished tasks may use together; the newest are kept")
        .affects("which finished tasks `longhaul gc` removes")
        .off("any amount"),
    key("retention.automatic", Kind::Flag, "true", |settings| &mut settings.retention.automatic)
        .doc("whether a resident worker (`worker --stay`, `serve`, the service) runs `longhaul gc` automatically, at most once an hour")
        .affects("whether finished tasks are removed without `longhaul gc`"),
    key("env.need", Kind::Names, "", |settings| &mut settings.env.need)
        .doc("environment variables the agent needs besides those Longhaul knows of")
        .affects("when a task is blocked because a variable is missing that was set when the agent was chosen"),
    key("env.only", Kind::Names, NONE, |settings| &mut settings.env.only)
        .doc("the only environment variables that agents and checks get, besides those the agent needs (strict mode)")
        .affects("the environment of every session")
        .off("all but Longhaul's own"),
    key("redact.extra", Kind::Names, "", |settings| &mut settings.redact.extra)
        .doc("environment variables whose values are secret although their names do not suggest it")
        .affects("what is masked in logs, plans, goals and reports"),
    key("prompts.project", Kind::Flag, "false", |settings| &mut settings.prompts.project)
        .doc("whether to use the project's own prompt templates, `.longhaul/prompts/*.md`")
        .affects("the prompts of a new task's sessions"),
    key("serve.projects", Kind::Projects, "", |settings| &mut settings.serve.projects)
        .doc("the directories that callers of the HTTP server may work in; has no effect in a `longhaul.toml`")
        .affects(
            "which workspaces and files a request with an API key may name, links resolved; without any, such \
             a request submits nothing",
        ),
    key("notify.on", Kind::Words(Occasion::WORDS), ALL_OCCASIONS, |settings| &mut settings.notify.on)
        .doc("the occasions on which to notify the targets below")
        .affects("which notices a new task sends"),
    key("notify.command", Kind::Argv, "", |settings| &mut settings.notify.command)
        .doc("a program and its arguments; it gets the facts in environment variables and as JSON on stdin")
        .affects("who is notified about a new task"),
    key("notify.file", Kind::File, NONE, |settings| &mut settings.notify.file)
        .doc("a file to write each notice to; `{name}`, `{task}` and `{occasion}` in the path are replaced")
        .affects("who is notified about a new task")
        .off("no file"),
    key("notify.webhook", Kind::Url, NONE, |settings| &mut settings.notify.webhook)
        .doc("a URL that receives a POST; if the URL is secret, name the variable that holds it")
        .affects("who is notified about a new task")
        .off("no server"),
    key("notify.webhook_secret_env", Kind::Name, NONE, |settings| &mut settings.notify.webhook_secret_env)
        .doc("the environment variable that holds the key for the signature in `X-Longhaul-Signature`")
        .affects("whether the server can verify that a notice comes from you")
        .off("not signed"),
    key("notify.desktop", Kind::Flag, NONE, |settings| &mut settings.notify.desktop)
        .doc("whether to show a desktop notification, with notify-send or osascript")
        .affects("who is notified about a new task")
        .off("if the program and a session bus are found"),
    key("notify.terminal", Kind::Flag, "true", |settings| &mut settings.notify.terminal)
        .doc("whether `run`, `attach` and `wait` ring the terminal's bell, and show a notification where the terminal can")
        .affects("what happens on the terminal when a task ends, needs you or reaches a usage limit"),
    key("notify.timeout", times(1, HOUR), "30s", |settings| &mut settings.notify.timeout)
        .doc("how long one attempt to send a notice may take")
        .affects("when a hanging program is killed or a request to a server is given up"),
];

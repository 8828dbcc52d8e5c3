//! Arguments of the verbs that create, steer and change a task.
//! Parsed with the rest of the command line; the files of the same names in `commands/` carry them out.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{Which, WhichToRead};
use crate::task_flags::TaskFlags;
use longhaul_app::config::{SPAN_SPELLING, read_span};
use longhaul_app::submit;

/// Options of every verb that changes a task.
#[derive(Debug, Args)]
pub(crate) struct Request {
    /// Idempotency key: if you got no answer, repeat the command with the same key, and it is carried out only once
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// Print the task as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = run_help())]
pub(crate) struct Run {
    /// The goal; `-` reads it from standard input. Without one, your editor opens
    #[arg(conflicts_with = "file")]
    pub(crate) goal: Option<String>,
    /// Read the goal from this file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Name of the task; by default made from the goal
    #[arg(long, short)]
    pub(crate) name: Option<String>,
    /// Model the agent should use; by default `model` in the configuration, else the agent's own choice
    #[arg(long, short)]
    pub(crate) model: Option<String>,
    /// Directory to work in; by default the current one
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Branch to start from and to land on; by default the one that is checked out
    #[arg(long, value_name = "BRANCH")]
    pub(crate) base: Option<String>,
    /// Use the keys of `[profile.NAME]` in the configuration
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Show what the task would run with, and submit nothing
    #[arg(long, conflicts_with_all = ["detach", "tmux", "key"])]
    pub(crate) dry_run: bool,
    /// Return as soon as the task is stored; it runs in the background
    #[arg(long, short)]
    pub(crate) detach: bool,
    /// Show every event, and what the agent says and does
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) verbose: bool,
    /// Command that must pass for the task to be done; repeatable, in addition to the configured ones
    #[arg(long = "check", short, value_name = "COMMAND", help_heading = "Verification")]
    pub(crate) checks: Vec<String>,
    /// Acceptance criterion in words, or `words = command` with a command that proves it; repeatable
    #[arg(long = "criterion", value_name = "TEXT", help_heading = "Verification")]
    pub(crate) criteria: Vec<String>,
    /// File that must exist when the task is done, relative to the workspace; repeatable
    #[arg(long = "expect", value_name = "FILE", help_heading = "Verification")]
    pub(crate) expects: Vec<String>,
    /// Constraint the agent must respect; repeatable
    #[arg(long = "constraint", value_name = "TEXT")]
    pub(crate) constraints: Vec<String>,
    /// File the agent should start from; repeatable
    #[arg(long = "input", value_name = "FILE")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Priority; tasks with a higher one start first
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    pub(crate) priority: i64,
    /// Start only after this task is verified
    #[arg(long, value_name = "TASK")]
    pub(crate) after: Option<String>,
    /// Work in your checkout instead of a separate worktree
    #[arg(long)]
    pub(crate) in_place: bool,
    /// Fail instead of waiting if another task works in this directory, a parent or a subdirectory
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Submit although the agent or a check cannot work as things are now
    #[arg(long)]
    pub(crate) no_preflight: bool,
    /// Wait after the first failed session; doubles with each further failure
    #[arg(long, value_name = "SPAN", help_heading = "Limits")]
    pub(crate) backoff: Option<String>,
    #[command(flatten)]
    pub(crate) flags: TaskFlags,
    /// Open a read-only view in a new tmux session, and print how to get there
    #[arg(long, conflicts_with_all = ["detach", "json"])]
    pub(crate) tmux: bool,
    /// Idempotency key: if you got no answer, repeat the command with the same key, and only one task is created
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// Print one JSON document per line: the new task, what happens, the task at the end. With --detach, only the new task
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = TAKEOVER_HELP)]
pub(crate) struct Takeover {
    #[command(flatten)]
    pub(crate) which: Which,
}

#[derive(Debug, Args)]
#[command(after_help = SEVERAL_HELP)]
pub(crate) struct Pause {
    /// Names or ids of tasks, or beginnings of names; by default the only unfinished task of this project
    #[arg(value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
    /// Pause every task of this project that runs or waits
    #[arg(long, conflicts_with = "tasks")]
    pub(crate) all: bool,
    /// Kill the agent instead of asking it to stop
    #[arg(long)]
    pub(crate) now: bool,
    /// Kill a worker or keeper that does not answer within 10 seconds
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) request: Request,
}

#[derive(Debug, Args)]
#[command(after_help = SEVERAL_HELP)]
pub(crate) struct Resume {
    /// Names or ids of tasks, or beginnings of names; by default the only unfinished task of this project
    #[arg(value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
    /// Resume every paused task of this project; with --reason also those that need you
    #[arg(long, conflicts_with = "tasks")]
    pub(crate) all: bool,
    /// What you changed; required for a task that needs you
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) flags: TaskFlags,
    /// Return at once instead of following the task on this terminal
    #[arg(long, short)]
    pub(crate) detach: bool,
    /// Show every event, and what the agent says and does
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) request: Request,
}

#[derive(Debug, Args)]
pub(crate) struct Edit {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) changes: Changes,
    #[command(flatten)]
    pub(crate) request: Request,
}

/// What can be changed in an existing task.
#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// Command that must pass; replaces the task's checks; repeatable
    #[arg(long = "check", short, value_name = "COMMAND", conflicts_with = "no_checks")]
    pub(crate) checks: Vec<String>,
    /// Remove all checks; criteria with a command and expected files stay. Without any, the result is unverified
    #[arg(long)]
    pub(crate) no_checks: bool,
    /// Model, or `none` for the agent's own choice
    #[arg(long, short)]
    pub(crate) model: Option<String>,
    /// Priority; tasks with a higher one start first
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    #[command(flatten)]
    pub(crate) flags: TaskFlags,
}

impl Changes {
    /// The flags that were given.
    pub(crate) fn input(&self) -> submit::Changes {
        submit::Changes {
            settings: self.flags.settings(self.model.as_ref()),
            once: self.flags.once,
            checks: (self.no_checks || !self.checks.is_empty()).then(|| self.checks.clone()),
            priority: self.priority,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Tell {
    /// Name or id of the task, or the beginning of its name
    pub(crate) task: String,
    /// The message; `-` reads it from standard input
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) request: Request,
}

#[derive(Debug, Args)]
#[command(after_help = SEVERAL_HELP)]
pub(crate) struct Cancel {
    /// Names or ids of tasks, or beginnings of names; by default the only unfinished task of this project
    #[arg(value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
    /// Cancel every unfinished task of this project; asks first on a terminal
    #[arg(long, conflicts_with = "tasks")]
    pub(crate) all: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Reason, kept in the history
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) request: Request,
}

#[derive(Debug, Args)]
#[command(after_help = SEVERAL_HELP)]
pub(crate) struct Wait {
    /// Names or ids of tasks, or beginnings of names; by default the only unfinished task of this project, or else the newest
    #[arg(value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
    /// Wait for every unfinished task of this project
    #[arg(long, conflicts_with = "tasks")]
    pub(crate) all: bool,
    /// Return as soon as one of them is done or needs you; without names, one of this project
    #[arg(long)]
    pub(crate) any: bool,
    /// Give up after this time: seconds, or a span such as 90s or 1h30m
    #[arg(long, value_name = "TIME", value_parser = seconds_or_span)]
    pub(crate) timeout: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PLAN_HELP)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Replace the plan with this file, or with task_list.md in the task directory
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub(crate) accept: Option<Option<PathBuf>>,
    /// Idempotency key of `--accept`: a repeat with the same key is carried out once
    #[arg(long, requires = "accept")]
    pub(crate) key: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Ctrl+C pauses the task; a second Ctrl+C kills the agent. Press d to detach and leave the task running."
)]
pub(crate) struct Attach {
    #[command(flatten)]
    pub(crate) which: WhichToRead,
    /// Show every event, and what the agent says and does
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) verbose: bool,
    /// Only watch until the task is finished: no key reaches the task, and Ctrl+C just leaves
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Open a read-only view in a new tmux session, and print how to get there
    #[arg(long, conflicts_with = "json")]
    pub(crate) tmux: bool,
    /// At the end, wait for a key before the view closes
    #[arg(long, hide = true, requires = "read_only")]
    pub(crate) keep_open: bool,
    /// Print one JSON document per line: what happens, then the task
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "The old task, its worktree and its files stay unchanged.")]
pub(crate) struct Retry {
    /// Name or id of the finished task, or the beginning of its name; by default the only finished task of this project
    pub(crate) task: Option<String>,
    /// Name of the new task; by default the old name with a number
    #[arg(long, short)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Return as soon as the task is stored; it runs in the background
    #[arg(long, short)]
    pub(crate) detach: bool,
    /// Show every event, and what the agent says and does
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) verbose: bool,
    /// Idempotency key: if you got no answer, repeat the command with the same key, and only one task is created
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// Print one JSON document per line: the new task, what happens, the task at the end. With --detach, only the new task
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = REOPEN_HELP)]
pub(crate) struct Reopen {
    /// Name or id of the finished task
    pub(crate) task: String,
    /// What to do now, such as "now also update the docs"
    pub(crate) goal: String,
    /// Name of the new task; by default the old name with a number
    #[arg(long, short)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Return as soon as the task is stored; it runs in the background
    #[arg(long, short)]
    pub(crate) detach: bool,
    /// Show every event, and what the agent says and does
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) verbose: bool,
    /// Idempotency key: if you got no answer, repeat the command with the same key, and only one task is created
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// Print one JSON document per line: the new task, what happens, the task at the end. With --detach, only the new task
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// Name or id of the task
    pub(crate) task: String,
    /// The new name
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) request: Request,
}

#[derive(Debug, Args)]
pub(crate) struct Shell {
    #[command(flatten)]
    pub(crate) which: Which,
}

const REOPEN_HELP: &str = "\
Starts from the commit that landed, or from the task's branch, in a new worktree, and continues the agent's conversation. The finished \
task stays unchanged.";

const TAKEOVER_HELP: &str = "\
Stops a running session, then opens the agent's own program in this terminal, in the task's conversation. No session starts while you \
work there. When you leave, the task is paused, and Longhaul asks whether to resume it. If this command dies, the task stays held until the \
program ends, and is then paused.";

const SEVERAL_HELP: &str =
    "With several tasks, each has its outcome on its own line, and the exit code is that of the worst.";

const PLAN_HELP: &str = "Pause the task first: a running session may overwrite the list.";

/// The built-in agents and the rule for names.
fn run_help() -> String {
    let agents: Vec<String> = longhaul_agents::AGENTS
        .iter()
        .map(|agent| format!("  {:8}  {}", agent.about().name, agent.about().summary))
        .collect();
    format!(
        "Agents:\n{}\n  and those your configuration declares; `longhaul agents` lists all\n\nNames: {}",
        agents.join("\n"),
        longhaul_core::names::RULE
    )
}

fn seconds_or_span(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().map(Duration::from_secs);
    seconds.or_else(|| read_span(text)).ok_or_else(|| format!("neither a number of seconds nor {SPAN_SPELLING}"))
}

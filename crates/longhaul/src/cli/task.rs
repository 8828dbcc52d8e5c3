//! The verbs that make, steer and change a task, as data.
//! Parsed with the rest of the command line; carried out by the files of the same names in `commands/`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::Which;
use crate::task_flags::TaskFlags;
use longhaul_app::config::{SPAN_SPELLING, read_span};

#[derive(Debug, Args)]
#[command(after_help = run_help())]
pub(crate) struct Run {
    /// What is to be reached; `-` reads it from standard input
    pub(crate) goal: String,
    /// The task's name; generated from the goal if not given
    #[arg(long, short)]
    pub(crate) name: Option<String>,
    /// The model to ask the agent for; by default the configuration's `model`, else the agent's own configuration decides
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// The directory to work in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Return as soon as the task is durable
    #[arg(long, short)]
    pub(crate) detach: bool,
    /// A command that must pass in the end; repeatable, and added to those of the configuration
    #[arg(long = "check", value_name = "COMMAND", help_heading = "Verification")]
    pub(crate) checks: Vec<String>,
    /// What must hold in the end, in words, or `words = command` with the command that shows it; repeatable
    #[arg(long = "criterion", value_name = "TEXT", help_heading = "Verification")]
    pub(crate) criteria: Vec<String>,
    /// A file that must be there in the end, by its path in the workspace; repeatable
    #[arg(long = "expect", value_name = "FILE", help_heading = "Verification")]
    pub(crate) expects: Vec<String>,
    /// What must be heeded on the way; repeatable
    #[arg(long = "constraint", value_name = "TEXT")]
    pub(crate) constraints: Vec<String>,
    /// A file to start from; repeatable
    #[arg(long = "input", value_name = "FILE")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Tasks of higher priority are served first
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    pub(crate) priority: i64,
    /// Start when this task is verified
    #[arg(long, value_name = "TASK")]
    pub(crate) after: Option<String>,
    /// Work in the directory itself instead of a worktree of its own
    #[arg(long)]
    pub(crate) in_place: bool,
    /// Refuse the task instead of waiting if another one works in this directory, a parent or a subdirectory
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Time to wait after the first failed session; doubles with each further one
    #[arg(long, value_name = "SPAN", help_heading = "Limits")]
    pub(crate) backoff: Option<String>,
    #[command(flatten)]
    pub(crate) flags: TaskFlags,
    /// Follow it in a detached tmux session that only shows, and say how to attach to that
    #[arg(long, conflicts_with_all = ["detach", "json"])]
    pub(crate) tmux: bool,
    /// Print the accepted task as JSON, with --detach
    #[arg(long, requires = "detach")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = TAKEOVER_HELP)]
pub(crate) struct Takeover {
    #[command(flatten)]
    pub(crate) which: Which,
}

#[derive(Debug, Args)]
pub(crate) struct Pause {
    #[command(flatten)]
    pub(crate) which: Which,
    /// End the agent at once instead of asking it to stop
    #[arg(long)]
    pub(crate) now: bool,
    /// Kill the worker or keeper that does not answer within 10 seconds
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    #[command(flatten)]
    pub(crate) which: Which,
    /// What changed; needed for a task that needs help
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) flags: TaskFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Edit {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// What can be changed of a task that is there already.
#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// The commands that must pass in the end, in place of the task's; repeatable
    #[arg(long = "check", value_name = "COMMAND", conflicts_with = "no_checks")]
    pub(crate) checks: Vec<String>,
    /// No checks any more; commands of criteria and expected files stay, and without any the task will end unverified
    #[arg(long)]
    pub(crate) no_checks: bool,
    /// Another model, or `none` to leave it to the agent
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Tasks of higher priority are served first
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    #[command(flatten)]
    pub(crate) flags: TaskFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Tell {
    /// The task's name or id
    pub(crate) task: String,
    /// What to say; `-` reads it from standard input
    pub(crate) text: String,
}

#[derive(Debug, Args)]
pub(crate) struct Cancel {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Why
    #[arg(long)]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Wait {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Give up after so many seconds, or after a length of time such as 90s or 1h30m
    #[arg(long, value_name = "TIME", value_parser = seconds_or_span)]
    pub(crate) timeout: Option<Duration>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = PLAN_HELP)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Accept a list as it is: this file, or without one the task directory's task_list.md
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with = "json")]
    pub(crate) accept: Option<Option<PathBuf>>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Ctrl+C pauses the task, a second one ends the agent at once; d detaches and the task goes on.")]
pub(crate) struct Attach {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Only look, through pauses too, until the task is finished: nothing typed here reaches it, and Ctrl+C only leaves
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Look at it in a detached tmux session, and say how to attach to that
    #[arg(long)]
    pub(crate) tmux: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "The old task, its worktree and its files stay as they are.")]
pub(crate) struct Retry {
    #[command(flatten)]
    pub(crate) which: Which,
    /// The new task's name; by default the old one's with a number
    #[arg(long, short)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Return as soon as the task is durable
    #[arg(long, short)]
    pub(crate) detach: bool,
    /// Print the accepted task as JSON, with --detach
    #[arg(long, requires = "detach")]
    pub(crate) json: bool,
}

const TAKEOVER_HELP: &str = "\
A running session is stopped first. Then the agent's own program goes on with the task's conversation in this terminal, and no session is
started meanwhile. When you leave it the task is paused, and you are asked whether it is to go on. If this command dies, the task is held
until the program has ended, and is paused then.";

const PLAN_HELP: &str = "A session that runs may write the list: pause the task before you accept another one.
  longhaul plan my-task --accept            the task_list.md in its task directory, as it is now
  longhaul plan my-task --accept list.md    this file";

/// The agents there are, from their table, and the one rule for names.
fn run_help() -> String {
    let agents: Vec<String> = longhaul_agents::AGENTS
        .iter()
        .map(|agent| format!("  {}  {}", agent.about().name, agent.about().summary))
        .collect();
    format!(
        "Agents:\n{}\n  and those that the configuration declares; `longhaul agents` lists all\n\nNames: {}",
        agents.join("\n"),
        longhaul_core::names::RULE
    )
}

fn seconds_or_span(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().map(Duration::from_secs);
    seconds.or_else(|| read_span(text)).ok_or_else(|| format!("neither a number of seconds nor {SPAN_SPELLING}"))
}

//! The command line as data: every verb and flag, from which help and completions grow. Nothing here acts.
//! Parsed by `commands::main`; clap answers usage errors by itself, with exit code 2.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::config::{SPAN_SPELLING, read_span};
use crate::exit;
use crate::task_flags::TaskFlags;

const FIRST_STEP: &str = "Start with `longhaul demo`: no agent and no key needed.";

/// Runs coding agents to the finish line: plans, works session after session, survives crashes and reboots.
#[derive(Debug, Parser)]
#[command(name = "longhaul", version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = FIRST_STEP, after_long_help = format!("{FIRST_STEP}\n\n{}", exit::help()))]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show what Longhaul does, in a scratch directory, with the built-in agent
    Demo(Demo),
    /// Start a task and follow it
    Run(Run),
    /// List the tasks of this project, newest first, finished ones too
    List(List),
    /// Show everything about one task
    Show(Read),
    /// Print what the agent printed
    Logs(Logs),
    /// Print what happened to a task
    Events(Events),
    /// Say in one sentence why a task is where it is
    Why(Read),
    /// Stop the session and wait for a person
    Pause(Pause),
    /// Let a paused, blocked or stuck task go on
    Resume(Resume),
    /// Give a task up
    Cancel(Cancel),
    /// Wait until a task is done or needs someone
    Wait(Wait),
    /// Serve the tasks of this home
    Worker(Worker),
    /// Change limits, checks, agent or priority of a task that is not finished
    Edit(Edit),
    /// Say something to the next session
    Tell(Tell),
    /// Show the configuration and where each value comes from
    Config(Config),
    /// Trust a project's longhaul.toml as it is now
    Trust(Trust),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page, or write those of every verb into a directory
    Man(Man),
    /// Tell everything about a task on one page, from stored facts
    Report(Report),
    /// Show what a task changed since it began
    Diff(Diff),
    /// Show a task's plan, or accept a list of yours in its place
    Plan(Plan),
    /// Follow a task, as `run` does
    Attach(Attach),
    /// Try a finished task anew, as a new task
    Retry(Retry),
    /// Take away finished tasks beyond what is to be kept, and what crashes left behind
    Gc(Gc),
    /// Check or back up the store
    Store(Store),
    /// Say what is well here and what is not, and what to do about it
    Doctor(Doctor),
}

#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The task's name or id; without it the only unfinished task of this project
    pub(crate) task: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where to put the scratch directory
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Do not kill anything on the way
    #[arg(long)]
    pub(crate) no_kills: bool,
    /// How long the agent takes for each step
    #[arg(long, value_name = "MS", default_value_t = 3500)]
    pub(crate) pace: u64,
}

#[derive(Debug, Args)]
#[command(after_help = run_help())]
pub(crate) struct Run {
    /// What is to be reached; `-` reads it from standard input
    pub(crate) goal: String,
    /// The task's name; generated from the goal if not given
    #[arg(long, short)]
    pub(crate) name: Option<String>,
    /// Which agent works on it; by default the configuration's `agent`
    #[arg(long, value_parser = agent_name)]
    pub(crate) agent: Option<String>,
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
    /// Time to wait after the first failed session; doubles with each further one
    #[arg(long, value_name = "SPAN", help_heading = "Limits")]
    pub(crate) backoff: Option<String>,
    #[command(flatten)]
    pub(crate) flags: TaskFlags,
    /// Print the accepted task as JSON, with --detach
    #[arg(long, requires = "detach")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Of every project
    #[arg(long, short)]
    pub(crate) all: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Read {
    #[command(flatten)]
    pub(crate) which: Which,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Logs {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Go on as it grows, until the task ends
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Only this session
    #[arg(long, short, value_name = "N")]
    pub(crate) session: Option<u32>,
    /// The lines as the agent printed them, made safe for a terminal
    #[arg(long, conflicts_with = "json")]
    pub(crate) raw: bool,
    /// One JSON document per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Events {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Check the hash chain and rebuild the state from the events
    #[arg(long)]
    pub(crate) verify: bool,
    /// One JSON document per line
    #[arg(long)]
    pub(crate) json: bool,
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
    /// Another agent, from the next session on
    #[arg(long, value_parser = agent_name)]
    pub(crate) agent: Option<String>,
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
pub(crate) struct Worker {
    /// Claim no queued task, only adopt what dead workers left
    #[arg(long)]
    pub(crate) only: bool,
    /// Never leave, even when there is nothing to do
    #[arg(long)]
    pub(crate) stay: bool,
    /// Run in the background
    #[arg(long, short)]
    pub(crate) detach: bool,
    /// Change how many sessions may live in this home at once, for every worker and for good (8 at first)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) sessions: Option<u32>,
    /// Take one input from standard input and answer one line
    #[arg(long, hide = true)]
    pub(crate) handover: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) verb: ConfigVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Print every key with its value, as a file that means the same
    Show {
        /// Say for each value where it comes from
        #[arg(long)]
        origin: bool,
        /// As JSON, always with the origins
        #[arg(long)]
        json: bool,
    },
    /// Print which files count here
    Path {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Describe every key, in Markdown
    Reference,
    /// Print the JSON schema of the files, for editors
    Schema,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["path", "list", "remove"]))]
pub(crate) struct Trust {
    /// The project's directory, or its longhaul.toml
    pub(crate) path: Option<PathBuf>,
    /// Show what is trusted
    #[arg(long)]
    pub(crate) list: bool,
    /// Take trust back
    #[arg(long, value_name = "PATH")]
    pub(crate) remove: Option<PathBuf>,
    /// Trust the file only if its content has this SHA-256
    #[arg(long, value_name = "HASH", requires = "path")]
    pub(crate) sha256: Option<String>,
    /// As JSON
    #[arg(long, conflicts_with = "remove")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = MAN_HELP)]
pub(crate) struct Man {
    /// Write the page of every verb into this directory
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = REPORT_HELP)]
pub(crate) struct Report {
    #[command(flatten)]
    pub(crate) which: Which,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write it into this file, as a whole or not at all
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Only the names of the changed files
    #[arg(long)]
    pub(crate) stat: bool,
    /// The patch byte for byte, for programs; not on a terminal
    #[arg(long, conflicts_with_all = ["json", "stat"])]
    pub(crate) raw: bool,
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

#[derive(Debug, Args)]
pub(crate) struct Gc {
    /// Only say what would go
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How long finished tasks are kept, or `none`; by default the configuration's `retention.age`
    #[arg(long, value_name = "SPAN")]
    pub(crate) age: Option<String>,
    /// How many finished tasks are kept, or `none`; by default the configuration's `retention.count`
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<String>,
    /// How much disk finished tasks may take, or `none`; by default the configuration's `retention.bytes`
    #[arg(long, value_name = "SIZE")]
    pub(crate) bytes: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Store {
    #[command(subcommand)]
    pub(crate) verb: StoreVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreVerb {
    /// Read everything, recompute every hash chain, rebuild every task, and name what is damaged
    Check {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Copy the store into a new file while workers go on
    Backup {
        /// The file; it must not exist
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write one text file for a bug report: checks, configuration, tasks without goals, last events, the workers' log; redacted
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Put names and goals of tasks into the file too
    #[arg(long, requires = "bundle")]
    pub(crate) with_goals: bool,
}

const REPORT_HELP: &str =
    "The report is made from stored events and files. What an agent said of itself is quoted, never believed;
what nobody knows is told as unknown.";

const PLAN_HELP: &str = "A session that runs may write the list: pause the task before you accept another one.
  longhaul plan my-task --accept            the task_list.md in its task directory, as it is now
  longhaul plan my-task --accept list.md    this file";

const COMPLETIONS_HELP: &str = "Install:
  bash  longhaul completions bash > ~/.local/share/bash-completion/completions/longhaul
  zsh   longhaul completions zsh > <a directory of $fpath>/_longhaul
  fish  longhaul completions fish > ~/.config/fish/completions/longhaul.fish";

const MAN_HELP: &str = "Install: mkdir -p ~/.local/share/man && longhaul man ~/.local/share/man/man1";

/// The agents there are, from their table, and the one rule for names.
fn run_help() -> String {
    let agents: Vec<String> = longhaul_agents::AGENTS
        .iter()
        .map(|agent| format!("  {}  {}", agent.about().name, agent.about().summary))
        .collect();
    format!("Agents:\n{}\n\nNames: {}", agents.join("\n"), longhaul_core::names::RULE)
}

fn seconds_or_span(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().map(Duration::from_secs);
    seconds.or_else(|| read_span(text)).ok_or_else(|| format!("neither a number of seconds nor {SPAN_SPELLING}"))
}

fn agent_name(name: &str) -> Result<String, String> {
    longhaul_agents::find(name).map(|agent| agent.about().name.to_owned()).map_err(|error| error.to_string())
}

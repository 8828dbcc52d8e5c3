//! The command line as data: every verb and flag, from which help and completions grow. Nothing here acts.
//! Parsed by `commands::main`; clap answers usage errors by itself, with exit code 2.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::exit;

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
    /// Show the configuration and where each value comes from
    Config(Config),
    /// Trust a project's longhaul.toml as it is now
    Trust(Trust),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page, or write those of every verb into a directory
    Man(Man),
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
    /// Failed sessions in a row after which a person is asked
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) attempts: Option<u32>,
    /// Milliseconds to wait after the first failed session; doubles with each further one
    #[arg(long, value_name = "MS")]
    pub(crate) backoff: Option<u64>,
    /// Milliseconds without output after which a session is stopped
    #[arg(long, value_name = "MS")]
    pub(crate) silence: Option<u64>,
    /// Milliseconds after which a session is stopped
    #[arg(long, value_name = "MS")]
    pub(crate) wall: Option<u64>,
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
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
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

const COMPLETIONS_HELP: &str = "Install:
  bash  longhaul completions bash > ~/.local/share/bash-completion/completions/longhaul
  zsh   longhaul completions zsh > <a directory of $fpath>/_longhaul
  fish  longhaul completions fish > ~/.config/fish/completions/longhaul.fish";

const MAN_HELP: &str = "Install: longhaul man ~/.local/share/man/man1";

/// The agents there are, from their table, and the one rule for names.
fn run_help() -> String {
    let agents: Vec<String> = longhaul_agents::AGENTS
        .iter()
        .map(|agent| format!("  {}  {}", agent.about().name, agent.about().summary))
        .collect();
    format!("Agents:\n{}\n\nNames: {}", agents.join("\n"), longhaul_core::names::RULE)
}

fn agent_name(name: &str) -> Result<String, String> {
    longhaul_agents::find(name).map(|agent| agent.about().name.to_owned()).map_err(|error| error.to_string())
}

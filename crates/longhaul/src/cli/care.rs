//! The verbs around tasks, as data: the demo, workers, configuration, shells, and the care of the home.
//! Parsed with the rest of the command line; carried out by the files of the same names in `commands/`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
pub(crate) struct Agents {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
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

const COMPLETIONS_HELP: &str = "Install:
  bash  longhaul completions bash > ~/.local/share/bash-completion/completions/longhaul
  zsh   longhaul completions zsh > <a directory of $fpath>/_longhaul
  fish  longhaul completions fish > ~/.config/fish/completions/longhaul.fish";

const MAN_HELP: &str = "Install: mkdir -p ~/.local/share/man && longhaul man ~/.local/share/man/man1";

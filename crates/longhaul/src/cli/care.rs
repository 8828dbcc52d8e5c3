//! Arguments of the verbs around tasks: the demo, workers, configuration, shells, and maintenance of the home.
//! Parsed with the rest of the command line; the files of the same names in `commands/` carry them out.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Page;

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Directory for the demo's files; by default a temporary one
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Do not kill anything
    #[arg(long)]
    pub(crate) no_kills: bool,
    /// Milliseconds the demo agent takes for each step
    #[arg(long, value_name = "MS", default_value_t = 3500)]
    pub(crate) pace: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Worker {
    /// Continue tasks of dead workers, but start no queued ones
    #[arg(long)]
    pub(crate) only: bool,
    /// Keep running when there is nothing to do
    #[arg(long)]
    pub(crate) stay: bool,
    /// Run in the background
    #[arg(long, short)]
    pub(crate) detach: bool,
    /// Set how many sessions may run at once in this home, permanently and for all workers (initially 8)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) sessions: Option<u32>,
    /// Read one hand-over from standard input and answer with one line
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
    /// Print every key with its value, as a configuration file
    Show {
        /// Add where each value comes from
        #[arg(long)]
        origin: bool,
        /// Print JSON, with origins
        #[arg(long)]
        json: bool,
    },
    /// Print the value of a key, or the keys of a section
    Get {
        /// Key, such as `agent` or `limits.max_time`
        key: String,
        /// Print JSON, with its origin
        #[arg(long)]
        json: bool,
    },
    /// Set a key in your configuration file
    Set {
        /// Key, such as `agent` or `limits.max_time`
        key: String,
        /// Value; a list takes several
        #[arg(required = true)]
        values: Vec<String>,
        #[command(flatten)]
        place: ConfigPlace,
    },
    /// Remove keys from your configuration file
    Unset {
        /// Keys, such as `agent` or `limits.max_time`
        #[arg(required = true)]
        keys: Vec<String>,
        #[command(flatten)]
        place: ConfigPlace,
    },
    /// Open your configuration file in $VISUAL or $EDITOR; it is saved only if it is valid
    Edit {
        /// Open the project's longhaul.toml instead
        #[arg(long)]
        project: bool,
    },
    /// List the configuration files used here
    Path {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the reference of all keys as Markdown
    Reference,
    /// Print the JSON schema of the configuration files, for editors
    Schema,
}

/// Which file to change, and how to answer.
#[derive(Debug, Args)]
pub(crate) struct ConfigPlace {
    /// Change the project's longhaul.toml instead
    #[arg(long)]
    pub(crate) project: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["path", "list", "remove"]))]
pub(crate) struct Trust {
    /// The project's directory, or its longhaul.toml
    pub(crate) path: Option<PathBuf>,
    /// List trusted files
    #[arg(long)]
    pub(crate) list: bool,
    /// Stop trusting a file
    #[arg(long, value_name = "PATH")]
    pub(crate) remove: Option<PathBuf>,
    /// Trust the file only if its content has this SHA-256
    #[arg(long, value_name = "HASH", requires = "path")]
    pub(crate) sha256: Option<String>,
    #[command(flatten)]
    pub(crate) page: Page,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to generate for
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write one page per command into this directory
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Gc {
    /// Only print what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Keep finished tasks this long, or `none`; by default `retention.age`
    #[arg(long, value_name = "SPAN")]
    pub(crate) age: Option<String>,
    /// Keep this many finished tasks, or `none`; by default `retention.count`
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<String>,
    /// Keep finished tasks within this much disk space, or `none`; by default `retention.bytes`
    #[arg(long, value_name = "SIZE")]
    pub(crate) bytes: Option<String>,
    #[command(flatten)]
    pub(crate) page: Page,
    /// Print JSON
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
    /// Read everything, recompute every hash chain, rebuild every task, and list damage
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Copy the store into a new file while workers keep running
    Backup {
        /// File to write; must not exist yet
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    pub(crate) from: ImportFrom,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportFrom {
    /// Import the task runs of OpenChrome, with their times; runs that were imported before are left alone
    Openchrome {
        /// OpenChrome's home, which contains `task-runs`
        directory: PathBuf,
        /// Only count what would be imported
        #[arg(long)]
        dry_run: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Agents {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write a redacted text file for a bug report: findings, configuration, tasks without goals, last events, worker log
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Include names and goals of tasks in that file
    #[arg(long, requires = "bundle")]
    pub(crate) with_goals: bool,
}

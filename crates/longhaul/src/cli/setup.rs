//! Arguments of the verbs that set something up for a person: the configuration's first values, the service and the skills.
//! Parsed with the rest of the command line; the files of the same names in `commands/` carry them out.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// Only print what was found, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Service {
    #[command(subcommand)]
    pub(crate) verb: ServiceVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceVerb {
    /// Start a worker at boot or login, and keep it running
    Install {
        /// Start `longhaul serve`, which is a worker and serves HTTP
        #[arg(long)]
        serve: bool,
        /// Kind of service; by default the one this system has
        #[arg(long)]
        kind: Option<ServiceKind>,
        /// Print what would be written and run, and do nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Show whether the service is installed, enabled and running
    Status {
        /// Limit to this kind
        #[arg(long)]
        kind: Option<ServiceKind>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove what `install` wrote, and nothing else
    Uninstall {
        /// Limit to this kind
        #[arg(long)]
        kind: Option<ServiceKind>,
        /// Print what would be removed and run, and do nothing
        #[arg(long)]
        dry_run: bool,
    },
}

/// Who starts the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ServiceKind {
    /// The systemd user manager
    Systemd,
    /// launchd of macOS
    Launchd,
    /// cron, with an `@reboot` line
    Cron,
}

#[derive(Debug, Args)]
pub(crate) struct Skill {
    #[command(subcommand)]
    pub(crate) verb: SkillVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SkillVerb {
    /// Write the skills into an agent's skill directory
    Install {
        #[command(flatten)]
        place: SkillPlace,
        /// Overwrite files that were changed
        #[arg(long)]
        force: bool,
    },
    /// List the skills and where they are installed
    List {
        /// Limit to this agent
        #[arg(long)]
        client: Option<SkillClient>,
        /// Look in this directory
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove the files that `install` wrote, and nothing else
    Uninstall {
        #[command(flatten)]
        place: SkillPlace,
    },
}

/// Where skills go.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct SkillPlace {
    /// Agent whose skill directory to use
    #[arg(long)]
    pub(crate) client: Option<SkillClient>,
    /// Another skill directory
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// An agent that reads skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SkillClient {
    Codex,
    Claude,
    Opencode,
    Pi,
}

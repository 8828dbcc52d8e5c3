//! The verbs that put Longhaul into a person's surroundings, as data: the service and the skills.
//! Parsed with the rest of the command line; carried out by the files of the same names in `commands/`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Service {
    #[command(subcommand)]
    pub(crate) verb: ServiceVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceVerb {
    /// Let a worker start with the machine or the login, and stay
    Install {
        /// Which kind; by default what this system has
        #[arg(long)]
        kind: Option<ServiceKind>,
        /// Only print what would be written and run
        #[arg(long)]
        dry_run: bool,
    },
    /// Say whether the service is installed, enabled and running
    Status {
        /// Only this kind
        #[arg(long)]
        kind: Option<ServiceKind>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Take away what `install` wrote, and nothing else
    Uninstall {
        /// Only this kind
        #[arg(long)]
        kind: Option<ServiceKind>,
        /// Only print what would be removed and run
        #[arg(long)]
        dry_run: bool,
    },
}

/// Who starts the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServiceKind {
    /// The systemd user manager
    Systemd,
    /// launchd of macOS
    Launchd,
    /// cron, with a line for each boot
    Cron,
}

#[derive(Debug, Args)]
pub(crate) struct Skill {
    #[command(subcommand)]
    pub(crate) verb: SkillVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SkillVerb {
    /// Write the skills where an agent looks for them
    Install {
        #[command(flatten)]
        place: SkillPlace,
        /// Replace files that somebody changed
        #[arg(long)]
        force: bool,
    },
    /// Say which skills there are and where they are installed
    List {
        /// Only for this client
        #[arg(long)]
        client: Option<SkillClient>,
        /// In this directory
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Take away the files that `install` wrote, and nothing else
    Uninstall {
        #[command(flatten)]
        place: SkillPlace,
    },
}

/// Where skills go.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct SkillPlace {
    /// The agent whose own directory of skills is meant
    #[arg(long)]
    pub(crate) client: Option<SkillClient>,
    /// Another directory of skills
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

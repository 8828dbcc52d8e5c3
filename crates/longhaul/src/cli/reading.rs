//! The verbs that only read a task, as data.
//! Parsed with the rest of the command line; carried out by the files of the same names in `commands/`.

use std::path::PathBuf;

use clap::Args;

use super::Which;

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

const REPORT_HELP: &str =
    "The report is made from stored events and files. What an agent said of itself is quoted, never believed;
what nobody knows is told as unknown.";

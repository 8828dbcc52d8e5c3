//! Arguments of the verbs that only read a task.
//! Parsed with the rest of the command line; the files of the same names in `commands/` carry them out.

use std::path::PathBuf;

use clap::Args;
use longhaul_app::views::PageInput;

use super::WhichToRead;

#[derive(Debug, Args)]
pub(crate) struct List {
    /// List tasks of all projects and all ages
    #[arg(long, short)]
    pub(crate) all: bool,
    /// List the tasks of another tenant, in all projects
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
    /// List only tasks in this state, such as `working` or `done`
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<String>,
    /// List only tasks of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// List only tasks that changed in this time, such as `2h`, or since a time in RFC 3339
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// List at most this many tasks
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Start after this position, the `next` of the page before
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<String>,
    /// Keep the list on the screen and draw it again when a task changes; needs a terminal
    #[arg(long, short, conflicts_with_all = ["json", "after"])]
    pub(crate) watch: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Prints counts like `2● 1◔ 1! 3✓`: running, waiting, needing you, and done within a day but not landed. Counts of zero are left out."
)]
pub(crate) struct Prompt {
    /// Count the tasks of all projects
    #[arg(long, short)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Read {
    #[command(flatten)]
    pub(crate) which: WhichToRead,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) read: Read,
    /// Show ids, directories and everything that has its usual value, too
    #[arg(long, short)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) page: Page,
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Page {
    /// List at most this many entries (at most 1000)
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Start after this position, the `next` of the page before
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    after: u64,
}

impl From<Page> for PageInput {
    fn from(Page { limit, after }: Page) -> PageInput {
        PageInput { limit, after }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Logs {
    #[command(flatten)]
    pub(crate) which: WhichToRead,
    /// Keep printing until the task is done or needs you
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Print only this session
    #[arg(long, short, value_name = "N")]
    pub(crate) session: Option<u32>,
    /// Print only the last N turns: messages, tool calls, lines of a check
    #[arg(long, short = 'n', value_name = "N", conflicts_with = "raw")]
    pub(crate) last: Option<u32>,
    /// Print only what was printed in this time, such as `10m`, or since a time in RFC 3339
    #[arg(long, value_name = "WHEN", conflicts_with = "raw")]
    pub(crate) since: Option<String>,
    /// Print only what went wrong: notices of agents, failed tools, standard error, lines that cannot be read
    #[arg(long, conflicts_with = "raw")]
    pub(crate) errors: bool,
    /// Print the agent's lines unparsed, made safe for a terminal
    #[arg(long, conflicts_with = "json")]
    pub(crate) raw: bool,
    /// Print one JSON document per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Events {
    #[command(flatten)]
    pub(crate) which: WhichToRead,
    /// Keep printing until the task is done or needs you
    #[arg(long, short, conflicts_with = "verify")]
    pub(crate) follow: bool,
    /// Verify the hash chain and rebuild the state from the events
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print one JSON document per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = REPORT_HELP)]
pub(crate) struct Report {
    #[command(flatten)]
    pub(crate) which: WhichToRead,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the report to this file, whole or not at all
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: Page,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    #[command(flatten)]
    pub(crate) which: WhichToRead,
    /// Print only the changed files, with the number of added and removed lines
    #[arg(long)]
    pub(crate) stat: bool,
    /// Print the patch byte for byte, for programs; refused on a terminal
    #[arg(long, conflicts_with_all = ["json", "stat"])]
    pub(crate) raw: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const REPORT_HELP: &str = "The report uses stored events and files only. It quotes what an agent claims but never relies on it, \
     and marks what is unknown as unknown.";

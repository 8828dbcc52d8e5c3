//! Arguments of `longhaul session`: what the agent of a session says about its task. Parsed with the rest of the command line;
//! `commands/session.rs` carries it out. Agents without MCP type it, and shell scripts that are agents.

use clap::{Args, Subcommand};

use super::task::Request;

#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Session {
    #[command(subcommand)]
    pub(crate) verb: SessionVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionVerb {
    /// Report progress; people see it in `show` and the report
    Report {
        /// Where the work is, in words; `-` reads it from standard input
        summary: Option<String>,
        /// Something that is completed; repeatable
        #[arg(long, value_name = "ITEM")]
        completed: Vec<String>,
        /// Something that failed, and why; repeatable
        #[arg(long, value_name = "ITEM=REASON", value_parser = item_and_reason)]
        failed: Vec<(String, String)>,
        /// Where you work now: a step, a file, an address
        #[arg(long, value_name = "PLACE")]
        cursor: Option<String>,
        #[command(flatten)]
        request: Request,
    },
    /// Store a summary from which another session can continue if your conversation is lost
    Checkpoint {
        /// What that session needs to know; `-` reads it from standard input
        summary: String,
        /// Where you work now: a step, a file, an address
        #[arg(long, value_name = "PLACE")]
        cursor: Option<String>,
        #[command(flatten)]
        request: Request,
    },
    /// Ask a person; this session ends, and a later one gets the answer
    Help {
        /// The question; `-` reads it from standard input
        question: String,
        /// What would let the work continue
        #[arg(long, value_name = "TEXT")]
        hint: Option<String>,
        #[command(flatten)]
        request: Request,
    },
    /// Say that the task is done; Longhaul still runs the checks itself
    Done {
        /// What was achieved, in words; `-` reads it from standard input
        summary: Option<String>,
        #[command(flatten)]
        request: Request,
    },
}

fn item_and_reason(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').ok_or_else(|| "write it as ITEM=REASON".to_owned())?;
    Ok((parts.0.to_owned(), parts.1.to_owned()))
}

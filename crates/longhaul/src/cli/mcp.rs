//! Arguments of `longhaul mcp`. Parsed with the rest of the command line; `commands/mcp.rs` carries it out.
//! Clients start it, so people rarely type it.

use clap::{Args, Subcommand};
use longhaul_core::task::Rights;

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) verb: Option<McpVerb>,
    /// Rights to add to `read` and `run`, separated by commas: `approve` lets the client change limits, checks and plans
    #[arg(long, value_name = "RIGHTS", default_value = "", hide_default_value = true, global = true)]
    pub(crate) rights: Rights,
    /// Let the client only read: it sees tasks, and can neither start nor change any
    #[arg(long, conflicts_with = "rights", global = true)]
    pub(crate) read_only: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpVerb {
    /// List the tools that a client gets
    Tools {
        /// Print JSON, with the schemas and annotations
        #[arg(long)]
        json: bool,
    },
}

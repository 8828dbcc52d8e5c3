//! Arguments of `longhaul mcp`. Parsed with the rest of the command line; `commands/mcp.rs` carries it out.
//! Clients start it, so people rarely type it.

use clap::{Args, Subcommand, ValueEnum};
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
    /// Register this server with a client, so that its assistant can use Longhaul in every project
    Install(McpInstall),
}

#[derive(Debug, Args)]
pub(crate) struct McpInstall {
    /// Client to register it with
    #[arg(long)]
    pub(crate) client: McpClient,
    /// How the client reaches the server: `stdio` starts it, `http` calls a running `longhaul serve`
    #[arg(long, default_value = "stdio")]
    pub(crate) transport: Transport,
    /// Address of the running server, with `--transport http`
    #[arg(long, default_value = "http://127.0.0.1:7717/mcp")]
    pub(crate) url: String,
    /// Variable in which the client finds its key, with `--transport http`; the key itself is not stored
    #[arg(long, value_name = "NAME", default_value = "LONGHAUL_API_KEY")]
    pub(crate) key_variable: String,
    /// Let codex call every tool without asking, also where nobody can answer
    #[arg(long)]
    pub(crate) auto_approve: bool,
    /// Print what would be written and run, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// A client of this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum McpClient {
    Codex,
    Claude,
    Opencode,
}

impl McpClient {
    /// Its program.
    pub(crate) fn name(self) -> &'static str {
        match self {
            McpClient::Codex => "codex",
            McpClient::Claude => "claude",
            McpClient::Opencode => "opencode",
        }
    }
}

/// How a client reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    Stdio,
    Http,
}

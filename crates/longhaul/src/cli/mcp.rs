//! Arguments of `longhaul mcp`. Parsed with the rest of the command line; `commands/mcp.rs` carries it out.
//! Clients start it, so people rarely type it.

use clap::{Args, Subcommand, ValueEnum};
use longhaul_core::task::Rights;

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) verb: Option<McpVerb>,
    #[command(flatten)]
    pub(crate) offer: Offer,
}

/// What a server offers its client.
#[derive(Debug, Args)]
pub(crate) struct Offer {
    /// Rights to add to `read` and `run`, separated by commas: `approve` lets the client change limits, checks and plans
    #[arg(long, value_name = "RIGHTS", default_value = "", hide_default_value = true, global = true)]
    pub(crate) rights: Rights,
    /// Let the client only read: it sees tasks, and can neither start nor change any
    #[arg(long, conflicts_with = "rights", global = true)]
    pub(crate) read_only: bool,
    /// Put this in front of every tool's name; `oc_` gives the tools of runs the names that OpenChrome had
    #[arg(long, value_name = "PREFIX", default_value = "", hide_default_value = true, global = true, value_parser = prefix)]
    pub(crate) tool_prefix: String,
}

impl Offer {
    /// The arguments that start a server with the same offer.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let rights = (self.rights != Rights::NONE).then(|| ["--rights".to_owned(), self.rights.to_string()]);
        let prefix = (!self.tool_prefix.is_empty()).then(|| ["--tool-prefix".to_owned(), self.tool_prefix.clone()]);
        let read_only = self.read_only.then(|| "--read-only".to_owned());
        rights.into_iter().flatten().chain(read_only).chain(prefix.into_iter().flatten()).collect()
    }
}

/// Clients accept only such names, and cut long ones.
fn prefix(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    match text.len() <= 16 && text.bytes().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err("use at most 16 letters, digits, `_` and `-`".to_owned()),
    }
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
    /// Address of the running server, with `--transport http`; by default http://127.0.0.1:7717/mcp
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// Variable in which the client finds its key, with `--transport http`; by default LONGHAUL_API_KEY. The key itself is not stored
    #[arg(long, value_name = "NAME")]
    pub(crate) key_variable: Option<String>,
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

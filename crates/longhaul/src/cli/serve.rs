//! Arguments of `longhaul serve`.
//! Parsed with the rest of the command line; `commands/serve.rs` carries it out.

use std::net::SocketAddr;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7717")]
    pub(crate) listen: SocketAddr,
    /// Carry out no tasks here; other workers do
    #[arg(long)]
    pub(crate) no_worker: bool,
    /// The public address of a proxy with TLS in front of this server, such as https://longhaul.example; needed to listen beyond this machine
    #[arg(long, value_name = "URL")]
    pub(crate) behind_proxy: Option<String>,
}

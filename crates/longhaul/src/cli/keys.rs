//! Arguments of the verb around API keys.
//! Parsed with the rest of the command line; `commands/keys.rs` carries them out.

use clap::{Args, Subcommand};

use super::Page;

#[derive(Debug, Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub(crate) verb: KeysVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysVerb {
    /// Create a key and print it; it cannot be printed again
    Create {
        /// Name of the key; history shows it as who did something
        name: String,
        /// Tenant whose tasks the key reaches; `default` has your own
        #[arg(long, value_name = "NAME", default_value = longhaul_app::Tenant::DEFAULT)]
        tenant: String,
        /// What the key allows: read, run, approve, admin
        #[arg(long, value_name = "LIST", default_value = "read,run")]
        rights: String,
        /// Let the key expire after this time, such as `30d`
        #[arg(long, value_name = "SPAN")]
        expires: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the keys, without the keys themselves
    List {
        #[command(flatten)]
        page: Page,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a key for good, also for requests that are being answered
    Revoke {
        /// Id of the key, or the name of one that works
        key: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

//! Arguments of the verb around notifications.
//! Parsed with the rest of the command line; `commands/notify.rs` carries them out.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Notify {
    #[command(subcommand)]
    pub(crate) verb: NotifyVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NotifyVerb {
    /// Send a test message to everyone who is notified, and ring this terminal
    Test {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

//! One try to deliver one message to one target. Called by `attempt`, which stores what came of it.
//! It is over within its time, whatever the target does.

use std::time::Duration;

use longhaul_core::task::Target;

use super::file::{self, FileError};
use super::message::Message;
use super::webhook::{self, WebhookError};
use super::{command, desktop};
use crate::effects::program::ProgramError;
use longhaul_app::Home;

/// Why a message was not delivered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Undelivered {
    /// A program did not take it.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The server did not take it.
    #[error(transparent)]
    Webhook(#[from] WebhookError),
}

impl Undelivered {
    /// Whether this process lacks a variable that another one may have.
    pub(crate) fn wants_variable(&self) -> bool {
        matches!(self, Undelivered::Webhook(WebhookError::Unset { .. }))
    }
}

/// Delivers a message within this time, or says why not.
pub(crate) async fn deliver(
    home: &Home,
    target: &Target,
    message: &Message,
    within: Duration,
) -> Result<(), Undelivered> {
    match target {
        Target::Command { argv } => command::send(home, argv, message, within).await?,
        Target::File { path } => file::send(path, message, within).await?,
        Target::Webhook { url, secret_env } => webhook::send(url, secret_env.as_deref(), message, within).await?,
        Target::Desktop => desktop::send(home, message, within).await?,
    }
    Ok(())
}

//! Delivers notices from the outbox: beside the hubs in every worker (`sender`), and at the end of an invocation of the runner
//! (`deliver_before_exit`). `attempt` makes one try and stores what came of it; `deliver` sends one message by a channel, of which each
//! has a file, and is over within its time, whatever the target does. A delivery changes nothing about a task.

mod attempt;
mod bounded;
mod command;
mod deliver_before_exit;
mod desktop;
mod file;
mod message;
mod sender;
mod webhook;

use std::time::Duration;

use longhaul_app::Home;
use longhaul_core::causes::with_causes;
use longhaul_core::task::Target;
use longhaul_keeper::Environment;

pub(crate) use self::deliver_before_exit::deliver_of;
use self::file::FileError;
use self::message::Message;
pub(crate) use self::sender::Sender;
use self::webhook::WebhookError;
use crate::effects::program::ProgramError;

/// Why a message was not delivered.
#[derive(Debug, thiserror::Error)]
enum Undelivered {
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

/// Delivers a message within this time, or says why not.
async fn deliver(home: &Home, target: &Target, message: &Message, within: Duration) -> Result<(), Undelivered> {
    match target {
        Target::Command { argv } => command::send(home, argv, message, within).await?,
        Target::File { path } => file::send(path, message, within).await?,
        Target::Webhook { url, secret_env } => webhook::send(url, secret_env.as_deref(), message, within).await?,
        Target::Desktop => desktop::send(home, message, within).await?,
    }
    Ok(())
}

/// Sends a test message that belongs to no task; the error is the whole reason.
pub async fn send_test(
    home: &Home,
    environment: &Environment,
    target: &Target,
    within: Duration,
) -> Result<(), String> {
    let sent = deliver(home, target, &Message::test(environment), within).await;
    sent.map_err(|undelivered| environment.mask(&with_causes(&undelivered), &[]).0)
}

#[cfg(test)]
mod tests;

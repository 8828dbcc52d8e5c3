//! Delivers notices from the outbox: beside the hubs in every worker (`sender`), and at the end of an invocation of the runner
//! (`deliver_before_exit`). `attempt` makes one try; `deliver` sends one message by a channel, of which each has a file.
//! A delivery changes nothing about a task.

mod attempt;
mod bounded;
mod command;
mod deliver;
mod deliver_before_exit;
mod desktop;
mod file;
mod message;
mod sender;
#[cfg(test)]
mod tests;
mod webhook;

pub(crate) use deliver_before_exit::deliver_of;
pub(crate) use sender::Sender;

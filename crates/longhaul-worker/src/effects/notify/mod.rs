//! Telling people what a task came to: one file per channel, one message for all of them. Called by the sender (`notify.rs`).
//!
//! Delivering changes nothing of a task and knows nothing of the store; what came of it is the sender's to keep.

mod bounded;
mod command;
mod deliver;
mod desktop;
mod file;
mod message;
mod openclaw;
mod program;
mod webhook;

pub use desktop::desktop_program;
pub use openclaw::OPENCLAW;

pub(crate) use deliver::{Undelivered, deliver};
pub(crate) use message::{Message, Reason};

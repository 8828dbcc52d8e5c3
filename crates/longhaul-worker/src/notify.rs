//! Telling people, from the outbox: beside the hubs in every worker, and at the end of an invocation of the runner.
//! Who delivers a notice is decided here, and the one try is made in `attempt.rs`.

mod attempt;
mod deliver_before_exit;
mod sender;
#[cfg(test)]
mod tests;

pub(crate) use deliver_before_exit::deliver_of;
pub(crate) use sender::Sender;

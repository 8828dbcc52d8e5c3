//! What the agents' own tests share: a launch and a moment to start from, every kind of launch, and strict command lines.
//! Tests only; nothing here is shipped.

pub(crate) mod every_launch;
pub(crate) mod sample;
pub(crate) mod strict_cli;

//! The pure heart of Longhaul: what a task is, what may happen to it, and what is due next.
//!
//! Everybody asks here and nobody else decides. Nothing in this crate reads a file, a clock, the environment or a random
//! number: what it needs comes in as arguments, so that recovery after a crash is the same call as the first run.
#![deny(clippy::wildcard_enum_match_arm)]

#[macro_use]
mod spelled;

pub mod causes;
pub mod check_files;
pub mod edit_distance;
pub mod fingerprint;
pub mod ids;
pub mod names;
pub mod plan;
pub mod recovery;
pub mod span;
pub mod task;
pub mod test_summary;
pub mod time;
pub mod units;
pub mod verdict;

//! The real agent programs under Longhaul, against a scripted model on this machine: one world per test, one module per subject.
//!
//! `cargo xtask test` installs the programs; without them these tests fail and say so.

mod adopt;
mod clients;
mod controls;
mod delivered;
mod finish;
mod first_hour;
mod install;
mod kill;
mod leftovers;
mod limits;
mod lost;
mod native_task;
mod refused;
mod runner;
mod session_tools;
mod switch;
mod takeover;
mod terminal;
mod transcripts;
mod trouble;
mod usage;
mod world;

//! The real binary, end to end: real SQLite, real keepers, real kill -9. One test binary; one module per subject.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails loudly, which is what it is for")]

mod bad_input;
mod bad_workspace;
mod below_session;
mod checker;
mod config;
mod config_effects;
mod control;
mod demo_agent;
mod env;
mod kills;
mod misbehaviour;
mod processes;
mod races;
mod reboot;
mod screen;
mod secrets;
mod shell_files;
mod sight;
mod smoke;
mod upgrade;
mod verbs;

//! Decisions and replay, tested without any I/O: the generated table of states, histories cut at every prefix, and recovery.
//! Most behaviour is tested here, where a thousand cases take a second.

mod agents;
mod changes;
mod commit_message;
mod family;
mod fixture;
mod histories;
mod interrupted_rounds;
mod limits;
mod names;
mod notices;
mod permit;
mod runner;
mod session_reports;
mod setup;
mod table;
mod takeover;
mod tracked;
mod verifying;
mod waits;

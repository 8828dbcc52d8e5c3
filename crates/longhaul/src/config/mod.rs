//! The configuration: one table of keys, five layers, and where each value came from.
//! Verbs call [`load`]; `commands/config.rs` shows it. Nothing here prints, and nothing here writes.

mod agent_tables;
mod environment;
mod file;
mod key;
mod keys;
mod kind;
mod load;
mod money;
mod nearest;
mod origin;
mod reference;
mod settings;
mod size;
mod value;

#[cfg(test)]
mod tests;

pub(crate) use agent_tables::AgentTable;
pub(crate) use file::{Layer, WORKSPACE_FILE, Written, read_entries, read_user_file, read_workspace_file};
pub(crate) use key::Untrusted;
pub(crate) use keys::KEYS;
#[cfg(test)]
pub(crate) use keys::defaults;
#[cfg(test)]
pub(crate) use load::Named;
pub(crate) use load::{ConfigError, Loaded, Notice, Overrides, Sources, load, read_flags};
pub(crate) use longhaul_core::span::{SPELLING as SPAN_SPELLING, read as read_span, show as show_span};
pub(crate) use origin::Origin;
pub(crate) use reference::{page, schema};
pub(crate) use settings::{NotifySettings, RetentionSettings, SessionSettings, Settings};
pub(crate) use size::show as show_size;

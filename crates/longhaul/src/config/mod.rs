//! The configuration: one table of keys, five layers, and where each value came from.
//! Verbs call [`load`]; `commands/config.rs` shows it. Nothing here prints, and nothing here writes.

mod environment;
mod file;
mod keys;
mod kind;
mod load;
mod money;
mod nearest;
mod origin;
mod reference;
mod settings;
mod size;
mod span;
mod value;

#[cfg(test)]
mod tests;

pub(crate) use file::{Entry, Layer, WORKSPACE_FILE, read_entries, read_workspace_file};
#[cfg(test)]
pub(crate) use keys::defaults;
pub(crate) use keys::{KEYS, Untrusted};
pub(crate) use load::{ConfigError, Loaded, Notice, Overrides, Sources, load, read_flags};
pub(crate) use origin::Origin;
pub(crate) use reference::{page, schema};
pub(crate) use settings::{RetentionSettings, Settings};
pub(crate) use size::show as show_size;
pub(crate) use span::{SPELLING as SPAN_SPELLING, read as read_span, show as show_span};

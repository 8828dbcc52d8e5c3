//! The configuration: one table of keys, five layers, and where each value came from.
//! Front ends call [`load`]. Nothing here prints or writes.

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

pub use agent_tables::AgentTable;
pub use file::{Layer, WORKSPACE_FILE, Written, read_entries, read_user_file, read_workspace_file};
pub use key::Untrusted;
pub use keys::KEYS;
pub use keys::defaults;
#[cfg(test)]
pub use load::Named;
pub use load::{ConfigError, Loaded, Notice, Overrides, Sources, changes, load};
pub use longhaul_core::span::{SPELLING as SPAN_SPELLING, read as read_span, show as show_span};
pub use origin::Origin;
pub use reference::{page, schema};
pub use settings::{NotifySettings, RetentionSettings, Settings};
pub use size::show as show_size;

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
pub(crate) mod nearest;
mod origin;
mod reference;
mod settings;
mod size;
mod value;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use agent_tables::AgentTable;
pub(crate) use file::{Entry, Layer, WORKSPACE_FILE, Written, read_entries, read_user_file, read_workspace_file};
pub(crate) use key::{Key, Untrusted};
pub use key::{LimitFlag, limit_flags};
pub(crate) use keys::{KEYS, defaults, is_path};
#[cfg(test)]
pub(crate) use load::Named;
pub(crate) use load::{ConfigError, FreeKeys, Notice, Profile, changes, profile_key};
pub use load::{Loaded, Overrides, Sources, load};
pub(crate) use longhaul_core::span::show as show_span;
pub use longhaul_core::span::{SPELLING as SPAN_SPELLING, read as read_span};
pub use origin::Origin;
pub use reference::{page, schema};
pub use settings::Settings;
pub(crate) use settings::{NotifySettings, RetentionSettings};
pub(crate) use size::show as show_size;
pub(crate) use write::{Edit, Place, edited, no_key, place_of};

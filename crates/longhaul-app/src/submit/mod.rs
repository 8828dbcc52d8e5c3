//! What a submission is made of, besides its flags: the files it names, where it works, what the configuration says of its agents.
//! Used by everything that submits or edits a task. Bad input is reported before anything is made.

mod agent_choice;
mod changes;
mod check_preflight;
mod child_request;
pub(crate) mod declared;
mod default_agent;
pub mod files;
pub mod notify_targets;
mod request;
mod send;
pub(crate) mod workspace_choice;

pub use changes::Changes;
pub(crate) use changes::need_of_terms;
pub(crate) use check_preflight::refuse_impossible_checks;
pub(crate) use child_request::{child_request, place_of_child};
pub(crate) use request::{choose_place, person_request};
pub use send::{Submitted, send};

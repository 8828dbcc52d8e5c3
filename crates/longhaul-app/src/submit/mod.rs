//! What a submission is made of, besides its flags: the files it names, where it works, what the configuration says of its agents.
//! Used by everything that submits or edits a task. Bad input is reported before anything is made.

pub mod agent_choice;
pub mod declared;
pub mod files;
pub mod notify_targets;
pub mod unchosen_agent;
pub mod workspace_choice;

//! The one hardened git wrapper: everything Longhaul does with git goes through here, as argument arrays and without a shell.
//!
//! Called by the worker's effects and by the binary; blocking, so async callers use `spawn_blocking`. Reading the working tree happens
//! in a private git directory with a configuration of our own (`view`); where the repository's own configuration must be in force
//! (references, worktrees) every program it could name is overridden (`command`). Nothing here runs a program that a repository
//! names. Nothing touches the user's index, HEAD or files, with one exception: landing on a branch that is checked out (`fast_forward`).

mod checks;
mod command;
mod commit;
mod conversion;
mod create;
mod diff;
mod error;
mod fast_forward;
mod final_state;
mod ignored_files;
mod land;
mod lend;
mod locks;
mod merge;
mod prepared_update;
mod push;
mod references;
mod repository;
mod rules;
mod signing;
mod tree;
mod view;
mod worktree;

pub use checks::AfterCheck;
pub use commit::Committed;
pub use diff::{ChangedFile, FileStatus, Patch, Uncommitted};
pub use error::{GitError, io_failed, is_transient};
pub use land::{Moved, NewCommit, Step};
pub use lend::landing_branch;
pub use locks::LockAnswer;
pub use merge::Merged;
pub use references::{BadObjectId, CommitId, TreeId, task_branch};
pub use repository::{Git, Repository};
pub use rules::{Whose, keep_out_of_git};
pub use tree::Survey;
pub use worktree::{Removal, Worktree, WorktreeError};

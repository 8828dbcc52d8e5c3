//! The one hardened git wrapper: everything Longhaul does with git goes through here, as argument arrays and without a shell.
//!
//! Called by the worker's effects and by the binary; blocking, so async callers use `spawn_blocking`. Reading the working tree happens
//! in a private git directory with a configuration of our own (`view`); where the repository's own configuration must be in force
//! (references, worktrees) every program it could name is overridden (`hardening`). Nothing here runs a program that a repository
//! names, and nothing touches the user's index, HEAD or files.

mod adopt;
mod branch;
mod checkout;
mod checks;
mod command;
mod commit;
mod conversion;
mod create;
mod diff;
mod error;
mod exclude;
mod filter;
mod hardening;
mod id;
mod index_lock;
mod lock;
mod open;
mod program;
mod rebuild;
mod reference;
mod registry;
mod remove;
mod repository;
mod rules;
mod scratch;
mod snapshot;
mod stale_lock;
mod stored_names;
mod tree;
mod view;
mod worktree;

pub use adopt::AdoptError;
pub use branch::task_branch;
pub use checks::AfterCheck;
pub use commit::Committed;
pub use create::CreateError;
pub use diff::{ChangedFile, FileStatus, Patch, Uncommitted};
pub use error::{GitError, io_failed, is_transient};
pub use exclude::keep_out_of_git;
pub use id::{BadObjectId, CommitId, TreeId};
pub use open::OpenError;
pub use program::Git;
pub use remove::Removal;
pub use repository::{GitDir, Repository};
pub use rules::Whose;
pub use snapshot::SnapshotError;
pub use stale_lock::LockAnswer;
pub use tree::Survey;
pub use worktree::{Worktree, WorktreeRecord};

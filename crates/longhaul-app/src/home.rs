//! The home directory: one place for everything Longhaul keeps. Made 0700; a link or a foreign directory is refused.
//! Names only: what is in the files is known by those who write them.

use std::io;
use std::path::{Path, PathBuf};

use longhaul_core::ids::{SessionId, TaskId, WorkerId};
use longhaul_keeper::files::{PrivateDirError, create_private_dir, replace};
use longhaul_keeper::{REDACT_KEY, read_redact_key};

use longhaul_keeper::random;

/// The log of workers without a terminal, the current file first.
pub const WORKER_LOGS: [&str; 2] = ["worker.log", "worker.log.1"];

const SESSION_CAP: &str = "session-cap";
const DEFAULT_SESSION_CAP: u32 = 8;

/// Where everything is kept.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
}

/// Why a home cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// A directory could not be made, or is not ours.
    #[error("cannot use `{path}` as Longhaul's home")]
    Unfit {
        /// The directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: PrivateDirError,
    },
    /// The directory above it could not be made.
    #[error("failed to create `{path}`")]
    Parent {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl Home {
    /// The home at this place, made if it is missing.
    pub fn create(root: &Path) -> Result<Home, HomeError> {
        if let Some(parent) = root.parent() {
            std::fs::create_dir_all(parent).map_err(|source| HomeError::Parent { path: parent.to_owned(), source })?;
        }
        let home = Home { root: root.to_owned() };
        for path in [home.root.clone(), home.sessions(), home.workers(), home.worktrees(), home.checkouts()] {
            create_private_dir(&path).map_err(|source| HomeError::Unfit { path, source })?;
        }
        // Masks then carry the same tag for the same secret everywhere in this home; without a key they carry none.
        if read_redact_key(&home.root).is_none() {
            replace(&home.root, REDACT_KEY, &random::<32>()).ok();
        }
        Ok(home)
    }

    /// The home at this place, without making anything.
    pub fn at(root: &Path) -> Home {
        Home { root: root.to_owned() }
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// One directory per session.
    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// The directory of one session.
    pub fn session(&self, id: SessionId) -> PathBuf {
        self.sessions().join(id.to_string())
    }

    /// How many sessions may live in this home at once, whichever worker starts them.
    pub fn session_cap(&self) -> u32 {
        let text = std::fs::read_to_string(self.root.join(SESSION_CAP)).unwrap_or_default();
        text.trim().parse().unwrap_or(DEFAULT_SESSION_CAP)
    }

    /// Changes that for all workers of this home, from their next start of a session on.
    pub fn set_session_cap(&self, cap: u32) -> io::Result<()> {
        replace(&self.root, SESSION_CAP, format!("{cap}\n").as_bytes())
    }

    /// One worktree per task that has one of its own.
    pub fn worktrees(&self) -> PathBuf {
        self.root.join("worktrees")
    }

    /// The worktree of one task.
    pub fn worktree(&self, id: TaskId) -> PathBuf {
        self.worktrees().join(id.to_string())
    }

    /// One clean checkout per round of checks that runs in one.
    pub fn checkouts(&self) -> PathBuf {
        self.root.join("checkouts")
    }

    /// What the git wrapper keeps for itself.
    pub fn git(&self) -> PathBuf {
        self.root.join("git")
    }

    /// One lock per task that a person has taken over.
    pub fn holds(&self) -> PathBuf {
        self.root.join("holds")
    }

    /// The lock of a person's hold on one task.
    pub fn hold(&self, id: TaskId) -> PathBuf {
        self.holds().join(format!("{id}.lock"))
    }

    /// One lock per worker.
    pub fn workers(&self) -> PathBuf {
        self.root.join("workers")
    }

    /// The lock of one worker.
    pub fn worker_lock(&self, id: WorkerId) -> PathBuf {
        self.workers().join(format!("{id}.lock"))
    }
}

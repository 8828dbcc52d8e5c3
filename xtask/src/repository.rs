//! The checkout this tool was built from, and cargo as it is called there.
//! Used by every verb; it never writes into the checkout.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// What a test run must not inherit: a developer's own tasks, or the session the developer works in.
const NOT_INHERITED: &[&str] = &["LONGHAUL_HOME", "LONGHAUL_SESSION"];

/// Knows where the checkout is.
pub(crate) struct Repository {
    root: PathBuf,
}

/// Why `cargo metadata` gave nothing to read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MetadataError {
    #[error("failed to start `cargo metadata`")]
    Start {
        #[source]
        source: io::Error,
    },
    #[error("`cargo metadata` ended with {status}: {message}")]
    Ended { status: ExitStatus, message: String },
    #[error("`cargo metadata` printed what is not JSON")]
    NotJson {
        #[source]
        source: serde_json::Error,
    },
}

impl Repository {
    /// Finds the checkout that cargo runs this tool for. With a target directory shared by several checkouts that may be another
    /// one than it was compiled in.
    pub(crate) fn here() -> Self {
        let compiled_in = env!("CARGO_MANIFEST_DIR");
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(compiled_in), PathBuf::from);
        Self { root: manifest.parent().unwrap_or(&manifest).to_path_buf() }
    }

    /// The top directory of the checkout.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Prepares `program`, to run at the top of the checkout without a developer's own Longhaul settings.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        for name in NOT_INHERITED {
            command.env_remove(name);
        }
        command
    }

    /// Prepares the cargo that started this tool.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = self.command(Path::new(&program));
        command.args(arguments);
        command
    }

    /// Reads what cargo knows of the workspace, without its outside dependencies.
    pub(crate) fn metadata(&self) -> Result<serde_json::Value, MetadataError> {
        let mut command = self.cargo(&["metadata", "--format-version", "1", "--no-deps"]);
        let output = command.output().map_err(|source| MetadataError::Start { source })?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(MetadataError::Ended { status: output.status, message });
        }
        serde_json::from_slice(&output.stdout).map_err(|source| MetadataError::NotJson { source })
    }
}

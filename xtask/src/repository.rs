//! The checkout this tool was built from, and cargo as it is called there.
//! Used by every verb; it never writes into the checkout.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a test run must not inherit: a developer's own tasks, or the session the developer works in.
const NOT_INHERITED: &[&str] = &["LONGHAUL_HOME", "LONGHAUL_SESSION"];

/// Knows where the checkout is.
pub(crate) struct Repository {
    root: PathBuf,
}

/// What a verb or a part of it gives, or why it could not: text for the developer who runs it, which no code tells apart.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

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
    pub(crate) fn metadata(&self) -> Outcome<serde_json::Value> {
        let mut command = self.cargo(&["metadata", "--format-version", "1", "--no-deps"]);
        let output = command.output().map_err(|error| format!("failed to start `cargo metadata`: {error}"))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(format!("`cargo metadata` ended with {}: {message}", output.status).into());
        }
        let read = serde_json::from_slice(&output.stdout);
        Ok(read.map_err(|error| format!("`cargo metadata` printed what is not JSON: {error}"))?)
    }
}

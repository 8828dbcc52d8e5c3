//! `trust_remove`: stops trusting a project's `longhaul.toml`.
//! The project itself may be gone; it is never changed.

use std::path::{Path, PathBuf};

use longhaul_core::task::Action;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::config::WORKSPACE_FILE;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit, View};
use crate::submit::files::utf8;
use crate::trust;

use super::trust::project;
use super::trust_list::TrustedFile;

/// The operation `trust_remove`.
pub struct TrustRemove;

/// What `trust_remove` takes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TrustRemoveInput {
    /// The project's directory, or its `longhaul.toml`.
    pub path: PathBuf,
}

/// What is no longer trusted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrustRemoved {
    /// The file.
    pub removed: TrustedFile,
}

impl View for TrustRemoved {
    const KIND: &'static str = "trust_removed";
}

impl Operation for TrustRemove {
    const ABOUT: About =
        About::new("trust_remove", "Stop trusting a configuration file", Action::Manage("trust"), COMMAND_LINE);
    type Input = TrustRemoveInput;
    type Output = TrustRemoved;

    async fn run(call: &Call, _: Permit, input: TrustRemoveInput) -> Result<Answer<TrustRemoved>, AppError> {
        let path = call.caller.resolve(&input.path)?;
        // The project may be gone; then its path counts as it is written.
        let file = project(&path).unwrap_or_else(|_| gone(&path)).join(WORKSPACE_FILE);
        let removed = trust::remove(call.home().root(), &utf8(&file)?)?.ok_or_else(|| {
            AppError::new(ErrorKind::Usage, format!("`{}` is not trusted", file.display()))
                .hint("`longhaul trust --list` lists trusted files")
        })?;
        Ok(Answer::new(TrustRemoved { removed: removed.into() }))
    }
}

fn gone(path: &Path) -> PathBuf {
    let names_file = path.file_name().is_some_and(|name| name == WORKSPACE_FILE);
    let directory = path.parent().filter(|_| names_file).unwrap_or(path);
    directory.to_owned()
}

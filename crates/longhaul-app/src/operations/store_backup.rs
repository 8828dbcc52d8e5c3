//! `store_backup`: copies the store into a new file while workers keep running.
//! It overwrites nothing. Session logs are not part of the copy.

use std::path::{Path, PathBuf};

use longhaul_core::task::Action;
use longhaul_store::StoreError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::operation::{About, Answer, COMMAND_LINE, Operation, Permit, View};

/// The operation `store_backup`.
pub struct StoreBackup;

/// What `store_backup` takes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct StoreBackupInput {
    /// The file to write; it must not exist yet.
    pub file: PathBuf,
}

/// The copy, which was checked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Backup {
    /// The absolute path of the copy.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

impl View for Backup {
    const KIND: &'static str = "store_backup";
}

impl Operation for StoreBackup {
    const ABOUT: About = About::new(
        "store_backup",
        "Copy the store into a new file",
        Action::ReadAll("check or copy the store"),
        COMMAND_LINE,
    );
    type Input = StoreBackupInput;
    type Output = Backup;

    async fn run(call: &Call, _: Permit, input: StoreBackupInput) -> Result<Answer<Backup>, AppError> {
        let store = call.app.whole_store()?;
        let target = call.caller.resolve(&input.file)?;
        if target.symlink_metadata().is_ok() {
            return Err(AppError::new(ErrorKind::Conflict, format!("`{}` already exists", target.display()))
                .hint("name a new file; a backup never overwrites one"));
        }
        store.backup(&target).await.map_err(|error| cannot_back_up(&target, error))?;
        let failed = |error| StoreError::Failed { what: format!("{error}") };
        let bytes = target.symlink_metadata().map_err(|error| cannot_back_up(&target, failed(error)))?.len();
        Ok(Answer::new(Backup { path: target.display().to_string(), bytes }))
    }
}

/// A bad place for the copy does not mean that the home is bad.
fn cannot_back_up(target: &Path, error: StoreError) -> AppError {
    let kind = match &error {
        StoreError::Unfit { .. } => ErrorKind::Usage,
        StoreError::Failed { .. } | StoreError::Full { .. } => ErrorKind::Failure,
        _ => return error.into(),
    };
    AppError::new(kind, format!("cannot back up to `{}`", target.display()))
        .because(&error)
        .hint("name a new file in an existing directory that you can write to and that has enough space")
}

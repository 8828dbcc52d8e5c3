//! A file of the service: ours by its mark, foreign, or not there. Used by the kinds that write one; it only looks.
//! A symbolic link is never ours: whoever made it decides what it leads to.

use std::io;
use std::path::Path;

use super::Installed;
use super::step::Step;
use longhaul_app::{AppError, ErrorKind};

/// What every file of ours begins with, after the language's own opening.
pub(super) const MARK: &str = "Written by `longhaul service install`; `longhaul service uninstall` takes it away.";

/// Whether the file is there, and whose it is.
pub(super) fn look(path: &Path, wanted: &str) -> Result<Installed, AppError> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Installed::No),
        Ok(meta) if !meta.is_file() => return Ok(Installed::Foreign),
        Ok(_) | Err(_) => {}
    }
    let found = std::fs::read(path).map_err(|error| {
        AppError::new(ErrorKind::Failure, format!("cannot read `{}`", path.display())).because(&error)
    })?;
    Ok(match String::from_utf8(found) {
        Ok(text) if text == wanted => Installed::Yes,
        Ok(text) if text.lines().take(4).any(|line| line.contains(MARK)) => Installed::Otherwise,
        Ok(_) | Err(_) => Installed::Foreign,
    })
}

/// Writing the file, unless it is there as it is wanted.
pub(super) fn write(path: &Path, wanted: &str) -> Result<Option<Step>, AppError> {
    match look(path, wanted)? {
        Installed::Yes => Ok(None),
        Installed::No | Installed::Otherwise => {
            Ok(Some(Step::Write { path: path.to_owned(), text: wanted.to_owned() }))
        }
        Installed::Foreign => Err(foreign(path)),
    }
}

/// Removing the file; nothing where there is none.
pub(super) fn remove(path: &Path) -> Result<Option<Step>, AppError> {
    match look(path, "")? {
        Installed::No => Ok(None),
        Installed::Yes | Installed::Otherwise => Ok(Some(Step::Remove { path: path.to_owned() })),
        Installed::Foreign => Err(foreign(path)),
    }
}

fn foreign(path: &Path) -> AppError {
    AppError::new(ErrorKind::Conflict, format!("`{}` is there and not ours; nothing was changed", path.display()))
        .hint("look at it; rename it if you do not need it, then run the same again")
}

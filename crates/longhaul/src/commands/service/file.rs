//! A file of the service: ours by its mark, foreign, or missing. Used by the kinds that write one; changes nothing itself.
//! A symbolic link is never ours: whoever created it decides where it leads.

use std::io;
use std::path::Path;

use super::Installed;
use crate::commands::step::Step;
use longhaul_app::{AppError, ErrorKind};

/// The first line of our files, after what their format requires.
pub(super) const MARK: &str = "Written by `longhaul service install`; `longhaul service uninstall` removes it.";
/// The part of the mark that identifies our files, whatever version wrote them.
const OURS: &str = "Written by `longhaul service install`";

/// Whether the file exists, and whose it is.
pub(super) fn inspect(path: &Path, wanted: &str) -> Result<Installed, AppError> {
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
        Ok(text) if text.lines().take(4).any(|line| line.contains(OURS)) => Installed::Different,
        Ok(_) | Err(_) => Installed::Foreign,
    })
}

/// The step that writes the file; none if it already has this content.
pub(super) fn write(path: &Path, wanted: &str) -> Result<Option<Step>, AppError> {
    match inspect(path, wanted)? {
        Installed::Yes => Ok(None),
        Installed::No | Installed::Different => {
            Ok(Some(Step::Write { path: path.to_owned(), text: wanted.to_owned() }))
        }
        Installed::Foreign => Err(foreign(path)),
    }
}

/// The step that removes the file; none if it does not exist.
pub(super) fn remove(path: &Path) -> Result<Option<Step>, AppError> {
    match inspect(path, "")? {
        Installed::No => Ok(None),
        Installed::Yes | Installed::Different => Ok(Some(Step::Remove { path: path.to_owned() })),
        Installed::Foreign => Err(foreign(path)),
    }
}

fn foreign(path: &Path) -> AppError {
    AppError::new(ErrorKind::Conflict, format!("`{}` exists and is not ours; nothing was changed", path.display()))
        .hint("check the file; if you do not need it, rename it and run this again")
}

#[cfg(test)]
mod tests {
    use super::{Installed, MARK, inspect};

    #[test]
    fn a_file_of_any_version_of_the_mark_is_ours() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("longhaul.service");
        let earlier = "Written by `longhaul service install`; `longhaul service uninstall` takes it away.";
        for (text, expected) in [
            (format!("# {earlier}\n[Unit]\n"), Installed::Different),
            (format!("# {MARK}\n[Unit]\n"), Installed::Different),
            ("# Written by me\n[Unit]\n".to_owned(), Installed::Foreign),
            ("wanted\n".to_owned(), Installed::Yes),
        ] {
            std::fs::write(&path, &text).unwrap();
            assert_eq!(inspect(&path, "wanted\n").unwrap(), expected, "{text}");
        }
    }
}

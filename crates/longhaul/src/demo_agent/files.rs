//! The few file operations of the demo agent: read if it exists, replace atomically, append in one write.
//!
//! Used by every file of the demo agent that touches the disk; removes nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// What the umask says, for files of the workspace.
    Shared,
    /// The owner alone, for the agent's memory.
    Private,
}

/// A file operation that failed.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action} `{}`: {source}", path.display())]
pub(super) struct FileError {
    action: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// Reads a text file; one that does not exist is `None`.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, FileError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FileError { action: "read", path: path.to_owned(), source }),
    }
}

/// Replaces a file as a whole: a reader sees the old or the new content, never a part.
pub(super) fn replace(path: &Path, content: &str, access: Access) -> Result<(), FileError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Two agents may work in one directory; each has its own temporary file.
    let temporary = path.with_file_name(format!(".{name}.demo-agent-{}", std::process::id()));
    let written = open(&temporary, OpenOptions::new().write(true).create(true).truncate(true), access)
        .and_then(|mut file| file.write_all(content.as_bytes()))
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(|source| FileError { action: "replace", path: path.to_owned(), source })
}

/// Appends in a single write, so that lines of several processes do not mix.
pub(super) fn append(path: &Path, content: &str, access: Access) -> Result<(), FileError> {
    open(path, OpenOptions::new().append(true).create(true), access)
        .and_then(|mut file| file.write_all(content.as_bytes()))
        .map_err(|source| FileError { action: "append to", path: path.to_owned(), source })
}

/// Creates a directory and its parents.
pub(super) fn make_directory(path: &Path, access: Access) -> Result<(), FileError> {
    let mode = if access == Access::Private { 0o700 } else { 0o777 };
    let made = fs::DirBuilder::new().recursive(true).mode(mode).create(path);
    made.map_err(|source| FileError { action: "create directory", path: path.to_owned(), source })
}

fn open(path: &Path, options: &mut OpenOptions, access: Access) -> io::Result<File> {
    let mode = if access == Access::Private { 0o600 } else { 0o666 };
    options.mode(mode).open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn replaces_appends_and_leaves_nothing_beside() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.md");
        assert_eq!(read_text(&path).unwrap(), None);
        replace(&path, "one\n", Access::Private).unwrap();
        replace(&path, "two\n", Access::Private).unwrap();
        append(&path, "three\n", Access::Private).unwrap();
        assert_eq!(read_text(&path).unwrap().as_deref(), Some("two\nthree\n"));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_failure_names_action_and_path() {
        let directory = tempfile::tempdir().unwrap();
        let error = replace(&directory.path().join("no/a.md"), "", Access::Shared).unwrap_err();
        assert!(error.to_string().starts_with("failed to replace `"), "{error}");
    }
}

//! A skill directory on disk: inspects, writes and removes our files. Called by `skill`.
//! Touches only plain files named in the table.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use longhaul_keeper::files::replace;

use super::shipped::File;
use longhaul_app::{AppError, ErrorKind};

/// A directory of skills.
#[derive(Debug)]
pub(super) struct Folder(pub(super) PathBuf);

/// What to do with files that someone changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    Keep,
    Overwrite,
}

/// The result of removing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Removal {
    Removed,
    Missing,
    Changed,
}

/// The state of one file or one skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileState {
    Missing,
    Current,
    /// An earlier version, or a part of the skill is missing.
    Older,
    Changed,
}

impl FileState {
    pub(super) fn words(self) -> &'static str {
        match self {
            FileState::Missing => "not installed",
            FileState::Current => "installed",
            FileState::Older => "older",
            FileState::Changed => "changed",
        }
    }
}

impl Folder {
    pub(super) fn path(&self, file: &File) -> PathBuf {
        self.0.join(file.skill).join(file.path)
    }

    /// Writes every missing or older file; nothing at all if a person changed one of them.
    pub(super) fn write(&self, files: &[File], force: Force) -> Result<Vec<PathBuf>, AppError> {
        let mut wanted = Vec::new();
        let mut theirs = Vec::new();
        for file in files {
            match self.inspect(file)? {
                FileState::Current => {}
                FileState::Changed if force == Force::Keep => theirs.push(self.path(file)),
                FileState::Missing | FileState::Older | FileState::Changed => wanted.push(file),
            }
        }
        if !theirs.is_empty() {
            return Err(changed(&theirs));
        }
        let written = wanted.into_iter().map(|file| {
            let path = self.path(file);
            write(&path, file).map_err(|error| failed(format!("cannot write `{}`", path.display()), &error))?;
            Ok(path)
        });
        written.collect()
    }

    /// Removes a file that nobody changed.
    pub(super) fn remove(&self, file: &File) -> Result<Removal, AppError> {
        let path = self.path(file);
        match self.inspect(file) {
            Ok(FileState::Missing) => Ok(Removal::Missing),
            Ok(FileState::Changed) | Err(_) => Ok(Removal::Changed),
            Ok(FileState::Current | FileState::Older) => {
                std::fs::remove_file(&path)
                    .map_err(|error| failed(format!("cannot remove `{}`", path.display()), &error))?;
                Ok(Removal::Removed)
            }
        }
    }

    /// Removes the empty directories of the files.
    pub(super) fn remove_empty(&self, files: &[File]) {
        for file in files.iter().rev() {
            let skill = self.0.join(file.skill);
            let above = self.path(file).ancestors().skip(1).map(Path::to_owned).collect::<Vec<_>>();
            for directory in above.iter().take_while(|directory| directory.starts_with(&skill)) {
                // Fails if the directory is missing or not empty, which is fine.
                std::fs::remove_dir(directory).ok();
            }
        }
    }

    /// The state of several files together.
    pub(super) fn state<'a>(&self, files: impl Iterator<Item = &'a File>) -> Result<FileState, AppError> {
        let all: Vec<FileState> = files.map(|file| self.inspect(file)).collect::<Result<_, _>>()?;
        Ok(match all.first() {
            Some(first) if all.iter().all(|state| state == first) => *first,
            Some(_) if all.contains(&FileState::Changed) => FileState::Changed,
            Some(_) => FileState::Older,
            None => FileState::Missing,
        })
    }

    fn inspect(&self, file: &File) -> Result<FileState, AppError> {
        let path = self.path(file);
        let unreadable = |error: &std::io::Error| failed(format!("cannot read `{}`", path.display()), error);
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FileState::Missing),
            Err(error) => return Err(unreadable(&error)),
            Ok(meta) if !meta.is_file() => {
                return Err(AppError::new(ErrorKind::Conflict, format!("`{}` is not a plain file", path.display()))
                    .hint("nothing was changed; remove it by hand, or choose another directory with `--dir`"));
            }
            Ok(_) => {}
        }
        let found = std::fs::read(&path).map_err(|error| unreadable(&error))?;
        Ok(match found == file.text.as_bytes() {
            true => FileState::Current,
            false if file.is_ours(&found) => FileState::Older,
            false => FileState::Changed,
        })
    }
}

fn write(path: &Path, file: &File) -> std::io::Result<()> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    std::fs::create_dir_all(directory)?;
    replace(&directory.canonicalize()?, name, file.text.as_bytes())?;
    std::fs::set_permissions(path, Permissions::from_mode(file.mode))
}

fn changed(paths: &[PathBuf]) -> AppError {
    let named: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    let what = format!("not written by longhaul, or changed since: {}; nothing was written", named.join(", "));
    AppError::new(ErrorKind::Conflict, what).hint("`--force` replaces only these files; keep a copy if you need one")
}

fn failed(what: String, error: &std::io::Error) -> AppError {
    AppError::new(ErrorKind::Failure, what).because(error).hint("check that you can write to the directory")
}

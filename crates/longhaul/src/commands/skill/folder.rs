//! A directory of skills on disk: what of ours is there, writing it, taking it away. Called by `skill`.
//! It touches only files of the table, by exact name, and never what is not a plain file.

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

/// What is done about files that somebody changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    Respect,
    Overwrite,
}

/// What became of a file that was to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Removed,
    Absent,
    Changed,
}

/// How one file or one skill stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Absent,
    Current,
    /// A version that shipped before, or only a part of it is there.
    Older,
    Changed,
}

impl Standing {
    pub(super) fn words(self) -> &'static str {
        match self {
            Standing::Absent => "not installed",
            Standing::Current => "installed",
            Standing::Older => "older",
            Standing::Changed => "changed",
        }
    }
}

impl Folder {
    pub(super) fn path(&self, file: &File) -> PathBuf {
        self.0.join(file.skill).join(file.path)
    }

    /// Writes every file that is not there as it is; nothing at all when one of them is a person's.
    pub(super) fn write(&self, files: &[File], force: Force) -> Result<Vec<PathBuf>, AppError> {
        let mut wanted = Vec::new();
        let mut theirs = Vec::new();
        for file in files {
            match self.look(file)? {
                Standing::Current => {}
                Standing::Changed if force == Force::Respect => theirs.push(self.path(file)),
                Standing::Absent | Standing::Older | Standing::Changed => wanted.push(file),
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

    /// Removes a file that is as it was written.
    pub(super) fn remove(&self, file: &File) -> Result<Kept, AppError> {
        let path = self.path(file);
        match self.look(file) {
            Ok(Standing::Absent) => Ok(Kept::Absent),
            Ok(Standing::Changed) | Err(_) => Ok(Kept::Changed),
            Ok(Standing::Current | Standing::Older) => {
                std::fs::remove_file(&path)
                    .map_err(|error| failed(format!("cannot remove `{}`", path.display()), &error))?;
                Ok(Kept::Removed)
            }
        }
    }

    /// Takes the directories of the files away where nothing is left in them.
    pub(super) fn remove_empty(&self, files: &[File]) {
        for file in files.iter().rev() {
            let skill = self.0.join(file.skill);
            let above = self.path(file).ancestors().skip(1).map(Path::to_owned).collect::<Vec<_>>();
            for directory in above.iter().take_while(|directory| directory.starts_with(&skill)) {
                // One that is not empty, or not there, stays as it is.
                std::fs::remove_dir(directory).ok();
            }
        }
    }

    /// How several files stand together.
    pub(super) fn standing<'a>(&self, files: impl Iterator<Item = &'a File>) -> Result<Standing, AppError> {
        let all: Vec<Standing> = files.map(|file| self.look(file)).collect::<Result<_, _>>()?;
        Ok(match all.first() {
            Some(first) if all.iter().all(|standing| standing == first) => *first,
            Some(_) if all.contains(&Standing::Changed) => Standing::Changed,
            Some(_) => Standing::Older,
            None => Standing::Absent,
        })
    }

    fn look(&self, file: &File) -> Result<Standing, AppError> {
        let path = self.path(file);
        let unfit = |error: &std::io::Error| failed(format!("cannot look at `{}`", path.display()), error);
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Standing::Absent),
            Err(error) => return Err(unfit(&error)),
            Ok(meta) if !meta.is_file() => {
                return Err(AppError::new(ErrorKind::Conflict, format!("`{}` is not a plain file", path.display()))
                    .hint("nothing was changed; take it away by hand, or choose another directory with `--dir`"));
            }
            Ok(_) => {}
        }
        let found = std::fs::read(&path).map_err(|error| unfit(&error))?;
        Ok(match found == file.text.as_bytes() {
            true => Standing::Current,
            false if file.is_ours(&found) => Standing::Older,
            false => Standing::Changed,
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
    AppError::new(ErrorKind::Conflict, what).hint("`--force` replaces exactly these files; keep a copy if you need one")
}

fn failed(what: String, error: &std::io::Error) -> AppError {
    AppError::new(ErrorKind::Failure, what).because(error).hint("see that the directory is yours to write")
}

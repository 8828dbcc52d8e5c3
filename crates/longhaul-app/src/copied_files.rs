//! Copies ignored files of the project, such as `.env`, into a new worktree or a clean checkout, as `workspace.copy` selects them.
//!
//! Only regular files with one name inside the project, a bounded number of them, and only where git ignores them too, so that no commit
//! of the task contains one. What is there already is left alone, so a copy that was interrupted is simply made again.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use longhaul_core::task::{Place, Submission};
use longhaul_git::{Git, GitError, Repository};
use longhaul_keeper::{Beneath, BeneathError, Environment, fail_point, temporary_of};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::home::Home;
use crate::intake::blocking_here;
use crate::text;

const MOST_FILES: usize = 1000;
const MOST_BYTES: u64 = 64 << 20;

/// Why nothing was copied, or not all.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error(
        "`workspace.copy` selects {found} files, and at most {MOST_FILES} are copied; name fewer, or let `workspace.setup` make them"
    )]
    TooMany { found: usize },
    #[error("`workspace.copy` selects more than {} MiB; name fewer files, or let `workspace.setup` make them", MOST_BYTES >> 20)]
    TooLarge,
    #[error(
        "`{name}` is not copied: git ignores it in your checkout, but not in the commit that the task starts from, so it would be \
         committed; commit your ignore rules, then run `longhaul retry`"
    )]
    NotIgnored { name: String },
    #[error("`{project}` is no longer a git repository, so no file can be copied from it")]
    NoProject { project: String },
    #[error("failed to copy `{name}`")]
    File {
        name: String,
        #[source]
        source: BeneathError,
    },
    #[error("failed to copy into `{place}`")]
    Place {
        place: String,
        #[source]
        source: io::Error,
    },
    #[error("failed to find the files to copy")]
    Git(#[from] GitError),
}

/// What the patterns select.
#[derive(Debug, Default)]
struct Selection {
    files: BTreeSet<String>,
    /// Links, and files with a second name.
    skipped: Vec<String>,
}

/// What a person should know before a task starts: what is not copied. Refuses what could not be copied.
pub(crate) fn preview(call: &Call, submission: &Submission) -> Result<Option<String>, AppError> {
    if submission.copy.is_empty() || submission.place == Place::InPlace {
        return Ok(None);
    }
    let selected = blocking_here(|| {
        let project = project(submission, call.home())?;
        select(&project, &submission.copy, &call.app.system.environment)
    });
    let selected = selected.map_err(|error| AppError::new(ErrorKind::Usage, error.to_string()))?;
    let Some(first) = selected.skipped.first() else { return Ok(None) };
    let more = match selected.skipped.len() {
        1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    Ok(Some(format!("not copied into the worktree: `{}`{more}, because links are not followed", text::safe(first))))
}

/// Copies what the task's patterns select, and answers with the names. `place` is a new worktree or checkout.
pub fn copy(
    submission: &Submission,
    home: &Home,
    environment: &Environment,
    place: &Repository,
) -> Result<BTreeSet<String>, CopyError> {
    if submission.copy.is_empty() {
        return Ok(BTreeSet::new());
    }
    let project = project(submission, home)?;
    let files = select(&project, &submission.copy, environment)?.files;
    let ignored = place.ignored_among(&files)?;
    if let Some(name) = files.difference(&ignored).next() {
        return Err(CopyError::NotIgnored { name: name.clone() });
    }
    let (from, to) = (open(project.top_level())?, open(place.top_level())?);
    let mut left = MOST_BYTES;
    for name in &files {
        left -= copy_one(&from, &to, name, left, || clear_half_written(&place.top_level().join(name)))?;
        fail_point::reach("copy.file_written");
    }
    Ok(files)
}

fn project(submission: &Submission, home: &Home) -> Result<Repository, CopyError> {
    let found = Git::open(&home.git())?.find(Path::new(&submission.project))?;
    found.ok_or_else(|| CopyError::NoProject { project: submission.project.clone() })
}

fn select(project: &Repository, patterns: &[String], environment: &Environment) -> Result<Selection, CopyError> {
    let found = project.ignored_files(patterns, environment)?;
    if found.len() > MOST_FILES {
        return Err(CopyError::TooMany { found: found.len() });
    }
    let from = open(project.top_level())?;
    let (mut selection, mut bytes) = (Selection::default(), 0);
    for name in found {
        match from.open_file(&name) {
            Ok(Some(file)) => {
                bytes += file.metadata().map_or(0, |meta| meta.len());
                selection.files.insert(name);
            }
            Ok(None) => {}
            Err(BeneathError::NotPlain { .. }) => selection.skipped.push(name),
            Err(source) => return Err(CopyError::File { name, source }),
        }
    }
    if bytes > MOST_BYTES { Err(CopyError::TooLarge) } else { Ok(selection) }
}

fn open(place: &Path) -> Result<Beneath, CopyError> {
    Beneath::open(place).map_err(|source| CopyError::Place { place: place.display().to_string(), source })
}

/// Copies a file unless there is something of that name. How many bytes were written.
fn copy_one(from: &Beneath, to: &Beneath, name: &str, left: u64, clear: impl FnOnce()) -> Result<u64, CopyError> {
    let failed = |source| match source {
        BeneathError::TooLarge { .. } => CopyError::TooLarge,
        source => CopyError::File { name: name.to_owned(), source },
    };
    match to.open_file(name) {
        Ok(None) => clear(),
        // The commit has a file or a link there.
        Ok(Some(_)) | Err(BeneathError::NotPlain { .. }) => return Ok(0),
        Err(source) => return Err(failed(source)),
    }
    let (Some(bytes), Some(file)) = (from.read(name, left).map_err(failed)?, from.open_file(name).map_err(failed)?)
    else {
        return Ok(0);
    };
    for (at, _) in name.match_indices('/') {
        to.make_dir(&name[..at]).map_err(failed)?;
    }
    to.replace(name, &bytes).map_err(failed)?;
    let is_program = file.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o100 != 0);
    if let Some(copied) = to.open_file(name).map_err(failed)?.filter(|_| is_program) {
        copied.set_permissions(Permissions::from_mode(0o700)).ok();
    }
    Ok(bytes.len() as u64)
}

/// A worker that was killed may have left the beginning of this file under a temporary name of ours.
fn clear_half_written(path: &Path) {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return;
    };
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().to_str().and_then(temporary_of) == Some(name) {
            std::fs::remove_file(entry.path()).ok();
        }
    }
}

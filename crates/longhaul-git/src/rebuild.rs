//! Gives a directory full of files its git data back after somebody pruned it. Called by create only; no file but `.git` is written.
//!
//! Git can not register a directory that has files in it, so an empty one beside it is registered and its data led to the full one.

use std::fs;
use std::path::Path;

use longhaul_keeper::files::replace;

use super::error::{GitError, io_failed};
use super::id::CommitId;
use super::registry::{clear_half_made, metadata_of, registered};
use super::repository::Repository;

/// Registers `path` anew, detached at `base` and without an index.
pub(super) fn rebuild(repository: &Repository, path: &Path, base: &CommitId) -> Result<(), GitError> {
    let common = &repository.git_dir().common_dir;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".rebuild");
    let beside = path.with_file_name(name);
    clear_half_made(common, &beside);
    if metadata_of(common, &beside).is_none() || !beside.join(".git").exists() {
        let entry = registered(repository)?.into_iter().find(|entry| entry.path == beside);
        repository.add(&beside, entry.as_ref(), base)?;
    }
    let missing = || io_failed("find the git data of", &beside)(std::io::ErrorKind::NotFound.into());
    let metadata = metadata_of(common, &beside).ok_or_else(missing)?;
    replace(path, ".git", format!("gitdir: {}\n", metadata.display()).as_bytes()).map_err(io_failed("write", path))?;
    let dot_git = format!("{}\n", path.join(".git").display());
    replace(&metadata, "gitdir", dot_git.as_bytes()).map_err(io_failed("write", &metadata))?;
    fs::remove_file(beside.join(".git")).map_err(io_failed("remove", &beside))?;
    fs::remove_dir(&beside).map_err(io_failed("remove", &beside))
}

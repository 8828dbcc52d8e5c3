//! What a working tree changes against a commit, untracked files included: as a list and as a patch.
//! Called for reports and `longhaul diff`, before a task starts beside somebody's work, and before a worktree is removed; external diff programs and text conversions never run.

use std::path::PathBuf;

use super::command::{Call, LONG};
use super::error::GitError;
use super::references::CommitId;
use super::repository::Repository;
use super::tree::{Files, survey};
use super::view::{Objects, View, path_of, zero_separated};

const MOST_PATCH_BYTES: usize = 8 << 20;
const MOST_NAMES: usize = 200;

/// A patch, perhaps cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The text as git prints it.
    pub bytes: Vec<u8>,
    /// It was longer than 8 MiB and ends in the middle.
    pub is_cut: bool,
}

/// Files whose content is in no commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncommitted {
    /// The first of them by name, for people to read.
    pub files: Vec<String>,
    /// How many there are.
    pub total: usize,
}

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Relative to the top level.
    pub path: PathBuf,
    /// What became of it.
    pub status: FileStatus,
    /// Lines that were added and removed; none for a file that is not text.
    pub lines: Option<(u64, u64)>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStatus {
    /// It is new.
    Added,
    /// Its content or mode is another.
    Modified,
    /// It is gone.
    Deleted,
    /// It became a link, a file or a submodule.
    TypeChanged,
}

impl Uncommitted {
    /// Whether everything is committed.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

impl Repository {
    /// Files that differ from HEAD, untracked ones that are not ignored, and repositories inside, except for what checks left behind.
    pub fn uncommitted(&self) -> Result<Uncommitted, GitError> {
        let survey = self.survey()?;
        let mut names = survey.changed;
        if self.rules.is_none() {
            // Whether these are changed is not known: nobody captured what they were like.
            names.retain(|name| !survey.filtered.contains_key(name));
        }
        names.extend(survey.untracked);
        names.extend(survey.nested);
        names.extend(survey.submodules);
        let shown = |name: &Vec<u8>| String::from_utf8_lossy(name).into_owned();
        Ok(Uncommitted { files: names.iter().take(MOST_NAMES).map(shown).collect(), total: names.len() })
    }

    /// The patch from `base` to a later commit, or to the files as they are now.
    pub fn diff(&self, base: &CommitId, last: Option<&CommitId>) -> Result<Patch, GitError> {
        let view = View::new(self, Objects::Private)?;
        const WORDS: &[&str] =
            &["diff-tree", "-r", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index"];
        let answer = against(&view, WORDS, base, last)?.cap(MOST_PATCH_BYTES).run()?;
        if answer.cut || answer.is_success() {
            return Ok(Patch { bytes: answer.output, is_cut: answer.cut });
        }
        Err(answer.refused())
    }

    /// The files that differ between `base` and a later commit, or now.
    pub fn changed_files(&self, base: &CommitId, last: Option<&CommitId>) -> Result<Vec<ChangedFile>, GitError> {
        let view = View::new(self, Objects::Private)?;
        const WORDS: &[&str] =
            &["diff-tree", "-r", "-z", "--raw", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let output = against(&view, WORDS, base, last)?.succeed()?;
        Ok(changed(&output))
    }

    /// The paths that differ between a commit and a tree of this repository; without a commit, all paths of the tree.
    pub fn changed_paths(&self, base: Option<&CommitId>, tree: &str) -> Result<Vec<String>, GitError> {
        let call = self.call()?.words(&["diff-tree", "-r", "-z", "--name-only", "--no-renames"]);
        let base = base.map_or(self.format.empty_tree(), CommitId::as_str);
        let output = call.value(base)?.value(tree)?.words(&["--"]).deadline(LONG).succeed()?;
        Ok(zero_separated(&output).map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }
}

fn against(view: &View<'_>, words: &[&str], base: &CommitId, last: Option<&CommitId>) -> Result<Call, GitError> {
    let content = match last {
        Some(last) => view.repository.tree_of(last.as_str())?,
        None => survey(view, Files::All)?.stored_content(view)?,
    };
    let call = view.call().words(words).value(base.as_str())?.value(content.as_str())?;
    Ok(call.words(&["--"]).deadline(LONG))
}

/// First a record and a path for each file, such as `:100644 100644 ID ID M`; then its lines in the same order, such as `3\t1\tPATH`.
fn changed(output: &[u8]) -> Vec<ChangedFile> {
    let parts: Vec<&[u8]> = zero_separated(output).collect();
    let records = parts.chunks(2).take_while(|pair| pair.len() == 2 && pair[0].starts_with(b":")).count();
    let (files, counts) = parts.split_at(records * 2);
    let lines = counts.iter().map(|count| lines_of(count)).chain(std::iter::repeat(None));
    files.chunks(2).zip(lines).map(|(file, lines)| changed_file(file[0], file[1], lines)).collect()
}

/// Git writes hyphens for a file that is not text.
fn lines_of(count: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(count.get(..count.len().min(64))?).unwrap_or_default();
    let mut numbers = text.split('\t').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn changed_file(record: &[u8], path: &[u8], lines: Option<(u64, u64)>) -> ChangedFile {
    let status = match record.last() {
        Some(b'A') => FileStatus::Added,
        Some(b'D') => FileStatus::Deleted,
        Some(b'T') => FileStatus::TypeChanged,
        Some(_) | None => FileStatus::Modified,
    };
    ChangedFile { path: path_of(path), status, lines }
}

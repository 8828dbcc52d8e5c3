//! The tree that the files of a working tree would make now, built in a private index; the real one is never touched.
//!
//! Attributes such as line endings are in force. Files under a filter (LFS) are never run through it: unchanged ones keep their entry,
//! changed ones go in as raw bytes. Repositories inside the working tree that are not submodules are left out.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use super::command::{LONG, unreadable};
use super::error::GitError;
use super::id::TreeId;
use super::repository::Repository;
use super::view::{Objects, View, path_of, quoted, zero_separated};
use crate::task_dir::STATE_DIR;

/// Which files count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    Tracked,
    WithUntracked,
}

/// What differs between the index and the files.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// To be read by git, conversions of line endings included.
    plain: BTreeSet<Vec<u8>>,
    /// Under a filter: to be taken as they are.
    raw: BTreeSet<Vec<u8>>,
    removed: BTreeSet<Vec<u8>>,
    /// Repositories of their own that nobody tracks.
    pub(super) nested: Vec<Vec<u8>>,
}

impl Repository {
    /// The id of the tree that the tracked files would make now. Nothing is stored.
    pub fn tree_id(&self) -> Result<TreeId, GitError> {
        build(&View::new(self, Objects::Private)?, Files::Tracked).map(|(tree, _)| tree)
    }

    /// As [`Repository::tree_id`], with untracked files that are not ignored.
    pub fn tree_id_with_untracked(&self) -> Result<TreeId, GitError> {
        build(&View::new(self, Objects::Private)?, Files::WithUntracked).map(|(tree, _)| tree)
    }
}

/// Brings the view's index up to the files and writes its tree.
pub(super) fn build(view: &View<'_>, files: Files) -> Result<(TreeId, Differences), GitError> {
    let differences = differences(view, files)?;
    remove(view, &differences.removed)?;
    add_plain(view, &differences.plain)?;
    add_raw(view, &differences.raw)?;
    let text = view.call().words(&["write-tree", "--missing-ok"]).deadline(LONG).line()?;
    let tree = text.parse().map_err(|_| unreadable("git write-tree", &text))?;
    Ok((tree, differences))
}

/// Of these paths, those for which attributes name a filter.
pub(super) fn under_filter<'path>(
    view: &View<'_>,
    paths: impl Iterator<Item = &'path Vec<u8>>,
) -> Result<BTreeSet<Vec<u8>>, GitError> {
    let input = zero_terminated(paths);
    if input.is_empty() {
        return Ok(BTreeSet::new());
    }
    let call = view.call().words(&["check-attr", "-z", "--stdin", "filter"]).input(input);
    let output = call.deadline(LONG).succeed()?;
    // Not filtered for emptiness: the three fields of a record stand in fixed places.
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let is_named = |value: &[u8]| ![&b"unspecified"[..], b"unset", b"set"].contains(&value);
    Ok(fields.chunks_exact(3).filter(|record| is_named(record[2])).map(|record| record[0].to_vec()).collect())
}

/// Every path in the view's index.
pub(super) fn tracked(view: &View<'_>) -> Result<BTreeSet<Vec<u8>>, GitError> {
    let output = view.call().words(&["ls-files", "-z"]).deadline(LONG).succeed()?;
    Ok(zero_separated(&output).map(<[u8]>::to_vec).collect())
}

/// Untracked files that are not ignored; a trailing slash marks a repository of its own.
pub(super) fn untracked(view: &View<'_>) -> Result<Vec<Vec<u8>>, GitError> {
    let call = view.call().words(&["ls-files", "-z", "--others", "--exclude-standard"]);
    Ok(zero_separated(&call.deadline(LONG).succeed()?).map(<[u8]>::to_vec).collect())
}

fn differences(view: &View<'_>, files: Files) -> Result<Differences, GitError> {
    let mut found = Differences::default();
    let mut candidates = BTreeSet::new();
    for path in dirty(view)? {
        let is_there = view.repository().top_level().join(path_of(&path.bytes)).symlink_metadata().is_ok();
        match path.is_removed || !is_there {
            true => found.removed.insert(path.bytes),
            false => candidates.insert(path.bytes),
        };
    }
    if files == Files::WithUntracked {
        let (nested, plain): (Vec<_>, Vec<_>) = untracked(view)?.into_iter().partition(|path| path.ends_with(b"/"));
        found.nested = nested;
        candidates.extend(plain);
    }
    let filtered = under_filter(view, candidates.iter())?;
    found.plain = candidates.difference(&filtered).cloned().collect();
    sort_out_filtered(view, filtered, &mut found)?;
    Ok(found)
}

struct Dirty {
    bytes: Vec<u8>,
    is_removed: bool,
}

/// Tracked files that differ from the index by size, time or content. Submodules count by their HEAD; nothing runs in them.
fn dirty(view: &View<'_>) -> Result<Vec<Dirty>, GitError> {
    const WORDS: &[&str] = &["diff-files", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty"];
    let output = view.call().words(WORDS).deadline(LONG).succeed()?;
    let parts: Vec<&[u8]> = zero_separated(&output).collect();
    let is_ours = |path: &[u8]| path.strip_prefix(STATE_DIR.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"));
    let pairs = parts.chunks_exact(2).filter(|pair| !is_ours(pair[1]));
    Ok(pairs.map(|pair| Dirty { bytes: pair[1].to_vec(), is_removed: pair[0].ends_with(b" D") }).collect())
}

/// Links under a filter are plain: filters see regular files only. Of the rest those are left alone that look unchanged by size and
/// time, because their entry holds what the filter made of them.
fn sort_out_filtered(view: &View<'_>, filtered: BTreeSet<Vec<u8>>, found: &mut Differences) -> Result<(), GitError> {
    if filtered.is_empty() {
        return Ok(());
    }
    let tracked = tracked(view)?;
    let changed: BTreeSet<_> = view.trusting_times(|| dirty(view))?.into_iter().map(|path| path.bytes).collect();
    for path in filtered {
        let full = view.repository().top_level().join(path_of(&path));
        if !full.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            found.plain.insert(path);
        } else if changed.contains(&path) || !tracked.contains(&path) {
            found.raw.insert(path);
        }
    }
    Ok(())
}

fn remove(view: &View<'_>, paths: &BTreeSet<Vec<u8>>) -> Result<(), GitError> {
    let zeros = view.repository().format().zeros();
    let records = paths.iter().flat_map(|path| [format!("0 {zeros}\t").as_bytes(), path, b"\0"].concat());
    put(view, records.collect())
}

fn add_plain(view: &View<'_>, paths: &BTreeSet<Vec<u8>>) -> Result<(), GitError> {
    if paths.is_empty() {
        return Ok(());
    }
    const WORDS: &[&str] =
        &["update-index", "--add", "--remove", "--replace", "--ignore-skip-worktree-entries", "-z", "--stdin"];
    let call = view.call().words(WORDS).input(zero_terminated(paths.iter()));
    call.deadline(LONG).succeed().map(drop)
}

fn add_raw(view: &View<'_>, paths: &BTreeSet<Vec<u8>>) -> Result<(), GitError> {
    if paths.is_empty() {
        return Ok(());
    }
    let input = paths.iter().flat_map(|path| [quoted(path), b"\n".to_vec()].concat()).collect();
    let call = view.call().words(&["hash-object", "-w", "--no-filters", "--stdin-paths"]).input(input);
    let text = call.deadline(LONG).line()?;
    let records = paths.iter().zip(text.lines()).flat_map(|(path, id)| {
        let mode = if is_executable(view, path) { "100755" } else { "100644" };
        [format!("{mode} {id} 0\t").as_bytes(), path, b"\0"].concat()
    });
    put(view, records.collect())
}

fn is_executable(view: &View<'_>, path: &[u8]) -> bool {
    let full = view.repository().top_level().join(path_of(path));
    view.has_file_mode() && full.symlink_metadata().is_ok_and(|meta| meta.permissions().mode() & 0o100 != 0)
}

fn put(view: &View<'_>, records: Vec<u8>) -> Result<(), GitError> {
    if records.is_empty() {
        return Ok(());
    }
    let call = view.call().words(&["update-index", "--add", "--replace", "-z", "--index-info"]).input(records);
    call.deadline(LONG).succeed().map(drop)
}

fn zero_terminated<'path>(paths: impl Iterator<Item = &'path Vec<u8>>) -> Vec<u8> {
    paths.flat_map(|path| path.iter().copied().chain([0])).collect()
}

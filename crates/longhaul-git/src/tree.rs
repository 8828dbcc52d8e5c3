//! The one answer to "which files are here": the tree that the files of a working tree would make now, built in a private index.
//!
//! Sessions, checks, `diff`, commits, snapshots and the sweep all ask [`survey`]. It starts from a tree (the commit HEAD is on, or the
//! one being checked), so neither stat data nor flags of the agent's index count; of that index only names are taken. Every file is
//! hashed. Line endings are converted as attributes say; filters never run (see `conversion`). Nothing real is written.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use longhaul_core::names::STATE_DIR;

use super::command::{Call, LONG, unreadable};
use super::conversion::{self, Settled, converted, is_filtered};
use super::error::GitError;
use super::references::TreeId;
use super::repository::Repository;
use super::rules::Rules;
use super::view::{Objects, View, path_of, quoted, zero_separated};

/// Which files count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Files<'tree> {
    /// Everything that is not ignored, starting from HEAD.
    All,
    /// Only the paths of this tree.
    Of(&'tree TreeId),
}

/// The files of a working tree at one moment.
#[derive(Debug)]
pub struct Survey {
    /// What git would store, without changes to files under a filter: only the filter could store those.
    pub tree: TreeId,
    /// As `tree`, with those changes as raw bytes: the exact content, for comparing.
    pub content: TreeId,
    /// Changed files under a filter, with the ids of their raw bytes.
    pub(super) filtered: BTreeMap<Vec<u8>, String>,
    /// Unchanged files under a filter whose raw bytes are not the stored ones.
    pub(super) smudged: Paths,
    /// Submodules whose files are not those of their commit.
    pub(super) submodules: Vec<Vec<u8>>,
    /// Repositories inside that are no submodules.
    pub(super) nested: Vec<Vec<u8>>,
    /// Paths of the starting tree that are different or gone.
    pub(super) changed: Paths,
    /// Files that are neither in the starting tree nor ignored.
    pub(super) untracked: Paths,
    /// Files that checks left behind and that are still what they were then. They count nowhere else.
    pub(super) left_by_checks: Paths,
}

/// Paths as git has them, relative to the top level.
pub(super) type Paths = BTreeSet<Vec<u8>>;
/// The entries of an index.
pub(super) type Entries = BTreeMap<Vec<u8>, Entry>;

/// One entry of an index.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) mode: String,
    pub(super) id: String,
}

const LINK_TO_REPOSITORY: &str = "160000";

impl Repository {
    /// The files as they are now. Nothing is stored.
    pub fn survey(&self) -> Result<Survey, GitError> {
        survey(&View::new(self, Objects::Private)?, Files::All)
    }
}

impl Survey {
    /// Why these files cannot all be part of one tree.
    pub fn problem(&self) -> Option<String> {
        let path = String::from_utf8_lossy(self.nested.first()?);
        Some(format!(
            "`{path}` is a separate git repository, so its files cannot be committed here: remove its `.git`, or ignore it"
        ))
    }

    /// Why a changed file was not committed.
    pub fn left_to_filter(&self) -> Option<String> {
        let path = String::from_utf8_lossy(self.filtered.keys().next()?);
        Some(format!("`{path}` uses a git filter, which Longhaul does not run"))
    }

    /// The exact content with every object stored where the view stores objects.
    pub(super) fn stored_content(&self, view: &View<'_>) -> Result<TreeId, GitError> {
        if !self.filtered.is_empty() {
            let input = self.filtered.keys().flat_map(|path| [quoted(path), b"\n".to_vec()].concat()).collect();
            let call = view.call().words(&["hash-object", "-w", "--no-filters", "--stdin-paths"]).input(input);
            call.deadline(LONG).succeed()?;
        }
        Ok(self.content.clone())
    }
}

/// Brings the view's index up to the files and writes its tree.
pub(super) fn survey(view: &View<'_>, files: Files<'_>) -> Result<Survey, GitError> {
    let start = match files {
        Files::All => view.repository.commit_and_tree_of("HEAD")?.map(|(_, tree)| tree),
        Files::Of(tree) => Some(tree.clone()),
    };
    survey_from(view, &Start::from(view, start)?, files)
}

/// What a survey begins with.
pub(super) struct Start {
    tree: Option<TreeId>,
    /// Whether all files are as in the tree, which is then the view's index.
    is_clean: bool,
    pub(super) agent_index: AgentIndex,
}

impl Start {
    /// Hashes every file of a tree.
    pub(super) fn from(view: &View<'_>, tree: Option<TreeId>) -> Result<Start, GitError> {
        let is_clean = tree.as_ref().map_or(Ok(true), |tree| start_from(view, tree))?;
        Ok(Start { tree, is_clean, agent_index: AgentIndex::read(view) })
    }
}

/// Brings the view's index up to the files, from where it was started.
pub(super) fn survey_from(view: &View<'_>, start: &Start, files: Files<'_>) -> Result<Survey, GitError> {
    let Start { tree: start, is_clean, agent_index } = start;
    let (entries, listed) = entries_and_untracked(view)?;
    let (mut changed, mut removed) = if *is_clean { Default::default() } else { dirty(view)? };
    let not_checked_out: BTreeSet<_> = removed.intersection(&view.rules.not_checked_out).cloned().collect();
    removed.retain(|path| !not_checked_out.contains(path));
    update(view, &["--skip-worktree"], &not_checked_out)?;
    let staged = agent_index.staged(view.repository, &entries);
    let Untracked { nested, files: untracked, left_by_checks } = untracked(view, listed, staged)?;
    let wanted = changed.iter().chain(untracked.iter().filter(|_| files == Files::All));
    let is_same = wanted.clone().next().is_none() && removed.is_empty();
    let filtered = conversion::under_filter(view.call(), wanted.clone())?;
    let plain: Paths = wanted.filter(|path| !is_filtered(view, &filtered, path)).cloned().collect();
    put(view, removed.iter().map(|path| (path.as_slice(), "0", view.repository.format.zeros())))?;
    update(view, &["--add", "--remove", "--replace"], &plain)?;
    let Settled { changed: filtered, smudged } = conversion::settle(view, &entries, filtered.difference(&plain))?;
    changed.retain(|path| plain.contains(path) || filtered.contains_key(path));
    changed.extend(removed);
    let tree = start.clone().filter(|_| is_same).map_or_else(|| write_tree(view), Ok)?;
    let submodules = changed_submodules(view, &entries, &plain)?;
    let content = if filtered.is_empty() { tree.clone() } else { with_raw(view, &entries, &filtered)? };
    Ok(Survey { tree, content, filtered, smudged, submodules, nested, changed, untracked, left_by_checks })
}

/// Hashes every file, and tells whether all are as in the tree, which is then the view's index.
fn start_from(view: &View<'_>, start: &TreeId) -> Result<bool, GitError> {
    view.call().words(&["read-tree"]).value(start.as_str())?.deadline(LONG).succeed()?;
    Ok(view.call().words(&["update-index", "--refresh"]).deadline(LONG).run()?.is_success())
}

/// Every entry of the view's index, and what is neither in it nor ignored.
fn entries_and_untracked(view: &View<'_>) -> Result<(Entries, Vec<Vec<u8>>), GitError> {
    const WORDS: &[&str] = &["ls-files", "-z", "-t", "--stage", "--cached", "--others", "--exclude-standard"];
    let output = view.call().words(WORDS).deadline(LONG).succeed()?;
    let (others, cached): (Vec<&[u8]>, Vec<&[u8]>) =
        zero_separated(&output).partition(|record| record.starts_with(b"? "));
    let entries = cached.into_iter().filter_map(|record| entry(record.get(2..)?)).collect();
    Ok((entries, others.into_iter().map(|record| record[2..].to_vec()).collect()))
}

/// Every entry of the view's index.
fn entries(view: &View<'_>) -> Result<Entries, GitError> {
    entries_in(view.call(), &[])
}

/// The entries that these patterns select, written in our own code.
pub(super) fn entries_in(call: Call, patterns: &[&str]) -> Result<Entries, GitError> {
    let output = call.words(&["ls-files", "-z", "--stage", "--"]).words(patterns).deadline(LONG).succeed()?;
    Ok(zero_separated(&output).filter_map(entry).collect())
}

/// One record of `git ls-files --stage`.
fn entry(record: &[u8]) -> Option<(Vec<u8>, Entry)> {
    let (facts, path) = record.split_at(record.iter().position(|byte| *byte == b'\t')?);
    let mut facts = std::str::from_utf8(facts).ok()?.split(' ');
    Some((path[1..].to_vec(), Entry { mode: facts.next()?.to_owned(), id: facts.next()?.to_owned() }))
}

/// Files that differ from the view's index, and those that are gone. Submodules count by their HEAD; nothing runs in them.
fn dirty(view: &View<'_>) -> Result<(Paths, Paths), GitError> {
    const WORDS: &[&str] = &["diff-files", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty"];
    let output = view.call().words(WORDS).deadline(LONG).succeed()?;
    let parts: Vec<&[u8]> = zero_separated(&output).collect();
    let pairs = parts.chunks_exact(2).filter(|pair| !is_ours(pair[1])).map(|pair| (pair[0], pair[1].to_vec()));
    let exists = |path: &[u8]| view.repository.top_level().join(path_of(path)).symlink_metadata().is_ok();
    let (removed, changed): (Vec<_>, Vec<_>) = pairs.partition(|(facts, path)| facts.ends_with(b" D") || !exists(path));
    let paths = |pairs: Vec<(&[u8], Vec<u8>)>| pairs.into_iter().map(|(_, path)| path).collect();
    Ok((paths(changed), paths(removed)))
}

fn is_ours(path: &[u8]) -> bool {
    path.strip_prefix(STATE_DIR.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"))
}

/// What is not in the view's index.
struct Untracked {
    /// Repositories that were not there before the agent came.
    nested: Vec<Vec<u8>>,
    /// Files that are not ignored, or that the agent staged.
    files: Paths,
    /// Files that checks left behind, as they were then. Whoever stages one makes it work.
    left_by_checks: Paths,
}

fn untracked(view: &View<'_>, listed: Vec<Vec<u8>>, staged: Paths) -> Result<Untracked, GitError> {
    let (mut nested, plain): (Vec<Vec<u8>>, Vec<Vec<u8>>) = listed.into_iter().partition(|path| path.ends_with(b"/"));
    let rules = &view.rules;
    nested.retain(|path| !rules.present_before.contains(path));
    let mut files: Paths = plain.into_iter().collect();
    let left: BTreeMap<&Vec<u8>, &String> = rules.left_by_checks.iter().map(|(path, id)| (path, id)).collect();
    let ids = ids_of(view, files.iter().filter(|path| left.contains_key(path) && !staged.contains(*path)))?;
    let is_same = |(path, id): (Vec<u8>, String)| (left.get(&path) == Some(&&id)).then_some(path);
    let left_by_checks: Paths = ids.into_iter().filter_map(is_same).collect();
    files.retain(|path| !left_by_checks.contains(path));
    files.extend(staged);
    Ok(Untracked { nested, files, left_by_checks })
}

/// What the agent's index lists. One that git cannot read lists nothing.
#[derive(Default)]
pub(super) struct AgentIndex {
    names: Vec<Vec<u8>>,
    /// Whether files have unresolved conflicts.
    pub(super) has_conflicts: bool,
}

impl AgentIndex {
    fn read(view: &View<'_>) -> AgentIndex {
        const WORDS: &[&str] = &["ls-files", "-z", "--stage"];
        let repository = view.repository;
        let index = repository.git_dir().join("index");
        // One that is the view's own, byte for byte, lists nothing besides.
        if !index.symlink_metadata().is_ok_and(|meta| meta.is_file()) || is_same_file(&index, &view.index()) {
            return AgentIndex::default();
        }
        let listed = view.call().variable("GIT_INDEX_FILE", &index).words(WORDS).deadline(LONG).succeed();
        // Of an index that is split, the other part is beside it, and only a call in its own git directory finds that.
        let listed = listed.or_else(|_| repository.call()?.words(WORDS).deadline(LONG).succeed()).unwrap_or_default();
        let records = zero_separated(&listed)
            .filter_map(|record| record.split_at_checked(record.iter().position(|byte| *byte == b'\t')?));
        let (facts, names): (Vec<&[u8]>, Vec<Vec<u8>>) =
            records.map(|(facts, name)| (facts, name[1..].to_vec())).unzip();
        AgentIndex { names, has_conflicts: facts.iter().any(|facts| !facts.ends_with(b" 0")) }
    }

    /// The names that are files, and not in ours.
    fn staged(&self, repository: &Repository, entries: &Entries) -> Paths {
        let is_file = |path: &[u8]| {
            let full = repository.top_level().join(path_of(path));
            full.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) && has_no_link_above(repository, path)
        };
        let is_new = |path: &&Vec<u8>| !entries.contains_key(*path) && !is_ours(path) && is_file(path);
        self.names.iter().filter(is_new).cloned().collect()
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let length = |path: &Path| path.metadata().ok().map(|meta| meta.len());
    length(one).is_some() && length(one) == length(other) && std::fs::read(one).ok() == std::fs::read(other).ok()
}

/// A file below a link is the file of the place the link leads to.
fn has_no_link_above(repository: &Repository, path: &[u8]) -> bool {
    let path = path_of(path);
    let above = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
    above.map(|parent| repository.top_level().join(parent)).all(|parent| !parent.is_symlink())
}

/// Ignored entries that were not there before the agent came; a directory counts once.
pub(super) fn ignored(view: &View<'_>) -> Result<Vec<Vec<u8>>, GitError> {
    let words = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
    let output = view.call().words(&words).deadline(LONG).succeed()?;
    let is_new = |path: &&[u8]| !is_ours(path) && !view.rules.present_before.contains(*path);
    Ok(zero_separated(&output).filter(is_new).map(<[u8]>::to_vec).collect())
}

/// Submodules with other files than their commit has. One that is not checked out has none.
fn changed_submodules(view: &View<'_>, before: &Entries, updated: &Paths) -> Result<Vec<Vec<u8>>, GitError> {
    let is_directory = |path: &Vec<u8>| view.repository.top_level().join(path_of(path)).is_dir();
    if before.values().all(|entry| entry.mode != LINK_TO_REPOSITORY) && !updated.iter().any(is_directory) {
        return Ok(Vec::new());
    }
    let links = entries(view)?.into_iter().filter(|(_, entry)| entry.mode == LINK_TO_REPOSITORY);
    Ok(links.filter(|(path, entry)| !is_as_committed(view, path, &entry.id)).map(|(path, _)| path).collect())
}

/// A submodule's configuration and index are as much the agent's as its files: only its commit and its own ignore rules count.
fn is_as_committed(view: &View<'_>, path: &[u8], commit: &str) -> bool {
    let path = view.repository.top_level().join(path_of(path));
    if std::fs::read_dir(&path).map_or(true, |mut entries| entries.next().is_none()) {
        return !path.is_file();
    }
    let is_same = || -> Result<bool, GitError> {
        let Some(inside) = view.repository.git.find(&path)?.filter(|inside| inside.top_level() == path) else {
            return Ok(false);
        };
        let wanted = inside.tree_of(commit)?;
        let inside = inside.with_rules(Rules::default());
        let view = View::new(&inside, Objects::Private)?;
        let found = survey(&view, Files::All)?;
        let is_plain = found.nested.is_empty() && found.submodules.is_empty();
        Ok(is_plain && found.content == wanted && converted(&view, &found)?.is_empty())
    };
    is_same().unwrap_or(false)
}

fn update(view: &View<'_>, options: &[&str], paths: &Paths) -> Result<(), GitError> {
    if paths.is_empty() {
        return Ok(());
    }
    let call = view.call().words(&["update-index"]).words(options).words(&["-z", "--stdin"]);
    call.input(zero_terminated(paths.iter())).deadline(LONG).succeed().map(drop)
}

/// Ids of files as they are, without any conversion.
pub(super) fn ids_of<'path>(
    view: &View<'_>,
    paths: impl Iterator<Item = &'path Vec<u8>>,
) -> Result<BTreeMap<Vec<u8>, String>, GitError> {
    let top_level = view.repository.top_level();
    let is_file = |path: &&Vec<u8>| top_level.join(path_of(path)).symlink_metadata().is_ok_and(|meta| meta.is_file());
    let paths: Vec<&Vec<u8>> = paths.filter(is_file).collect();
    if paths.is_empty() {
        return Ok(BTreeMap::new());
    }
    let input = paths.iter().flat_map(|path| [quoted(path), b"\n".to_vec()].concat()).collect();
    let text =
        view.call().words(&["hash-object", "--no-filters", "--stdin-paths"]).input(input).deadline(LONG).line()?;
    Ok(paths.into_iter().cloned().zip(text.lines().map(str::to_owned)).collect())
}

/// The tree with changed files under a filter as raw bytes. They are not stored: it is for comparing. The index is left without them.
fn with_raw(view: &View<'_>, entries: &Entries, filtered: &BTreeMap<Vec<u8>, String>) -> Result<TreeId, GitError> {
    put(view, filtered.iter().map(|(path, id)| (path.as_slice(), mode_of(view, path), id.as_str())))?;
    let tree = write_tree(view)?;
    let absent = ("0", view.repository.format.zeros());
    let before = |path| entries.get(path).map_or(absent, |entry| (entry.mode.as_str(), entry.id.as_str()));
    put(view, filtered.keys().map(|path| (path.as_slice(), before(path).0, before(path).1)))?;
    Ok(tree)
}

/// The mode of a regular file.
pub(super) fn mode_of(view: &View<'_>, path: &[u8]) -> &'static str {
    let full = view.repository.top_level().join(path_of(path));
    let is_executable = || full.symlink_metadata().is_ok_and(|meta| meta.permissions().mode() & 0o100 != 0);
    if view.rules.has_file_mode() && is_executable() { "100755" } else { "100644" }
}

/// Puts entries with path, mode and id into the view's index; mode 0 removes one.
pub(super) fn put<'entry>(
    view: &View<'_>,
    entries: impl Iterator<Item = (&'entry [u8], &'entry str, &'entry str)>,
) -> Result<(), GitError> {
    let records = entries.flat_map(|(path, mode, id)| [format!("{mode} {id}\t").as_bytes(), path, b"\0"].concat());
    let records: Vec<u8> = records.collect();
    if records.is_empty() {
        return Ok(());
    }
    let call = view.call().words(&["update-index", "--add", "--replace", "-z", "--index-info"]).input(records);
    call.deadline(LONG).succeed().map(drop)
}

fn write_tree(view: &View<'_>) -> Result<TreeId, GitError> {
    let text = view.call().words(&["write-tree", "--missing-ok"]).deadline(LONG).line()?;
    text.parse().map_err(|_| unreadable("git write-tree", &text))
}

pub(super) fn zero_terminated<'path>(paths: impl Iterator<Item = &'path Vec<u8>>) -> Vec<u8> {
    paths.flat_map(|path| path.iter().copied().chain([0])).collect()
}

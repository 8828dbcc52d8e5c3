//! Files whose bytes on disk are not those that git stores: filters such as Git LFS, line endings, `$Id$` and encodings.
//!
//! What git stores of a filtered file is made by a program, and none runs here: such a file is unchanged if its raw bytes are the stored
//! ones or those from before the agent came or, for LFS, if size and SHA-256 are those that the stored pointer names. Other conversions
//! are applied to a copy by git itself, under the rules of the workspace and the attributes in the tree. Called by `tree` and around
//! checks.

use std::collections::BTreeMap;
use std::fs::File;

use super::command::{Call, LONG};
use super::error::{GitError, io_failed};
use super::repository::Repository;
use super::tree::{Entries, Entry, Paths, Survey, entries_in, ids_of, mode_of, put, zero_terminated};
use super::view::{View, path_of, zero_separated};

/// A pointer is shorter by the specification of Git LFS.
const LONGEST_POINTER: u64 = 1024;

/// Of these paths, those for which attributes name a filter, by a call that sees the attributes.
pub(super) fn under_filter<'path>(call: Call, paths: impl Iterator<Item = &'path Vec<u8>>) -> Result<Paths, GitError> {
    let input = zero_terminated(paths);
    if input.is_empty() {
        return Ok(Paths::new());
    }
    let call = call.words(&["check-attr", "-z", "--stdin", "filter"]).input(input);
    let output = call.deadline(LONG).succeed()?;
    // Not filtered for emptiness: the three fields of a record are in fixed places.
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let is_named = |value: &[u8]| ![&b"unspecified"[..], b"unset", b"set"].contains(&value);
    Ok(fields.chunks_exact(3).filter(|record| is_named(record[2])).map(|record| record[0].to_vec()).collect())
}

/// Whether a filter would see this path: filters see regular files only.
pub(super) fn is_filtered(view: &View<'_>, under_filter: &Paths, path: &[u8]) -> bool {
    let full = || view.repository.top_level().join(path_of(path));
    under_filter.contains(path) && full().symlink_metadata().is_ok_and(|meta| meta.is_file())
}

/// Files under a filter that seemed to differ from their entry.
pub(super) struct Settled {
    /// Changed ones, with the ids of their raw bytes.
    pub(super) changed: BTreeMap<Vec<u8>, String>,
    /// Unchanged ones whose raw bytes are not the stored ones.
    pub(super) smudged: Paths,
}

/// Tells changed files from unchanged ones, which get their entry with the mode of now.
pub(super) fn settle<'path>(
    view: &View<'_>,
    entries: &Entries,
    paths: impl Iterator<Item = &'path Vec<u8>>,
) -> Result<Settled, GitError> {
    let raw = ids_of(view, paths)?;
    let pointers = pointers(view, raw.keys().filter_map(|path| entries.get(path)))?;
    let before = &view.rules.filtered_before;
    let is_same = |path: &Vec<u8>, raw: &String, entry: &&Entry| {
        let is_as_before = || before.iter().any(|(known, id)| known == path && id == raw);
        let is_pointed_at = || pointers.get(&entry.id).is_some_and(|pointer| pointer.is_of(view, path));
        entry.id == *raw || is_as_before() || is_pointed_at()
    };
    let (mut same, mut changed) = (Vec::new(), BTreeMap::new());
    for (path, raw) in raw {
        match entries.get(&path).filter(|entry| is_same(&path, &raw, entry)) {
            Some(entry) => same.push((path, raw, entry.id.as_str())),
            None => drop(changed.insert(path, raw)),
        }
    }
    put(view, same.iter().map(|(path, _, id)| (path.as_slice(), mode_of(view, path), *id)))?;
    let smudged = same.into_iter().filter(|(_, raw, id)| raw != id).map(|(path, ..)| path).collect();
    Ok(Settled { changed, smudged })
}

/// What a pointer of Git LFS names.
struct Pointer {
    size: u64,
    sha256: String,
}

impl Pointer {
    fn read(text: &str) -> Option<Pointer> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        value("version https://git-lfs.github.com/spec/")?;
        Some(Pointer { size: value("size ")?.parse().ok()?, sha256: value("oid sha256:")?.to_owned() })
    }

    fn is_of(&self, view: &View<'_>, path: &[u8]) -> bool {
        let path = view.repository.top_level().join(path_of(path));
        let has_size = path.symlink_metadata().is_ok_and(|meta| meta.len() == self.size);
        has_size
            && File::open(path)
                .and_then(longhaul_core::fingerprint::of_reader)
                .is_ok_and(|sha256| sha256 == self.sha256)
    }
}

/// The pointers among the stored files.
fn pointers<'entry>(
    view: &View<'_>,
    entries: impl Iterator<Item = &'entry Entry>,
) -> Result<BTreeMap<String, Pointer>, GitError> {
    let input: String = entries.map(|entry| format!("{}\n", entry.id)).collect();
    if input.is_empty() {
        return Ok(BTreeMap::new());
    }
    let sizes = view.call().words(&["cat-file", "--batch-check=%(objectname) %(objectsize)"]).input(input.into_bytes());
    let sizes = sizes.deadline(LONG).line()?;
    let sizes = sizes.lines().filter_map(|line| line.split_once(' '));
    let small = sizes.filter(|(_, size)| size.parse::<u64>().is_ok_and(|size| size < LONGEST_POINTER));
    let input: String = small.map(|(id, _)| format!("{id}\n")).collect();
    let output = view.call().words(&["cat-file", "--batch"]).input(input.into_bytes()).deadline(LONG).succeed()?;
    Ok(batch(&output).filter_map(|(id, text)| Some((id, Pointer::read(&text)?))).collect())
}

/// Splits what `git cat-file --batch` printed: a line with id, type and size, the content, and a newline.
fn batch(mut output: &[u8]) -> impl Iterator<Item = (String, String)> {
    std::iter::from_fn(move || {
        let (header, rest) = output.split_at_checked(output.iter().position(|byte| *byte == b'\n')?)?;
        let header = String::from_utf8_lossy(header).into_owned();
        let (id, size) = (header.split(' ').next()?, header.rsplit(' ').next()?.parse::<usize>().ok()?);
        let (content, rest) = rest[1..].split_at_checked(size)?;
        output = rest.get(1..)?;
        Some((id.to_owned(), String::from_utf8_lossy(content).into_owned()))
    })
}

/// How many files are checked out at once.
const AT_ONCE: usize = 4096;
const ALL: &str = ":(top)";
/// Everything but files for which nothing says how to convert them.
const CONVERTIBLE: &[&str] = &[ALL, ":(exclude,attr:!text !crlf !eol !ident !working-tree-encoding !filter)"];
/// What git converts on the way out, whatever the settings.
const OUTGOING: &[&[&str]] =
    &[&[":(attr:eol=crlf)", ":(attr:ident)"], &[ALL, ":(exclude,attr:!working-tree-encoding)"]];

impl Repository {
    /// The files of a survey that git would check out with different bytes.
    pub fn converted_files(&self, survey: &Survey) -> Result<Paths, GitError> {
        converted(&View::of_tree(self, &survey.tree)?, survey)
    }
}

/// The same in a view whose index holds the surveyed tree.
pub(super) fn converted(view: &View<'_>, survey: &Survey) -> Result<Paths, GitError> {
    let mut entries = convertible(view)?;
    entries.retain(|path, entry| entry.mode.starts_with("100") && !survey.filtered.contains_key(path));
    // A filter made their bytes. Only the tree itself can name one: attributes beside it are nowhere else.
    let smudged = under_filter(view.call_aside(), survey.smudged.iter())?;
    entries.retain(|path, _| !smudged.contains(path));
    if entries.is_empty() {
        return Ok(Paths::new());
    }
    let outgoing = outgoing(view)?;
    let mut raw = ids_of(view, entries.keys())?;
    let is_outgoing = |path: &Vec<u8>| outgoing.as_ref().is_none_or(|paths| paths.contains_key(path));
    raw.retain(|path, id| entries.get(path).is_some_and(|entry| entry.id != *id) || is_outgoing(path));
    let raw: Vec<_> = raw.into_iter().collect();
    let mut found = Paths::new();
    for some in raw.chunks(AT_ONCE) {
        found.extend(different(view, some)?);
    }
    Ok(found)
}

/// Files that may be converted when they are stored, by attributes of the working tree, or checked out, by those of the tree.
fn convertible(view: &View<'_>) -> Result<Entries, GitError> {
    if view.rules.converts_all() {
        return entries_in(view.call(), &[ALL]);
    }
    let mut entries = entries_in(view.call(), CONVERTIBLE)?;
    entries.extend(entries_in(view.call_aside(), CONVERTIBLE)?);
    Ok(entries)
}

/// Files that may be checked out with other bytes than the stored ones; none for all.
fn outgoing(view: &View<'_>) -> Result<Option<Entries>, GitError> {
    if view.rules.checks_out_crlf() {
        return Ok(None);
    }
    let mut entries = Entries::new();
    for patterns in OUTGOING {
        entries.extend(entries_in(view.call_aside(), patterns)?);
    }
    Ok(Some(entries))
}

/// Of these files, with the ids of their raw bytes, those that git checks out otherwise.
fn different(view: &View<'_>, files: &[(Vec<u8>, String)]) -> Result<Paths, GitError> {
    let aside = view.aside();
    let input = zero_terminated(files.iter().map(|(path, _)| path));
    let call = view.call_aside().words(&["checkout-index", "--temp", "-z", "--stdin"]).input(input);
    let output = call.deadline(LONG).succeed()?;
    // The name of a temporary file and its path, with a tab between them.
    let names =
        zero_separated(&output).filter_map(|record| record.split_at_checked(record.iter().position(|b| *b == b'\t')?));
    let names: BTreeMap<&[u8], &[u8]> = names.map(|(name, path)| (&path[1..], name)).collect();
    let ids = temporary_ids(view.call_aside(), &names)?;
    for name in names.values() {
        let name = aside.join(path_of(name));
        std::fs::remove_file(&name).map_err(io_failed("remove", &name))?;
    }
    let is_same = |path: &Vec<u8>, id: &String| ids.get(path.as_slice()) == Some(id);
    Ok(files.iter().filter(|(path, id)| !is_same(path, id)).map(|(path, _)| path.clone()).collect())
}

fn temporary_ids<'path>(
    call: Call,
    names: &BTreeMap<&'path [u8], &[u8]>,
) -> Result<BTreeMap<&'path [u8], String>, GitError> {
    let input = names.values().flat_map(|name| [name, &b"\n"[..]].concat()).collect();
    let text = call.words(&["hash-object", "--no-filters", "--stdin-paths"]).input(input).deadline(LONG).line()?;
    Ok(names.keys().copied().zip(text.lines().map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_split_by_its_sizes() {
        let output = b"aa blob 5\nx y\nz\nbb blob 0\n\n";
        let found: Vec<_> = batch(output).collect();
        assert_eq!(found, [("aa".into(), "x y\nz".into()), ("bb".into(), String::new())]);
    }

    #[test]
    fn only_a_pointer_is_read_as_one() {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n";
        assert!(Pointer::read(pointer).is_some_and(|pointer| (pointer.size, pointer.sha256.as_str()) == (12, "ab")));
        assert!(Pointer::read("oid sha256:ab\nsize 12\n").is_none());
    }
}

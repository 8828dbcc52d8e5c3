//! Files under a filter such as Git LFS: what git stores of them is made by a program, and none runs here.
//!
//! A file is unchanged if its raw bytes are the stored ones or those from before the agent came or, for LFS, if size and SHA-256 are
//! those that the stored pointer names.
//! Called by `tree` only.

use std::collections::BTreeMap;
use std::fs::File;

use super::command::{Call, LONG};
use super::error::GitError;
use super::tree::{Entries, Entry, Paths, ids_of, mode_of, put, zero_terminated};
use super::view::{View, path_of};

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
    // Not filtered for emptiness: the three fields of a record stand in fixed places.
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let is_named = |value: &[u8]| ![&b"unspecified"[..], b"unset", b"set"].contains(&value);
    Ok(fields.chunks_exact(3).filter(|record| is_named(record[2])).map(|record| record[0].to_vec()).collect())
}

/// Whether a filter would see this path: filters see regular files only.
pub(super) fn is_filtered(view: &View<'_>, under_filter: &Paths, path: &[u8]) -> bool {
    let full = || view.repository().top_level().join(path_of(path));
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
    let before = &view.rules().filtered_before;
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
        let path = view.repository().top_level().join(path_of(path));
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

//! Files whose bytes are not those that git checks out for them: it converts line endings, `$Id$` and encodings in both directions.
//!
//! Git takes such a file for unchanged, so the tree does not tell. Its conversions are applied to a copy by git itself, under the rules
//! of the workspace and the attributes in the tree; no filter runs. Only files that some attribute or setting can convert are looked at.
//! Called around checks, after a survey.

use std::collections::BTreeMap;

use super::command::{Call, LONG};
use super::error::{GitError, io_failed};
use super::filter::under_filter;
use super::repository::Repository;
use super::tree::{Entries, Paths, Survey, entries_in, ids_of, zero_terminated};
use super::view::{Objects, View, path_of, zero_separated};

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
        let view = View::new(self, Objects::Private)?;
        view.call().words(&["read-tree"]).value(survey.tree.as_str())?.deadline(LONG).succeed()?;
        converted(&view, survey)
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
    if view.rules().converts_all() {
        return entries_in(view.call(), &[ALL]);
    }
    let mut entries = entries_in(view.call(), CONVERTIBLE)?;
    entries.extend(entries_in(view.call_aside(), CONVERTIBLE)?);
    Ok(entries)
}

/// Files that may be checked out with other bytes than the stored ones; none for all.
fn outgoing(view: &View<'_>) -> Result<Option<Entries>, GitError> {
    if view.rules().checks_out_crlf() {
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

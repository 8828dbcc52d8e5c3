//! What in a working tree is not in its HEAD: staged, changed and untracked files.
//! Asked before a task starts in somebody's checkout and before a worktree is removed; it changes nothing.

use std::collections::BTreeSet;

use super::command::LONG;
use super::error::GitError;
use super::repository::Repository;
use super::tree::{Files, build};
use super::view::{Objects, View, zero_separated};

const MOST_NAMES: usize = 200;

/// Files whose content is in no commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncommitted {
    /// The first of them by name, for people to read.
    pub files: Vec<String>,
    /// How many there are.
    pub total: usize,
}

impl Uncommitted {
    /// Whether everything is committed.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

impl Repository {
    /// Tracked files that differ from HEAD, in the index or on disk, and untracked ones that are not ignored.
    pub fn uncommitted(&self) -> Result<Uncommitted, GitError> {
        let view = View::new(self, Objects::Private)?;
        let head = self.head_commit()?.map_or(self.format().empty_tree().to_owned(), String::from);
        let mut names = BTreeSet::new();
        let staged = ["diff-index", "--cached", "-z", "--name-only", "--no-renames", "--ignore-submodules=dirty"];
        names.extend(listed(&view, &staged, &[&head])?);
        let (tree, differences) = build(&view, Files::WithUntracked)?;
        let on_disk = ["diff-tree", "-r", "-z", "--name-only", "--no-renames"];
        names.extend(listed(&view, &on_disk, &[&head, tree.as_str()])?);
        names.extend(differences.nested);
        let shown = |name: &Vec<u8>| String::from_utf8_lossy(name).into_owned();
        Ok(Uncommitted { files: names.iter().take(MOST_NAMES).map(shown).collect(), total: names.len() })
    }
}

fn listed(view: &View<'_>, words: &[&str], trees: &[&str]) -> Result<Vec<Vec<u8>>, GitError> {
    let mut call = view.call().words(words);
    for tree in trees {
        call = call.value(tree)?;
    }
    Ok(zero_separated(&call.words(&["--"]).deadline(LONG).succeed()?).map(<[u8]>::to_vec).collect())
}

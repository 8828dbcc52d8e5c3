//! Ignored files by name: which of them patterns select, and which names would be ignored elsewhere.
//! Asked before files are copied into a new worktree or checkout. Patterns are written as in `.gitignore`; nothing is read but names.

use std::collections::BTreeSet;

use longhaul_core::names::STATE_DIR;
use longhaul_keeper::Environment;

use super::command::LONG;
use super::error::GitError;
use super::repository::Repository;
use super::rules::today;
use super::view::{Objects, View, zero_separated};

impl Repository {
    /// The ignored files that the patterns select, relative to the top level. The environment leads to the person's own ignore file.
    pub fn ignored_files(&self, patterns: &[String], environment: &Environment) -> Result<BTreeSet<String>, GitError> {
        let ruled = self.clone().with_rules(today(self, environment)?);
        let view = view_of_head(&ruled)?;
        let patterns: Vec<String> = patterns.iter().map(|pattern| format!("--exclude={pattern}")).collect();
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        let listing = view.call().words(&["ls-files", "-z", "--others", "--ignored"]).words(&patterns);
        let listed = listing.deadline(LONG).succeed()?;
        let names = zero_separated(&listed).filter_map(|name| std::str::from_utf8(name).ok());
        let ours = format!("{STATE_DIR}/");
        let files = names.filter(|name| !name.ends_with('/') && !name.starts_with(&ours)).map(str::to_owned);
        ignored_among(&view, &files.collect())
    }

    /// Which of these names git ignores here, whether or not there are such files.
    pub fn ignored_among(&self, names: &BTreeSet<String>) -> Result<BTreeSet<String>, GitError> {
        ignored_among(&view_of_head(self)?, names)
    }
}

fn view_of_head(repository: &Repository) -> Result<View<'_>, GitError> {
    match repository.commit_and_tree_of("HEAD")? {
        Some((_, tree)) => View::of_tree(repository, &tree),
        None => View::new(repository, Objects::Private),
    }
}

fn ignored_among(view: &View<'_>, names: &BTreeSet<String>) -> Result<BTreeSet<String>, GitError> {
    if names.is_empty() {
        return Ok(BTreeSet::new());
    }
    let input = names.iter().flat_map(|name| [name.as_bytes(), b"\0"].concat()).collect();
    let answer = view.call().words(&["check-ignore", "-z", "--stdin"]).input(input).deadline(LONG).run()?;
    // It exits with 1 if it ignores none of them.
    if !answer.is_success() && answer.status.code() != Some(1) {
        return Err(answer.refused());
    }
    let ignored: BTreeSet<&[u8]> = zero_separated(&answer.output).collect();
    Ok(names.iter().filter(|name| ignored.contains(name.as_bytes())).cloned().collect())
}

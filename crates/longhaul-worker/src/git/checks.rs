//! A round of checks, seen by git: what there is to doubt before the first check, and what the checks did to the files.
//! Called by the effects around checks. It judges nothing: that is done by the core.

use std::path::Path;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Doubt, FileEffects, NameList, Remarks};

use super::command::LONG;
use super::error::GitError;
use super::id::{CommitId, TreeId};
use super::repository::Repository;
use super::tree::{Files, Paths, Survey, ids_of, survey};
use super::view::{Objects, View, path_of, zero_separated};

/// What checks did to the files.
#[derive(Debug)]
pub(crate) struct AfterCheck {
    /// What has become of the checked tree; the same if no path of it changed.
    pub(crate) tree: TreeId,
    /// Which files they changed or left behind.
    pub(crate) files: FileEffects,
}

impl AfterCheck {
    fn new(survey: Survey) -> AfterCheck {
        let files = FileEffects {
            changed: listed(&survey.changed),
            left: listed(survey.untracked.iter().chain(&survey.nested)),
            filtered: listed(survey.filtered.keys()),
            submodules: listed(&survey.submodules),
        };
        AfterCheck { tree: survey.tree, files }
    }
}

impl Repository {
    /// Why checks that pass on these files verify nothing, if there is a reason.
    pub(crate) fn doubts(&self, survey: &Survey, base: Option<&CommitId>) -> Result<Vec<Doubt>, GitError> {
        let mut submodules = survey.submodules.clone();
        submodules.extend(base.map(|base| self.moved_submodules(base, &survey.tree)).transpose()?.unwrap_or_default());
        submodules.sort();
        submodules.dedup();
        let some = |doubt: fn(NameList) -> Doubt, names: NameList| (!names.is_empty()).then(|| doubt(names));
        let is_empty = survey.tree.as_str() == self.format().empty_tree();
        Ok([
            is_empty.then_some(Doubt::EmptyTree),
            some(Doubt::FilteredFiles, listed(survey.filtered.keys())),
            some(Doubt::Submodules, listed(&submodules)),
            some(Doubt::LeftByChecks, listed(&survey.left_by_checks)),
        ]
        .into_iter()
        .flatten()
        .collect())
    }

    /// What to say about these files besides.
    pub(crate) fn remarks(&self, survey: &Survey, base: Option<&CommitId>) -> Result<Remarks, GitError> {
        let before = match (&self.rules()?.tree_before, base) {
            (Some(tree), _) => Some(tree.as_str().to_owned()),
            (None, Some(base)) => Some(self.tree_of(base.as_str())?),
            (None, None) => None,
        };
        let same_as_base = before.as_deref() == Some(survey.tree.as_str());
        Ok(Remarks { ignored: listed(&survey.ignored), same_as_base, ..Remarks::default() })
    }

    /// Looks at what a check did to the tree it ran on, and remembers the files it left behind: none of them is work. A repository is
    /// not remembered: what is in it can change unnoticed, so it is a problem of the next round.
    pub(crate) fn after_check(&self, task: TaskId, tree: &TreeId) -> Result<AfterCheck, GitError> {
        let view = View::new(self, Objects::Private)?;
        let survey = survey(&view, Files::Of(tree))?;
        let remembered: Vec<(Vec<u8>, String)> = ids_of(&view, survey.untracked.iter())?.into_iter().collect();
        if !remembered.is_empty() {
            self.remember_left_by_checks(task, remembered)?;
        }
        Ok(AfterCheck::new(survey))
    }

    /// Removes what the checks of earlier rounds left behind, so that no check of a new round can rest on it.
    pub(crate) fn clear_left_by_checks(&self, task: TaskId) -> Result<(), GitError> {
        let removed = self.remove_left_by_checks()?;
        if removed.is_empty() { Ok(()) } else { self.forget_left_by_checks(task, &removed) }
    }

    /// Deletes what checks left behind, file by file, as long as each is what it was then. Answers which are gone.
    pub(super) fn remove_left_by_checks(&self) -> Result<Paths, GitError> {
        if self.rules()?.left_by_checks.is_empty() {
            return Ok(Paths::new());
        }
        let left = self.survey()?.left_by_checks;
        let remove = |path: &Vec<u8>| std::fs::remove_file(self.top_level().join(path_of(path))).is_ok();
        Ok(left.into_iter().filter(remove).collect())
    }

    /// The same for a check that ran in a clean checkout of this repository. What it left behind goes with the checkout.
    pub(crate) fn after_clean_check(&self, path: &Path, tree: &TreeId) -> Result<AfterCheck, GitError> {
        let checkout = self.open_checkout(path)?;
        let survey = survey(&View::new(&checkout, Objects::Private)?, Files::Of(tree))?;
        Ok(AfterCheck::new(survey))
    }

    fn moved_submodules(&self, base: &CommitId, tree: &TreeId) -> Result<Vec<Vec<u8>>, GitError> {
        let call = self.call()?.words(&["diff-tree", "-r", "-z", "--raw", "--no-renames"]);
        let output = call.value(base.as_str())?.value(tree.as_str())?.words(&["--"]).deadline(LONG).succeed()?;
        let parts: Vec<&[u8]> = zero_separated(&output).collect();
        let is_link = |facts: &[u8]| facts.starts_with(b":160000 ") || facts.get(8..14) == Some(b"160000");
        Ok(parts.chunks_exact(2).filter(|pair| is_link(pair[0])).map(|pair| pair[1].to_vec()).collect())
    }
}

fn listed<'name>(names: impl IntoIterator<Item = &'name Vec<u8>>) -> NameList {
    NameList::new(names.into_iter().map(|name| String::from_utf8_lossy(name).into_owned()))
}

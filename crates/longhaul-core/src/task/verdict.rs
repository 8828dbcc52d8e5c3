//! The result of a finished task: verified on a tree, checks passed but not verified, or no checks. Made by `decide` only.
//!
//! The `Display` of [`Verdict`] is the headline of every front end; none words a result itself. A [`Doubt`] keeps passed checks from
//! counting as verified. [`Remarks`] are facts that the headline adds and that change nothing.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::FollowUpResult;

/// What is known of a finished task's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every check passed on one tree.
    Verified {
        /// The git tree that was checked.
        tree: String,
        /// What a reader should know besides.
        #[serde(default, skip_serializing_if = "Remarks::is_empty")]
        remarks: Remarks,
    },
    /// Every check passed, but something keeps the result from being verified.
    NotVerified {
        /// The git tree that was checked, if git could name one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<String>,
        /// What keeps it; at least one.
        doubts: Vec<Doubt>,
        /// What a reader should know besides.
        #[serde(default, skip_serializing_if = "Remarks::is_empty")]
        remarks: Remarks,
    },
    /// There are no checks and no expected files.
    NoChecks,
    /// A follow-up did what it is for. This is never the result of a task that produced work.
    FollowedUp(FollowUpResult),
}

/// The results without their data: what lists show and the store keeps in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultKind {
    /// See [`Verdict::Verified`].
    Verified,
    /// See [`Verdict::NotVerified`].
    NotVerified,
    /// See [`Verdict::NoChecks`].
    NoChecks,
    /// See [`FollowUpResult::Landed`].
    Landed,
    /// See [`FollowUpResult::PullRequest`].
    PullRequest,
    /// See [`FollowUpResult::Discarded`].
    Discarded,
    /// See [`FollowUpResult::Restored`].
    Restored,
}

/// Why passed checks are not enough. The message is the cause, and in brackets what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// There is no git repository that could name the files that were checked.
    #[error("there is no git repository to name a tree (run the task in one)")]
    NoGit,
    /// The repository that the task began in is gone, or another one is in its place.
    #[error("the task's git repository is gone or was replaced (restore its `.git`, then retry)")]
    GitGone,
    /// The tree has no file.
    #[error("the tree has no files (check whether git ignores the results)")]
    EmptyTree,
    /// Files that go through a filter changed, and only the filter could say what git would store.
    #[error(
        "changed files use a git filter, which Longhaul does not run: {0} (commit them with the filter, then retry)"
    )]
    FilteredFiles(NameList),
    /// Files do not have the bytes that git checks out for them: it converts line endings, identifiers or encodings.
    #[error(
        "git checks out different bytes than the checks saw (line endings, `$Id$` or encoding): {0} (write the files as git checks \
         them out, or set verify.where = \"clean\")"
    )]
    ConvertedFiles(NameList),
    /// Submodules changed. Their files are not part of the tree.
    #[error("submodules changed, and their files are not part of the tree: {0} (check them in their own repository)")]
    Submodules(NameList),
    /// Expected files exist, but are not part of the tree.
    #[error(
        "expected files are not part of the tree: {0} (commit them, or set verify.where = \"clean\" and let a check build them)"
    )]
    ExpectedFiles(NameList),
    /// Files that an earlier round of checks left behind were there. They are not part of the tree.
    #[error(
        "files that earlier checks left behind were present and are not part of the tree: {0} (remove them, then retry)"
    )]
    LeftByChecks(NameList),
    /// A build tool took a check for done already and ran nothing.
    #[error(
        "`{check}` did nothing and printed \"{line}\" (force it, as with `make -B`, or set verify.where = \"clean\")"
    )]
    UpToDate {
        /// The check.
        check: String,
        /// What the tool printed.
        line: String,
    },
}

/// Facts beside the result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remarks {
    /// Ignored files and directories that were present when the checks ran; in place, only those that are new.
    #[serde(default, skip_serializing_if = "NameList::is_empty")]
    pub ignored: NameList,
    /// The tree is the one the task started from, although steps were ticked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_as_base: bool,
    /// Files that define a check and changed since the base.
    #[serde(default, skip_serializing_if = "NameList::is_empty")]
    pub check_files: NameList,
    /// Checks that were changed after the first session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check_edits: Vec<CheckEdit>,
}

/// A check that was added to a task, or removed from it, after its first session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckEdit {
    /// The command.
    pub check: String,
    /// What was done.
    pub change: CheckChange,
    /// Who did it.
    pub by: String,
}

/// What was done to a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckChange {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
}

/// Some names of many.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameList {
    /// The first few.
    pub first: Vec<String>,
    /// How many there are.
    pub total: usize,
}

impl Verdict {
    /// Which of the results it is.
    pub fn kind(&self) -> ResultKind {
        match self {
            Verdict::Verified { .. } => ResultKind::Verified,
            Verdict::NotVerified { .. } => ResultKind::NotVerified,
            Verdict::NoChecks => ResultKind::NoChecks,
            Verdict::FollowedUp(FollowUpResult::Landed { .. }) => ResultKind::Landed,
            Verdict::FollowedUp(FollowUpResult::PullRequest { .. }) => ResultKind::PullRequest,
            Verdict::FollowedUp(FollowUpResult::Discarded { .. }) => ResultKind::Discarded,
            Verdict::FollowedUp(FollowUpResult::Restored) => ResultKind::Restored,
        }
    }

    /// The result of checks that all passed.
    pub fn of_passed(tree: Option<String>, mut doubts: Vec<Doubt>, remarks: Remarks) -> Verdict {
        match tree {
            Some(tree) if doubts.is_empty() => Verdict::Verified { tree, remarks },
            Some(tree) => Verdict::NotVerified { tree: Some(tree), doubts, remarks },
            None => {
                if !doubts.contains(&Doubt::GitGone) {
                    doubts.insert(0, Doubt::NoGit);
                }
                Verdict::NotVerified { tree: None, doubts, remarks }
            }
        }
    }

    /// The tree that was checked.
    pub fn tree(&self) -> Option<&str> {
        match self {
            Verdict::Verified { tree, .. } => Some(tree),
            Verdict::NotVerified { tree, .. } => tree.as_deref(),
            Verdict::NoChecks | Verdict::FollowedUp(_) => None,
        }
    }

    /// What the headline adds.
    pub fn remarks(&self) -> Option<&Remarks> {
        match self {
            Verdict::Verified { remarks, .. } | Verdict::NotVerified { remarks, .. } => Some(remarks),
            Verdict::NoChecks | Verdict::FollowedUp(_) => None,
        }
    }

    /// Whether a task that was submitted with `--after` this one may start. A directory without git can never do better than
    /// "no git", so there that is enough.
    pub fn satisfies_after(&self) -> bool {
        match self {
            Verdict::Verified { .. } => true,
            Verdict::NotVerified { doubts, .. } => doubts.iter().all(|doubt| *doubt == Doubt::NoGit),
            Verdict::NoChecks | Verdict::FollowedUp(_) => false,
        }
    }
}

words! {
    ResultKind: Verified = "verified", NotVerified = "not_verified", NoChecks = "no_checks", Landed = "landed",
    PullRequest = "pull_request", Discarded = "discarded", Restored = "restored",
}

impl Remarks {
    /// Whether there is nothing to add.
    pub fn is_empty(&self) -> bool {
        *self == Remarks::default()
    }

    /// How many remarks the headline has.
    pub fn count(&self) -> usize {
        self.sentences().len()
    }

    /// Each remark in words.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if self.same_as_base {
            sentences.push("with no change since the task started".to_owned());
        }
        match self.ignored.total {
            0 => {}
            1 => sentences.push(format!("with 1 ignored entry present: {}", self.ignored)),
            total => sentences.push(format!("with {total} ignored entries present: {}", self.ignored)),
        }
        match self.check_files.total {
            0 => {}
            1 => sentences.push(format!("with 1 changed file that defines checks: {}", self.check_files)),
            total => sentences.push(format!("with {total} changed files that define checks: {}", self.check_files)),
        }
        if !self.check_edits.is_empty() {
            let edits: Vec<String> = self.check_edits.iter().map(ToString::to_string).collect();
            sentences.push(format!("with checks edited after the first session: {}", edits.join(", ")));
        }
        sentences
    }
}

impl NameList {
    /// How many names are kept.
    pub const KEPT: usize = 5;

    /// Keeps the first names and counts all.
    pub fn new(names: impl IntoIterator<Item = String>) -> NameList {
        let mut names = names.into_iter();
        let first: Vec<String> = names.by_ref().take(NameList::KEPT).collect();
        let total = first.len() + names.count();
        NameList { first, total }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

impl fmt::Display for ResultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ResultKind::Verified => "verified",
            ResultKind::NotVerified => "checks passed, not verified",
            ResultKind::NoChecks => "unverified: no checks",
            ResultKind::Landed => "landed",
            ResultKind::PullRequest => "pull request",
            ResultKind::Discarded => "discarded",
            ResultKind::Restored => "restored",
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        match self {
            Verdict::Verified { tree, remarks } => write!(f, "{kind} on tree {}{remarks}", short_tree(tree)),
            Verdict::NotVerified { doubts, remarks, .. } => {
                let doubts: Vec<String> = doubts.iter().map(ToString::to_string).collect();
                write!(f, "{kind}, because {}{remarks}", doubts.join("; and because "))
            }
            Verdict::NoChecks => write!(f, "{kind}"),
            Verdict::FollowedUp(result) => write!(f, "{result}"),
        }
    }
}

impl fmt::Display for Remarks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentences().iter().try_for_each(|sentence| write!(f, ", {sentence}"))
    }
}

impl fmt::Display for CheckEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = match self.change {
            CheckChange::Added => "added",
            CheckChange::Removed => "removed",
        };
        write!(f, "`{}` {change} by {}", self.check, self.by)
    }
}

impl fmt::Display for NameList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.first.join(", "))?;
        match self.total - self.first.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// As much of a tree's id as people read.
pub(super) fn short_tree(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Verdict {
        serde_json::from_str(json).expect("a stored verdict")
    }

    #[test]
    fn the_headline_says_which_of_three_results_it_is() {
        let remarks =
            || Remarks { ignored: NameList::new(["target/", "node_modules/"].map(String::from)), ..Remarks::default() };
        let tree = "2ab65dd9f5d0aaaaaaaaaaaaaaaaaaaaaaaaaaaa".to_owned();
        let verified = Verdict::of_passed(Some(tree.clone()), Vec::new(), remarks());
        assert_eq!(
            verified.to_string(),
            "verified on tree 2ab65dd9f5d0, with 2 ignored entries present: target/, node_modules/"
        );
        let doubted = Verdict::of_passed(Some(tree), vec![Doubt::EmptyTree], Remarks::default());
        assert!(doubted.to_string().starts_with("checks passed, not verified, because the tree has no files ("));
        assert_eq!(Verdict::NoChecks.to_string(), "unverified: no checks");
    }

    #[test]
    fn the_headline_names_what_was_done_to_the_checks() {
        let edit = |check: &str, change| CheckEdit { check: check.into(), change, by: "ann".into() };
        let remarks = Remarks {
            check_files: NameList::new(["Makefile".to_owned()]),
            check_edits: vec![edit("true", CheckChange::Added), edit("make test", CheckChange::Removed)],
            ..Remarks::default()
        };
        let doubt = Doubt::UpToDate { check: "make".into(), line: "make: 'all' is up to date.".into() };
        let verdict = Verdict::of_passed(Some("t".into()), Vec::new(), remarks);
        assert_eq!(verdict.remarks().map(Remarks::count), Some(2));
        assert_eq!(
            verdict.to_string(),
            "verified on tree t, with 1 changed file that defines checks: Makefile, with checks edited after the first session: \
             `true` added by ann, `make test` removed by ann"
        );
        assert_eq!(read(&serde_json::to_string(&verdict).expect("serialisable")), verdict);
        let doubted = Verdict::of_passed(Some("t".into()), vec![doubt], Remarks::default());
        assert!(doubted.to_string().contains("`make` did nothing and printed \"make: 'all' is up to date.\" ("));
    }

    #[test]
    fn every_result_survives_the_store() {
        let names = NameList::new((1..9).map(|n| n.to_string()));
        assert_eq!(names.to_string(), "1, 2, 3, 4, 5 and 3 more");
        let with_names: [fn(NameList) -> Doubt; 5] =
            [Doubt::FilteredFiles, Doubt::ConvertedFiles, Doubt::Submodules, Doubt::ExpectedFiles, Doubt::LeftByChecks];
        let doubts = with_names.map(|doubt| doubt(names.clone())).to_vec();
        let remarks = Remarks { same_as_base: true, ..Remarks::default() };
        for verdict in [
            Verdict::NoChecks,
            Verdict::of_passed(Some("t".into()), Vec::new(), Remarks::default()),
            Verdict::of_passed(Some("t".into()), doubts, remarks),
        ] {
            assert_eq!(read(&serde_json::to_string(&verdict).expect("serialisable")), verdict);
        }
    }

    #[test]
    fn without_git_the_result_is_enough_for_a_task_that_waits() {
        assert!(Verdict::of_passed(None, Vec::new(), Remarks::default()).satisfies_after());
        assert!(!Verdict::of_passed(Some("t".into()), vec![Doubt::EmptyTree], Remarks::default()).satisfies_after());
        let gone = Verdict::of_passed(None, vec![Doubt::GitGone], Remarks::default());
        assert!(!gone.satisfies_after() && !gone.to_string().contains("there is no git"), "{gone}");
        assert!(!Verdict::NoChecks.satisfies_after());
    }
}

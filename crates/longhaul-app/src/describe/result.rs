//! The result of a finished task: the same fields in every view that has one.
//! Used by `show` and the report. The words are those of the core.

use longhaul_core::task::{Doubt, NameList, Remarks, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use super::names::Names;

/// One of the three results.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResultFacts {
    /// `verified`, `not_verified` or `no_checks`.
    pub kind: &'static str,
    /// The sentence that people read.
    pub headline: String,
    /// The git tree that was checked; null without git.
    pub tree: Option<String>,
    /// What keeps passed checks from counting as verified.
    pub doubts: Vec<DoubtFacts>,
    /// Facts beside the result, in words.
    pub remarks: Vec<String>,
}

/// Why passed checks are not enough.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoubtFacts {
    /// A stable name of the doubt.
    pub kind: &'static str,
    /// The cause, and in brackets what to do about it.
    pub words: String,
    /// The files or submodules that it is about.
    pub names: Option<Names>,
}

impl ResultFacts {
    pub(crate) fn new(verdict: &Verdict) -> ResultFacts {
        let doubts: &[Doubt] = match verdict {
            Verdict::NotVerified { doubts, .. } => doubts,
            Verdict::Verified { .. } | Verdict::NoChecks | Verdict::FollowedUp(_) => &[],
        };
        ResultFacts {
            kind: verdict.kind().word(),
            headline: verdict.to_string(),
            tree: verdict.tree().map(str::to_owned),
            doubts: doubts.iter().map(DoubtFacts::new).collect(),
            remarks: verdict.remarks().map(Remarks::sentences).unwrap_or_default(),
        }
    }
}

impl DoubtFacts {
    fn new(doubt: &Doubt) -> DoubtFacts {
        let (kind, names): (_, Option<&NameList>) = match doubt {
            Doubt::NoGit => ("no_git", None),
            Doubt::GitGone => ("git_gone", None),
            Doubt::EmptyTree => ("empty_tree", None),
            Doubt::FilteredFiles(names) => ("filtered_files", Some(names)),
            Doubt::ConvertedFiles(names) => ("converted_files", Some(names)),
            Doubt::Submodules(names) => ("submodules", Some(names)),
            Doubt::ExpectedFiles(names) => ("expected_files", Some(names)),
            Doubt::LeftByChecks(names) => ("left_by_checks", Some(names)),
            Doubt::UpToDate { .. } => ("up_to_date", None),
        };
        DoubtFacts { kind, words: doubt.to_string(), names: names.map(Names::from) }
    }
}

//! The result of a finished task as programs read it: the same fields in every verb that prints JSON.
//! Used by `list`, `show` and the report. The words are those of the core.

use longhaul_core::task::{Doubt, Remarks, ResultKind, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

/// One of the three results.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResultFacts {
    #[schemars(with = "serde_json::Value")]
    pub kind: ResultKind,
    /// The sentence that people read.
    pub headline: String,
    /// The git tree that was checked; null where git named none.
    pub tree: Option<String>,
    /// What keeps passed checks from counting as verified.
    #[schemars(with = "serde_json::Value")]
    pub doubts: Vec<Doubt>,
    #[schemars(with = "serde_json::Value")]
    pub remarks: Remarks,
}

impl ResultFacts {
    pub fn new(verdict: &Verdict) -> ResultFacts {
        let doubts = match verdict {
            Verdict::NotVerified { doubts, .. } => doubts.clone(),
            Verdict::Verified { .. } | Verdict::NoChecks => Vec::new(),
        };
        ResultFacts {
            kind: verdict.kind(),
            headline: verdict.to_string(),
            tree: verdict.tree().map(str::to_owned),
            doubts,
            remarks: verdict.remarks().cloned().unwrap_or_default(),
        }
    }
}

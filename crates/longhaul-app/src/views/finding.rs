//! What one check of `doctor` found: a verdict, the facts, and what to do.
//! "Unknown" is a verdict too: what cannot be examined is never called well.

use schemars::JsonSchema;
use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All is well.
    Ok,
    /// It works, but should be looked at.
    Warning,
    /// Something does not work.
    Problem,
    /// It could not be examined.
    Unknown,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Warning => "warning",
            Verdict::Problem => "problem",
            Verdict::Unknown => "unknown",
        }
    }
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// What was examined.
    pub subject: &'static str,
    /// How bad it is.
    pub verdict: Verdict,
    /// The facts.
    pub facts: String,
    /// What to do about it.
    pub advice: Option<String>,
}

impl Finding {
    /// All is well.
    pub fn ok(subject: &'static str, facts: impl Into<String>) -> Finding {
        Finding { subject, verdict: Verdict::Ok, facts: facts.into(), advice: None }
    }

    pub(crate) fn unknown(subject: &'static str, facts: impl Into<String>) -> Finding {
        Finding { subject, verdict: Verdict::Unknown, facts: facts.into(), advice: None }
    }

    pub(crate) fn warning(subject: &'static str, facts: impl Into<String>, advice: impl Into<String>) -> Finding {
        Finding { subject, verdict: Verdict::Warning, facts: facts.into(), advice: Some(advice.into()) }
    }

    pub(crate) fn problem(subject: &'static str, facts: impl Into<String>, advice: impl Into<String>) -> Finding {
        Finding { subject, verdict: Verdict::Problem, facts: facts.into(), advice: Some(advice.into()) }
    }

    /// As people read it.
    pub fn lines(&self) -> Vec<String> {
        let first = format!("{:8} {:12} {}", self.verdict.name(), self.subject, self.facts);
        std::iter::once(first).chain(self.advice.iter().map(|advice| format!("{:21} to do: {advice}", ""))).collect()
    }
}

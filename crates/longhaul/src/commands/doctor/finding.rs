//! What one check of `doctor` found: a verdict, the facts, and what to do. Made by the checks, shown as lines or JSON.
//! "Unknown" is a verdict of its own: what cannot be told is never called well.

use serde_json::{Value, json};

/// How it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Ok,
    Warning,
    Problem,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// What was looked at.
    pub(super) subject: &'static str,
    pub(super) verdict: Verdict,
    /// The facts.
    pub(super) facts: String,
    /// What to do about it.
    pub(super) advice: Option<String>,
}

impl Finding {
    pub(super) fn ok(subject: &'static str, facts: impl Into<String>) -> Finding {
        Finding { subject, verdict: Verdict::Ok, facts: facts.into(), advice: None }
    }

    pub(super) fn unknown(subject: &'static str, facts: impl Into<String>) -> Finding {
        Finding { subject, verdict: Verdict::Unknown, facts: facts.into(), advice: None }
    }

    pub(super) fn warning(subject: &'static str, facts: impl Into<String>, advice: impl Into<String>) -> Finding {
        Finding { subject, verdict: Verdict::Warning, facts: facts.into(), advice: Some(advice.into()) }
    }

    pub(super) fn problem(subject: &'static str, facts: impl Into<String>, advice: impl Into<String>) -> Finding {
        Finding { subject, verdict: Verdict::Problem, facts: facts.into(), advice: Some(advice.into()) }
    }

    /// As people read it.
    pub(super) fn lines(&self) -> Vec<String> {
        let first = format!("{:8} {:12} {}", self.verdict.name(), self.subject, self.facts);
        std::iter::once(first).chain(self.advice.iter().map(|advice| format!("{:21} to do: {advice}", ""))).collect()
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "subject": self.subject,
            "verdict": self.verdict.name(),
            "facts": self.facts,
            "advice": self.advice,
        })
    }
}

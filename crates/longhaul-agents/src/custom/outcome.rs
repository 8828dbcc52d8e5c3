//! Decides the outcome of a declared agent's session: success with exit code 0 and `done` (if declared), else the class of its error.
//! A person declared the classes of errors by the words they contain; they hold for errors in the output and for the end of stderr. No
//! regular expressions; case is ignored.

use longhaul_core::task::{Exit, Failure, Outcome};
use serde::Deserialize;

use super::Memory;
use crate::declared::{Definition, shown};
use crate::outcome::Class;
use crate::reading::{Reader, TurnEnd};
use crate::text::{last_line, reason};

/// The classes an error can have, as they are written.
pub(crate) const CLASSES: [(&str, Class); 9] = [
    ("retryable", Failure::Retryable),
    ("limited", |_| Failure::Limited(None)),
    ("exhausted", Failure::Exhausted),
    ("auth", Failure::Auth),
    ("configuration", Failure::Configuration),
    ("permission", Failure::Permission),
    ("context_full", |_| Failure::ContextFull),
    ("bad_conversation", |_| Failure::BadConversation),
    ("crashed", |_| Failure::Crashed),
];

/// Words that give an error its class.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Written")]
pub(crate) struct Rule {
    contains: String,
    class: Class,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    contains: String,
    class: String,
}

impl TryFrom<Written> for Rule {
    type Error = String;

    fn try_from(Written { contains, class }: Written) -> Result<Rule, String> {
        if contains.trim().is_empty() {
            return Err("a rule without words would match every error".to_owned());
        }
        let known = CLASSES.iter().find(|(word, _)| *word == class);
        let (_, class) = known.ok_or_else(|| format!("`{}` is not a class", shown(&class)))?;
        Ok(Rule { contains: contains.to_lowercase(), class: *class })
    }
}

/// The class of an error: of the first rule that matches, else retryable.
pub(super) fn class_of(rules: &[Rule], message: &str) -> Failure {
    fitting(rules, message).unwrap_or_else(|| Failure::Retryable(reason(message)))
}

/// The class of the first rule that matches, with the matching line.
fn fitting(rules: &[Rule], text: &str) -> Option<Failure> {
    let lower = text.to_lowercase();
    let rule = rules.iter().find(|rule| lower.contains(&rule.contains))?;
    let line = text.lines().find(|line| line.to_lowercase().contains(&rule.contains)).unwrap_or(text);
    Some((rule.class)(reason(line)))
}

/// Called once, after the session's process was waited for.
pub(super) fn outcome(definition: &Definition, reader: &Reader, exit: &Exit, stderr_tail: &str) -> Outcome {
    let waits_for_done = !definition.done.is_empty();
    match (&reader.verdict, exit) {
        (Some(Outcome::Completed), exit) if *exit == Exit::Code(0) || was_stopped(reader, exit) => Outcome::Completed,
        // The agent continued after the error and ended well.
        (Some(Outcome::Failed(_)), Exit::Code(0)) if !waits_for_done && !reader.recall::<Memory>().troubled => {
            Outcome::Completed
        }
        (Some(Outcome::Failed(failure)), _) => Outcome::Failed(failure.clone()),
        (None, Exit::Code(0)) if !waits_for_done => Outcome::Completed,
        (Some(Outcome::Completed) | None, exit) => {
            Outcome::Failed(without_verdict(definition, reader, exit, stderr_tail))
        }
    }
}

/// Its turn was over but processes were left, so it was stopped; the exit shows that.
fn was_stopped(reader: &Reader, exit: &Exit) -> bool {
    reader.over == Some(TurnEnd::Done) && matches!(exit, Exit::Signal(_) | Exit::Code(129..))
}

fn without_verdict(definition: &Definition, reader: &Reader, exit: &Exit, stderr_tail: &str) -> Failure {
    let code = match exit {
        Exit::Code(code) => *code,
        Exit::Signal(_) | Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown => return Failure::Crashed,
    };
    let last_words = reader.recall::<Memory>().last_words.unwrap_or_default();
    let told = fitting(&definition.errors, stderr_tail).or_else(|| fitting(&definition.errors, &last_words));
    told.unwrap_or_else(|| match last_line(stderr_tail) {
        Some(line) if code != 0 => Failure::Retryable(format!("exit code {code}: {line}")),
        Some(_) | None => Failure::Crashed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(contains: &str, class: &str) -> Rule {
        Rule::try_from(Written { contains: contains.into(), class: class.into() }).unwrap()
    }

    #[test]
    fn the_first_rule_that_fits_counts_in_any_case() {
        let rules = [rule("Rate Limit", "limited"), rule("limit", "auth")];
        assert_eq!(class_of(&rules, "you hit the RATE LIMIT"), Failure::Limited(None));
        assert_eq!(class_of(&rules, "one\nno limit here\ntwo"), Failure::Auth("no limit here".into()));
        assert_eq!(class_of(&rules, "boom"), Failure::Retryable("boom".into()));
    }

    #[test]
    fn every_class_means_something_of_its_own() {
        let meant: Vec<Failure> = CLASSES.iter().map(|(class, _)| class_of(&[rule("x", class)], "x")).collect();
        for (at, failure) in meant.iter().enumerate() {
            assert!(!meant[..at].contains(failure), "{failure:?}");
        }
    }
}

//! Classes of errors by the words they contain, as a person declared them. No regular expressions; case is ignored.
//! Applied to errors in the output and to the end of stderr.

use longhaul_core::task::Failure;
use serde::Deserialize;

use crate::declared::shown;
use crate::text::reason;

type Class = fn(String) -> Failure;

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
pub(super) fn fitting(rules: &[Rule], text: &str) -> Option<Failure> {
    let lower = text.to_lowercase();
    let rule = rules.iter().find(|rule| lower.contains(&rule.contains))?;
    let line = text.lines().find(|line| line.to_lowercase().contains(&rule.contains)).unwrap_or(text);
    Some((rule.class)(reason(line)))
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

//! Classes of errors by their words, as a person declared them. No regular expressions: what is contained, in any case, counts.
//! Asked for errors in the output and for the last of the standard error.

use longhaul_core::task::Failure;

use crate::text::reason;

/// Words that give an error its class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    contains: String,
    class: &'static str,
}

impl Rule {
    pub(crate) fn new(contains: &str, class: &'static str) -> Rule {
        Rule { contains: contains.to_lowercase(), class }
    }
}

/// The class of an error: of the first rule that fits, else one that may pass.
pub(super) fn class_of(rules: &[Rule], message: &str) -> Failure {
    fitting(rules, message).unwrap_or_else(|| Failure::Retryable(reason(message)))
}

/// The class of the first rule that fits, with the line that it fits to.
pub(super) fn fitting(rules: &[Rule], text: &str) -> Option<Failure> {
    let lower = text.to_lowercase();
    let rule = rules.iter().find(|rule| lower.contains(&rule.contains))?;
    let line = text.lines().find(|line| line.to_lowercase().contains(&rule.contains)).unwrap_or(text);
    Some(match rule.class {
        "limited" => Failure::Limited(None),
        "exhausted" => Failure::Exhausted(reason(line)),
        "auth" => Failure::Auth(reason(line)),
        "configuration" => Failure::Configuration(reason(line)),
        "permission" => Failure::Permission(reason(line)),
        "context_full" => Failure::ContextFull,
        "bad_conversation" => Failure::BadConversation,
        "crashed" => Failure::Crashed,
        _ => Failure::Retryable(reason(line)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_counts_in_any_case() {
        let rules = [Rule::new("Rate Limit", "limited"), Rule::new("limit", "auth")];
        assert_eq!(class_of(&rules, "you hit the RATE LIMIT"), Failure::Limited(None));
        assert_eq!(class_of(&rules, "one\nno limit here\ntwo"), Failure::Auth("no limit here".into()));
        assert_eq!(class_of(&rules, "boom"), Failure::Retryable("boom".into()));
    }

    #[test]
    fn every_class_means_something_of_its_own() {
        let meant: Vec<Failure> =
            crate::declared::CLASSES.iter().map(|class| class_of(&[Rule::new("x", class)], "x")).collect();
        for (at, failure) in meant.iter().enumerate() {
            assert!(!meant[..at].contains(failure), "{failure:?}");
        }
    }
}

//! An error with everything below it in one line, for answers and events that outlive the error itself.
//! Used by every crate that stores or shows an error as text; a cause that repeats what was already said is left out.

use std::error::Error;

/// The error, then each of its causes.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::with_causes;

    #[derive(Debug, thiserror::Error)]
    #[error("{words}")]
    struct Told {
        words: &'static str,
        #[source]
        cause: Option<Box<Told>>,
    }

    fn told(words: &'static str, cause: Option<Told>) -> Told {
        Told { words, cause: cause.map(Box::new) }
    }

    #[test]
    fn every_cause_is_told_once() {
        let error = told("no plan", Some(told("the list cannot be read", Some(told("permission denied", None)))));
        assert_eq!(with_causes(&error), "no plan: the list cannot be read: permission denied");
        let repeated = told("no plan: permission denied", Some(told("permission denied", None)));
        assert_eq!(with_causes(&repeated), "no plan: permission denied");
    }
}

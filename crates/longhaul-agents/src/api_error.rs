//! What an error of a model's API means, by its HTTP status and by what the provider says.
//! Shared by the agents that pass both on.

use longhaul_core::task::Failure;
use longhaul_core::time::Time;

/// The class of an HTTP status. `until` is when a limit ends, if the answer told.
pub(crate) fn by_status(status: u16, until: Option<Time>, message: String) -> Failure {
    match status {
        401 | 403 => Failure::Auth(message),
        402 => Failure::Exhausted(message),
        429 => Failure::Limited(until),
        408 | 409 | 425 => Failure::Retryable(message),
        400..=499 => Failure::Configuration(message),
        _ => Failure::Retryable(message),
    }
}

/// Whether a provider says that the conversation is too long for the model.
pub(crate) fn says_context_full(text: &str) -> bool {
    const SAYINGS: [&str; 4] = [
        "context_length_exceeded",
        "maximum context length",
        "prompt is too long",
        "exceeds the maximum number of tokens allowed",
    ];
    SAYINGS.iter().any(|saying| text.contains(saying))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_class() {
        let class = |status| by_status(status, Some(Time(7)), "m".into());
        assert_eq!(class(401), Failure::Auth("m".into()));
        assert_eq!(class(403), Failure::Auth("m".into()));
        assert_eq!(class(402), Failure::Exhausted("m".into()));
        assert_eq!(class(429), Failure::Limited(Some(Time(7))));
        assert_eq!(class(408), Failure::Retryable("m".into()));
        assert_eq!(class(400), Failure::Configuration("m".into()));
        assert_eq!(class(404), Failure::Configuration("m".into()));
        assert_eq!(class(500), Failure::Retryable("m".into()));
        assert_eq!(class(529), Failure::Retryable("m".into()));
    }
}

//! An error with everything below it in one line, for answers and events that outlive the error itself.
//! Used by the hand-over and by effects; what a part says that the whole has said already is left out.

use std::error::Error;

/// The error, then each of its causes.
pub(crate) fn with_causes(error: &dyn Error) -> String {
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

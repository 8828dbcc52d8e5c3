//! Masks secrets before text reaches a disk, the store or a reader.
//!
//! The keeper pushes agent output through a `Redactor`; intake and error paths use `redact_text` and `redact_json`. A `Scanner`
//! holds what is undecided of one text and looks at its `view`, where escapes are decoded: `values` finds known secrets there,
//! `shapes` what looks like one. `records` gives every text that JSON records carry in pieces its own scanner.
//! Nothing here reads the environment or a file; the caller hands everything in.

mod encodings;
mod find;
mod records;
mod scan;
mod secrets;
mod shapes;
mod stream;
mod tag;
mod values;
mod view;
mod whole;

#[cfg(any(test, feature = "corpus"))]
pub mod corpus;
#[cfg(test)]
mod tests;

pub use secrets::{Secrets, is_secret_name};
pub use stream::Redactor;
pub use whole::{redact_json, redact_text};

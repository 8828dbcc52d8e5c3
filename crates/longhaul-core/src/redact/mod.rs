//! Masks secrets before text reaches a disk, the store or a reader.
//!
//! The keeper pushes agent output through a `Redactor`; intake and error paths use `redact_text` and `redact_json`. Three
//! stages follow each other: `stream` knows secrets it was told, in the encodings of `forms`; `shapes` knows what secrets
//! look like; `deltas` finds both where a stream of JSON records cuts a text into pieces.
//! Nothing here reads the environment or a file; the caller hands everything in.

mod deltas;
mod forms;
mod matcher;
mod pending;
mod secrets;
mod shapes;
mod stream;
mod tag;
mod values;
mod whole;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;

pub use secrets::{Secrets, is_secret_name};
pub use stream::Redactor;
pub use whole::{redact_json, redact_text};

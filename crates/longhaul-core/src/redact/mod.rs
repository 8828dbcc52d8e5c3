//! Masks secrets before text reaches a disk, the store or a reader.
//!
//! The keeper pushes agent output through a `Redactor`; intake and error paths use `redact_text` and `redact_json`. This is
//! the value layer: it knows only secrets it was told, in the encodings of `forms`. A second matcher (by shape) joins in
//! `stream`: it marks its own spans on the same pending text and the smaller of the two safe positions is flushed.
//! Nothing here reads the environment; the caller hands it in.

mod forms;
mod matcher;
mod pending;
mod secrets;
mod stream;
mod whole;

#[cfg(test)]
mod tests;

pub use secrets::Secrets;
pub use stream::Redactor;
pub use whole::{redact_json, redact_text};

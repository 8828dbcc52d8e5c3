//! Secrets that a stream of JSON records cuts into pieces: agents print a text as it is made, a few characters in each line.
//!
//! `join` follows the texts and holds lines back while a word is unfinished; `record` finds the piece in a line.

mod join;
mod record;

pub(super) use join::Deltas;

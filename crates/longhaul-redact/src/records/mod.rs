//! Texts that a stream of JSON records carries in pieces: agents print a text as it is made, a few characters in each line.
//!
//! `record` finds the piece in a line; `piece` keeps pieces until their text is decided; `join` takes them out of the stream,
//! gives every text a scanner, and puts the lines together again.

mod join;
mod piece;
mod record;

pub(super) use join::Records;

//! Secrets known by their shape, not by their value.
//!
//! `find` looks for the literals that shapes begin with and asks the rule of each: `token` for the formats of `table`, and one file
//! for each structure. All work on the view of a text. A rule answers that it has decided or that more text may change its
//! answer; the second is what a stream holds back.

mod assignment;
pub(super) mod charset;
mod curl;
mod find;
mod header;
mod infix;
mod jwt;
mod kubernetes;
mod literals;
mod private_key;
mod run;
mod table;
mod text;
mod token;
mod url;
mod value;
mod words;

pub(super) use find::find;
pub(super) use text::Text;

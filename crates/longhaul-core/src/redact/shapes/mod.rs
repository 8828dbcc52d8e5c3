//! The second layer: secrets known by their shape, not by their value.
//!
//! `scan` pushes a stream through; `find` looks for the literals that shapes begin with and asks the rule of each: `token` for
//! the formats of `table`, and one file for each structure. All work on the visible text of `visible`. A rule answers that it
//! has decided or that more text may change its mind; the second is what a stream holds back.

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
mod scan;
mod table;
mod text;
mod token;
mod url;
mod value;
mod visible;

pub(super) use find::{Mask, find};
pub(super) use scan::ShapeScan;
pub(super) use text::More;

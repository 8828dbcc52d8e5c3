//! A session's output on disk: two streams in segments, an index of when each piece arrived, and the one reader of both.
//!
//! The pump writes through `writer`, which redacts (`filter`) and survives a full disk (`reserve`). Workers and the command line read
//! through `reader` or, by lines, through `lines`. Nothing here knows what the output means.

pub(crate) mod filter;
pub(crate) mod index;
pub(crate) mod lines;
pub(crate) mod reader;
pub(crate) mod reserve;
pub(crate) mod segments;
pub(crate) mod writer;

pub use filter::{REDACT_KEY, read_redact_key};
pub use index::{EntryKind, INDEX_RECORD, IndexEntry, Stream, read_index};
pub use lines::{LINE_CAP, LogLine, LogLines, gap_note};
pub use reader::{LogReader, Piece, read_tail};

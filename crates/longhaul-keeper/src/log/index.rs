//! The index of a session's logs: when each piece of output came and where it is, and what is missing where.
//!
//! The keeper appends records, readers take them in order. A record has a fixed size, so a torn last one is seen as such.

use longhaul_core::task::Offset;
use longhaul_core::time::Time;

/// The size of one index record: time, offset, length, stream and kind, segment; little-endian.
pub const INDEX_RECORD: usize = 24;

/// The last segment number a record has room for.
pub(crate) const LAST_SEGMENT: u32 = (1 << 24) - 1;

const ERR: u8 = 1;
const GAP: u8 = 2;

/// Which of the two streams of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output, `out.log`.
    Out,
    /// Standard error, `err.log`.
    Err,
}

/// What a record of the index tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A piece of output that is in the log.
    Piece,
    /// A piece that is missing: dropped for the cap, never written, or removed by somebody.
    Gap,
}

/// One record of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexEntry {
    /// When it was written.
    pub time: Time,
    /// The segment of the log.
    pub segment: u32,
    /// Where it begins in that segment.
    pub offset: u64,
    /// How long it is.
    pub length: u32,
    /// Whose log.
    pub stream: Stream,
    /// There or missing.
    pub kind: EntryKind,
}

/// Reads an index; a torn last record, as a crash leaves it, is left out.
pub fn read_index(bytes: &[u8]) -> Vec<IndexEntry> {
    let (records, _torn) = bytes.as_chunks::<INDEX_RECORD>();
    records.iter().map(IndexEntry::from_bytes).collect()
}

impl IndexEntry {
    /// The place after its last byte.
    pub fn end(&self) -> Offset {
        Offset { segment: self.segment, byte: self.offset.saturating_add(self.length.into()) }
    }

    fn from_bytes(record: &[u8; INDEX_RECORD]) -> IndexEntry {
        let [t0, t1, t2, t3, t4, t5, t6, t7, o0, o1, o2, o3, o4, o5, o6, o7, l0, l1, l2, l3, flags, s0, s1, s2] =
            *record;
        IndexEntry {
            time: Time(i64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7])),
            segment: u32::from_le_bytes([s0, s1, s2, 0]),
            offset: u64::from_le_bytes([o0, o1, o2, o3, o4, o5, o6, o7]),
            length: u32::from_le_bytes([l0, l1, l2, l3]),
            stream: if flags & ERR == 0 { Stream::Out } else { Stream::Err },
            kind: if flags & GAP == 0 { EntryKind::Piece } else { EntryKind::Gap },
        }
    }

    /// The record as it is on disk.
    pub fn to_bytes(self) -> [u8; INDEX_RECORD] {
        let mut record = [0; INDEX_RECORD];
        record[..8].copy_from_slice(&self.time.0.to_le_bytes());
        record[8..16].copy_from_slice(&self.offset.to_le_bytes());
        record[16..20].copy_from_slice(&self.length.to_le_bytes());
        record[20] =
            if self.stream == Stream::Err { ERR } else { 0 } | if self.kind == EntryKind::Gap { GAP } else { 0 };
        record[21..].copy_from_slice(&self.segment.min(LAST_SEGMENT).to_le_bytes()[..3]);
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_reads_back_and_a_torn_record_is_left_out() {
        let first = IndexEntry {
            time: Time(-5),
            segment: 70_000,
            offset: 1 << 40,
            length: 7,
            stream: Stream::Err,
            kind: EntryKind::Gap,
        };
        let second = IndexEntry { segment: 0, length: u32::MAX, stream: Stream::Out, kind: EntryKind::Piece, ..first };
        let mut bytes = [first.to_bytes(), second.to_bytes()].concat();
        assert_eq!(read_index(&bytes), [first, second]);
        bytes.pop();
        assert_eq!(read_index(&bytes), [first]);
        assert_eq!(read_index(&[]), []);
    }
}

//! The hash chain over a task's events, so that a changed byte of the history is found.
//!
//! h(0) = SHA-256(task id); h(n) = SHA-256(h(n-1), then each field of event n behind its length as u64 little-endian): task id,
//! sequence number, time and epoch (each eight bytes little-endian), actor, kind and payload (text as stored). Every store
//! computes the same chain through [`link`]; nothing here reads or writes anything.

use std::fmt;

use longhaul_core::ids::TaskId;
use longhaul_core::time::Time;
use sha2::{Digest, Sha256};

/// The hash of a task's history up to some event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainHead([u8; 32]);

/// One event as the chain sees it: the texts exactly as they are stored.
#[derive(Debug, Clone, Copy)]
pub struct ChainEntry<'a> {
    /// Gap-free within the task, from 1.
    pub seq: u64,
    /// When.
    pub at: Time,
    /// The epoch it was committed under.
    pub epoch: u64,
    /// Who, as JSON text.
    pub actor: &'a str,
    /// The event's kind.
    pub kind: &'a str,
    /// The event, as JSON text.
    pub payload: &'a str,
}

impl ChainHead {
    /// The head of a task without events.
    pub fn empty(task: TaskId) -> ChainHead {
        ChainHead(Sha256::digest(task.to_string()).into())
    }

    /// Reads the stored spelling: 64 lower-case hexadecimal digits, nothing else.
    pub fn parse(text: &str) -> Option<ChainHead> {
        let mut bytes = [0; 32];
        if text.len() != 64 {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
        }
        Some(ChainHead(bytes))
    }
}

impl fmt::Display for ChainHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        // Spelled out in one piece: every commit writes two of them.
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
        f.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

/// The head after one more event.
pub fn link(previous: &ChainHead, task: TaskId, entry: &ChainEntry<'_>) -> ChainHead {
    let mut hasher = Sha256::new();
    hasher.update(previous.0);
    for field in [
        task.to_string().as_bytes(),
        &entry.seq.to_le_bytes(),
        &entry.at.0.to_le_bytes(),
        &entry.epoch.to_le_bytes(),
        entry.actor.as_bytes(),
        entry.kind.as_bytes(),
        entry.payload.as_bytes(),
    ] {
        add_prefixed(&mut hasher, field);
    }
    ChainHead(hasher.finalize().into())
}

/// The SHA-256 of a text in the stored spelling.
pub(crate) fn digest(text: &str) -> String {
    ChainHead(Sha256::digest(text).into()).to_string()
}

fn add_prefixed(hasher: &mut Sha256, field: &[u8]) {
    hasher.update((field.len() as u64).to_le_bytes());
    hasher.update(field);
}

fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: ChainEntry<'static> = ChainEntry {
        seq: 1,
        at: Time(1_700_000_000_000_000),
        epoch: 0,
        actor: r#"{"principal":"ann","scope":"person"}"#,
        kind: "wait_ended",
        payload: r#"{"kind":"wait_ended"}"#,
    };

    fn task() -> TaskId {
        "0190a0b0-c0d0-7000-8000-000000000001".parse().expect("a literal id")
    }

    #[test]
    fn the_chain_is_what_the_design_says_byte_by_byte() {
        let task_text = task().to_string();
        let mut bytes = Sha256::digest(&task_text).to_vec();
        let mut add = |field: &[u8]| {
            bytes.extend((field.len() as u64).to_le_bytes());
            bytes.extend(field);
        };
        add(task_text.as_bytes());
        add(&1_u64.to_le_bytes());
        add(&1_700_000_000_000_000_i64.to_le_bytes());
        add(&0_u64.to_le_bytes());
        add(ENTRY.actor.as_bytes());
        add(ENTRY.kind.as_bytes());
        add(ENTRY.payload.as_bytes());
        let expected = ChainHead(Sha256::digest(&bytes).into());
        assert_eq!(link(&ChainHead::empty(task()), task(), &ENTRY), expected);
    }

    #[test]
    fn every_field_counts() {
        let head = ChainHead::empty(task());
        let other_task: TaskId = "0190a0b0-c0d0-7000-8000-000000000002".parse().expect("a literal id");
        let all = [
            link(&head, task(), &ENTRY),
            link(&ChainHead::empty(other_task), task(), &ENTRY),
            link(&head, other_task, &ENTRY),
            link(&head, task(), &ChainEntry { seq: 2, ..ENTRY }),
            link(&head, task(), &ChainEntry { at: Time(1), ..ENTRY }),
            link(&head, task(), &ChainEntry { epoch: 1, ..ENTRY }),
            link(&head, task(), &ChainEntry { actor: "{}", ..ENTRY }),
            link(&head, task(), &ChainEntry { kind: "paused", ..ENTRY }),
            link(&head, task(), &ChainEntry { payload: "{}", ..ENTRY }),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(!all[..index].contains(one), "variant {index} has the hash of an earlier one");
        }
    }

    #[test]
    fn bytes_cannot_move_between_fields() {
        let head = ChainHead::empty(task());
        let left = link(&head, task(), &ChainEntry { kind: "ab", payload: "c", ..ENTRY });
        let right = link(&head, task(), &ChainEntry { kind: "a", payload: "bc", ..ENTRY });
        assert_ne!(left, right);
    }

    #[test]
    fn the_stored_spelling_is_exact() {
        let head = ChainHead::empty(task());
        assert_eq!(ChainHead::parse(&head.to_string()), Some(head));
        assert_eq!(ChainHead::parse(&head.to_string().to_uppercase()), None);
        assert_eq!(ChainHead::parse("00"), None);
    }
}

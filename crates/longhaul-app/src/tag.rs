//! Random tags as text: idempotency keys of commands and names of scratch directories.
//! Used by `act` and `demo`; ids of tasks are minted elsewhere.

use longhaul_core::fingerprint::hex;
use longhaul_keeper::random;

/// So many random bytes as lower-case hex.
pub fn tag<const BYTES: usize>() -> String {
    hex(&random::<BYTES>())
}

#[cfg(test)]
mod tests {
    use super::tag;

    #[test]
    fn two_tags_are_hex_of_their_length_and_differ() {
        let (one, other) = (tag::<16>(), tag::<16>());
        assert!(one.len() == 32 && one.bytes().all(|c| c.is_ascii_hexdigit()), "{one}");
        assert_ne!(one, other);
    }
}

//! One line of output as JSON, for every agent that prints JSONL. What is too large, too deep or no object is no event.
//! Key order, blanks and unknown fields never matter; a hostile line is never a panic.

use serde_json::Value;

/// A longer line is not parsed: no event of any agent comes near it, and the bytes are kept in the log anyway.
const LONGEST: usize = 1 << 20;

/// The object on this line, if it is one.
pub(crate) fn object(line: &[u8]) -> Option<Value> {
    if line.len() > LONGEST {
        return None;
    }
    serde_json::from_slice::<Value>(line).ok().filter(Value::is_object)
}

/// The text at this JSON pointer.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

/// The number at this JSON pointer; none when it is absent, negative or no whole number.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer)?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_of_a_sane_size_and_depth_are_events() {
        assert!(object(br#" {"b":1,"a":{}} "#).is_some());
        for line in [&b"[]"[..], b"1", b"", b"{", b"\xff{}", b"\xef\xbb\xbf{}", b"{}\0", b"noise"] {
            assert!(object(line).is_none(), "{line:?}");
        }
        assert!(object(format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)).as_bytes()).is_none());
        assert!(object(format!("{{\"a\":\"{}\"}}", "x".repeat(LONGEST)).as_bytes()).is_none());
    }
}

//! One line of output as JSON, for every agent that prints JSONL: its fields, the detail of a tool, an amount of money.
//! A line that is too large, too deep or not an object is not an event. Key order, blanks and unknown fields never matter, and no line
//! causes a panic.

use serde_json::Value;

use crate::text::one_line;

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

/// What a tool was used on, for people: the command, the path, the address. Empty when no known argument says it.
pub(crate) fn tool_detail(arguments: &Value) -> String {
    const TELLING: [&str; 10] = [
        "command",
        "filePath",
        "file_path",
        "notebook_path",
        "path",
        "pattern",
        "query",
        "url",
        "description",
        "prompt",
    ];
    let told = TELLING.iter().find_map(|name| arguments.get(name)?.as_str());
    one_line(told.unwrap_or_default(), 200)
}

/// The millionths of an amount in dollars; none for what is negative or beyond any bill.
pub(crate) fn dollars(amount: &Value) -> Option<u64> {
    let micros = (amount.as_f64()? * 1e6).round();
    (0.0..1e15).contains(&micros).then_some(micros as u64)
}

/// The same, and none for zero: a price of zero is one that is not configured, or not paid per token.
pub(crate) fn micros(price: &Value) -> Option<u64> {
    dollars(price).filter(|micros| *micros > 0)
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

    #[test]
    fn the_most_telling_argument_is_shown() {
        let arguments = serde_json::json!({"description": "sleep", "command": "sleep 25;\nls", "content": "x"});
        assert_eq!(tool_detail(&arguments), "sleep 25;");
        assert_eq!(tool_detail(&serde_json::json!({"content": "x", "path": 7})), "");
        assert_eq!(tool_detail(&Value::Null), "");
    }

    #[test]
    fn a_price_is_kept_to_the_millionth_and_zero_is_unknown() {
        let micros = |text: &str| micros(&serde_json::from_str(text).expect("JSON"));
        assert_eq!(micros("0.00348"), Some(3480));
        assert_eq!(micros("2.9999999999999997e-05"), Some(30));
        assert_eq!(micros("3"), Some(3_000_000));
        for unknown in ["0", "-1", "1e300", "null", "\"1\""] {
            assert_eq!(micros(unknown), None, "{unknown}");
        }
    }
}

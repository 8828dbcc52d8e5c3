//! Redaction of whole texts and JSON values: goals at intake, error texts, notices.
//!
//! The same rules as the stream, in one call. JSON keeps its shape: only strings, keys and telling numbers change.

use std::mem;

use serde_json::{Map, Value};

use super::Secrets;
use super::scan::{Part, Scanner, Until};

/// Masks the secrets in `text`; also says how many there were.
pub fn redact_text(secrets: &Secrets, text: &str) -> (String, usize) {
    let (mut scanner, mut masked) = (Scanner::default(), Vec::with_capacity(text.len()));
    scanner.extend(text.as_bytes());
    scanner.advance(secrets, Until::End, &mut |part| match part {
        Part::Plain(bytes) => masked.extend_from_slice(bytes),
        Part::Mask { replacement, .. } => masked.extend_from_slice(replacement.as_bytes()),
    });
    // Values and shapes are whole characters, so that the masked text is UTF-8 as the input was.
    (String::from_utf8_lossy(&masked).into_owned(), scanner.masks())
}

/// Masks the secrets in all strings, keys and numbers of `value`; says how many there were.
pub fn redact_json(secrets: &Secrets, value: &mut Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 0,
        Value::Number(number) => {
            let (masked, hits) = redact_text(secrets, &number.to_string());
            if hits > 0 {
                *value = Value::String(masked);
            }
            hits
        }
        Value::String(text) => {
            let (masked, hits) = redact_text(secrets, text);
            *text = masked;
            hits
        }
        Value::Array(items) => items.iter_mut().map(|item| redact_json(secrets, item)).sum(),
        Value::Object(fields) => redact_fields(secrets, fields),
    }
}

fn redact_fields(secrets: &Secrets, fields: &mut Map<String, Value>) -> usize {
    let mut hits = 0;
    for (name, mut value) in mem::take(fields) {
        let (masked, hits_in_name) = redact_text(secrets, &name);
        hits += hits_in_name + redact_json(secrets, &mut value);
        fields.insert(masked, value);
    }
    hits
}

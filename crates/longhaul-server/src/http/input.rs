//! The input of an operation from a request: fields of the path and the query, which are texts, and of the body, which is JSON.
//! The schema of the input says what a text stands for. A field has one value: a request that gives two is refused.

use axum::extract::RawPathParams;
use longhaul_app::{AppError, ErrorKind};
use serde_json::{Map, Value};

/// The input that a request means.
pub(super) fn input(schema: &Value, path: &RawPathParams, query: &str, body: &[u8]) -> Result<Value, AppError> {
    let mut fields = object(body)?;
    let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
    let path = path.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    for (name, text) in pairs.chain(path) {
        let kind = schema.pointer("/properties").and_then(|all| all.get(&name)).unwrap_or(&Value::Null);
        let value = typed(&name, kind, &text)?;
        match (fields.get_mut(&name), value) {
            (None, value) => drop(fields.insert(name, value)),
            (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
            (Some(_), _) => {
                let what = format!("`{name}` is given twice");
                return Err(
                    AppError::new(ErrorKind::Usage, what).hint("give it once: in the path, the query or the body")
                );
            }
        }
    }
    Ok(Value::Object(fields))
}

/// The fields of a body. No body has none.
fn object(body: &[u8]) -> Result<Map<String, Value>, AppError> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    match read_json(body)? {
        Value::Object(fields) => Ok(fields),
        _ => {
            let what = "the body is not a JSON object";
            Err(AppError::new(ErrorKind::Usage, what).hint("send the fields of the input in { }"))
        }
    }
}

/// A body as JSON. What is nested more than 127 levels deep is none.
pub(super) fn read_json(body: &[u8]) -> Result<Value, AppError> {
    serde_json::from_slice(body)
        .map_err(|error| AppError::new(ErrorKind::Usage, "the body is not JSON").because(&error))
}

/// A text as the type that the schema wants. An unknown field stays a text; the operation names it in a warning.
fn typed(name: &str, schema: &Value, text: &str) -> Result<Value, AppError> {
    let wanted = |what: &str| AppError::new(ErrorKind::Usage, format!("`{name}` must be {what}"));
    let is = |kind: &str| match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        one => one == kind,
    };
    if is("integer") {
        let number = text.parse::<u64>().map(Value::from).or_else(|_| text.parse::<i64>().map(Value::from));
        return number.map_err(|_| wanted("a whole number"));
    }
    if is("number") {
        let number = text.parse::<f64>().ok().and_then(serde_json::Number::from_f64);
        return number.map(Value::from).ok_or_else(|| wanted("a number"));
    }
    if is("boolean") {
        return text.parse::<bool>().map(Value::from).map_err(|_| wanted("true or false"));
    }
    if is("array") {
        return Ok(Value::Array(vec![typed(name, &schema["items"], text)?]));
    }
    if is("object") {
        return serde_json::from_str(text).map_err(|error| wanted("a JSON object").because(&error));
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_becomes_what_the_schema_wants() {
        let of =
            |kind: Value, text: &str| typed("f", &json!({ "type": kind, "items": { "type": "string" } }), text).ok();
        assert_eq!(of(json!(["integer", "null"]), "5"), Some(json!(5)));
        assert_eq!(of(json!("integer"), "-5"), Some(json!(-5)));
        assert_eq!(of(json!("integer"), "5.5"), None);
        assert_eq!(of(json!(["number", "null"]), "5"), Some(json!(5.0)));
        assert_eq!(of(json!("number"), "NaN"), None);
        assert_eq!(of(json!("boolean"), "true"), Some(json!(true)));
        assert_eq!(of(json!("boolean"), "yes"), None);
        assert_eq!(of(json!(["string", "null"]), "5"), Some(json!("5")));
        assert_eq!(of(json!("array"), "a"), Some(json!(["a"])));
        assert_eq!(typed("unknown", &Value::Null, "5").ok(), Some(json!("5")));
    }

    #[test]
    fn a_body_is_one_object_of_bounded_depth() {
        assert!(object(b"").unwrap().is_empty());
        for bad in ["{", "[]", "null", "\"x\"", &"[".repeat(10_000), &"{\"a\":".repeat(10_000)] {
            assert_eq!(object(bad.as_bytes()).unwrap_err().kind, ErrorKind::Usage, "{bad:.20}");
        }
    }
}

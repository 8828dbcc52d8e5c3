//! What a tool was used on, in one short line: the command, the path, the address.
//! For people only.

use serde_json::Value;

use crate::clip;

/// The argument a person would want to see; empty when none is known.
pub(crate) fn of(arguments: &Value) -> String {
    const TELLING: [&str; 9] =
        ["command", "filePath", "file_path", "path", "pattern", "query", "url", "description", "prompt"];
    let told = TELLING.iter().find_map(|name| arguments.get(name)?.as_str());
    clip::one_line(told.unwrap_or_default(), 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_telling_argument_is_shown() {
        let arguments = serde_json::json!({"description": "sleep", "command": "sleep 25;\nls", "content": "x"});
        assert_eq!(of(&arguments), "sleep 25;");
        assert_eq!(of(&serde_json::json!({"content": "x", "path": 7})), "");
        assert_eq!(of(&Value::Null), "");
    }
}

//! What agents print, made from the checkout's own sources: plain source text, and JSON lines with it inside.
//! Used by `pump` and `redactor`. Each text has secrets in it, so that a redactor that does nothing is noticed.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::scene::{Outcome, ensure};

/// The beginning of the text that replaces a secret.
pub(super) const MASK: &str = "[redacted:github-token";

/// Source lines in one record.
const LINES_A_RECORD: usize = 12;
/// Records between two secrets.
const RECORDS_A_SECRET: usize = 500;

/// A secret that only looks like one; whole in no file.
pub(super) fn secret() -> String {
    format!("{}_{}", "ghp", "0123456789abcdefghijklmnopqrstuvwxyz")
}

/// All Rust files of the checkout, one after the other, with a secret in the last line.
pub(super) fn source_text(checkout: &Path) -> Outcome<String> {
    let mut text = String::new();
    for path in files_below(&checkout.join("crates"), "rs")? {
        text += &fs::read_to_string(&path)?;
    }
    ensure(!text.is_empty(), || "the checkout has no source below `crates`".to_owned())?;
    text += &format!("let token = \"{}\";\n", secret());
    Ok(text)
}

/// The same as an agent reports its work: commands with their output, messages, and small events between them.
pub(super) fn json_lines(source: &str) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let mut text = String::new();
    for (number, part) in lines.chunks(LINES_A_RECORD).enumerate() {
        let body = part.join("\n");
        let body = if number % RECORDS_A_SECRET == 0 { format!("{body}\nTOKEN={}\n", secret()) } else { body };
        let id = format!("item_{number}");
        let item = match number % 3 {
            0 => json!({ "id": id, "type": "command_execution", "command": "sed -n 1,12p src/lib.rs",
                         "aggregated_output": body, "exit_code": 0, "status": "completed" }),
            1 => json!({ "id": id, "type": "agent_message", "text": body }),
            _ => json!({ "id": id, "type": "reasoning", "text": "**Reading the parser**" }),
        };
        text += &json!({ "type": "item.completed", "item": item }).to_string();
        text.push('\n');
    }
    text
}

/// The files with this ending below a directory, in the order of their paths. Symbolic links are not followed.
pub(super) fn files_below(directory: &Path, ending: &str) -> Outcome<Vec<PathBuf>> {
    let entries =
        fs::read_dir(directory).map_err(|error| format!("failed to list `{}`: {error}", directory.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            paths.extend(files_below(&path, ending)?);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == ending) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::{json_lines, secret};

    #[test]
    fn every_line_is_json_and_the_source_is_in_it() {
        let source = "fn main() {\n    println!(\"one\");\n}\n".repeat(20);
        let text = json_lines(&source);
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("a record is JSON")).collect();
        assert_eq!(lines.len(), 5);
        assert!(lines[1]["item"]["text"].as_str().is_some_and(|body| body.contains("println!(\"one\")")));
        assert!(text.contains(&secret()));
    }
}

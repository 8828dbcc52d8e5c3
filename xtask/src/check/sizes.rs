//! Rule: no file is longer than 600 lines without its `#[cfg(test)]` items, unless it is listed with a reason.
//! Called by `check`; a list entry that is no longer needed is a violation too, so the list only holds what is true.

use std::collections::BTreeMap;

use super::source::SourceFile;
use super::{SIZE_EXCEPTIONS, Violation};

const MOST_LINES: usize = 600;

/// Finds files that are too long, and entries of the list of exceptions that say nothing or are not needed.
pub(super) fn violations(files: &[SourceFile], exceptions: &str) -> Vec<Violation> {
    let (listed, mut found) = read_exceptions(exceptions);
    let too_long = || files.iter().filter(|file| file.lines_without_tests > MOST_LINES);
    found.extend(too_long().filter(|file| !listed.contains_key(file.path.as_str())).map(too_long_violation));
    let unneeded = listed.iter().filter(|(path, _)| !too_long().any(|file| file.path == **path));
    found.extend(unneeded.map(|(path, line)| Violation {
        rule: "sizes",
        place: format!("{SIZE_EXCEPTIONS}:{line}"),
        what: format!("`{path}` is not longer than {MOST_LINES} lines or does not exist"),
        remedy: "take the line out of the list".to_owned(),
    }));
    found
}

fn too_long_violation(file: &SourceFile) -> Violation {
    Violation {
        rule: "sizes",
        place: file.path.clone(),
        what: format!("{} lines without tests, more than {MOST_LINES}", file.lines_without_tests),
        remedy: format!(
            "split it by what the parts do; if it is one table, list it with a reason in `{SIZE_EXCEPTIONS}`"
        ),
    }
}

/// Reads `<path>: <reason>` lines into path and line number.
fn read_exceptions(exceptions: &str) -> (BTreeMap<&str, usize>, Vec<Violation>) {
    let mut listed = BTreeMap::new();
    let mut found = Vec::new();
    let entries = exceptions.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    for (number, line) in entries.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        match line.split_once(": ") {
            Some((path, reason)) if !reason.trim().is_empty() => {
                listed.insert(path, number);
            }
            _ => found.push(Violation {
                rule: "sizes",
                place: format!("{SIZE_EXCEPTIONS}:{number}"),
                what: format!("`{line}` has no reason"),
                remedy: "write `<path>: <reason>`".to_owned(),
            }),
        }
    }
    (listed, found)
}

#[cfg(test)]
mod tests {
    use super::super::source::sources;
    use super::{MOST_LINES, violations};

    const PATH: &str = "crates/a/src/b.rs";

    fn count(text: &str, exceptions: &str) -> usize {
        violations(&sources(vec![(PATH.to_owned(), text.to_owned())]), exceptions).len()
    }

    #[test]
    fn a_file_at_the_limit_passes_with_any_length_of_tests() {
        let shipped = "fn a() {}\n".repeat(MOST_LINES);
        assert_eq!(count(&shipped, ""), 0);
        let tests = "    fn b() {}\n".repeat(MOST_LINES);
        assert_eq!(count(&format!("{shipped}#[cfg(test)]\nmod tests {{\n{tests}}}\n"), ""), 0);
    }

    #[test]
    fn a_longer_file_is_found_unless_listed_with_a_reason() {
        let text = "fn a() {}\n".repeat(MOST_LINES + 1);
        assert_eq!(count(&text, "# a remark\n\n"), 1);
        assert_eq!(count(&text, "crates/a/src/b.rs: one table"), 0);
        assert_eq!(count(&text, "crates/a/src/b.rs"), 2);
    }

    #[test]
    fn an_entry_for_a_short_or_absent_file_is_found() {
        assert_eq!(count("fn a() {}\n", "crates/a/src/b.rs: one table"), 1);
        assert_eq!(count("fn a() {}\n", "crates/a/src/gone.rs: one table"), 1);
    }
}

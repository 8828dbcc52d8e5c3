//! Rule: no file is longer than 600 lines without its `#[cfg(test)]` items.
//! Called by `check`. It counts lines and knows nothing of what the parts of a file do.

use super::Violation;
use super::source::SourceFile;

const MOST_LINES: usize = 600;

/// Finds files that are too long.
pub(super) fn violations(files: &[SourceFile]) -> Vec<Violation> {
    files.iter().filter(|file| file.lines_without_tests > MOST_LINES).map(violation).collect()
}

fn violation(file: &SourceFile) -> Violation {
    Violation {
        rule: "sizes",
        place: file.path.clone(),
        what: format!("{} lines without tests, more than {MOST_LINES}", file.lines_without_tests),
        remedy: "split it by what the parts do; if it is one table, make its rows shorter".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::sources;
    use super::{MOST_LINES, violations};

    fn count(text: &str) -> usize {
        violations(&sources(vec![("crates/a/src/b.rs".to_owned(), text.to_owned())])).len()
    }

    #[test]
    fn a_file_at_the_limit_passes_with_any_length_of_tests() {
        let shipped = "fn a() {}\n".repeat(MOST_LINES);
        assert_eq!(count(&shipped), 0);
        let tests = "    fn b() {}\n".repeat(MOST_LINES);
        assert_eq!(count(&format!("{shipped}#[cfg(test)]\nmod tests {{\n{tests}}}\n")), 0);
    }

    #[test]
    fn a_longer_file_is_found() {
        assert_eq!(count(&"fn a() {}\n".repeat(MOST_LINES + 1)), 1);
    }
}

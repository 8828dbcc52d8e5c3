//! Rule: every source file opens with 2 to 8 lines that say what it is, who calls it and what it never does.
//! Called by `check`; it counts lines and can not tell whether they are true.

use super::Violation;
use super::source::SourceFile;

const FEWEST: usize = 2;
const MOST: usize = 8;

/// Finds files whose opening `//!` lines are missing, too few or too many.
pub(super) fn violations(files: &[SourceFile]) -> Vec<Violation> {
    files.iter().filter(|file| is_asked(&file.path)).filter_map(violation).collect()
}

/// Only what is compiled into a crate is asked; integration tests say by their name what they are.
fn is_asked(path: &str) -> bool {
    path.starts_with("xtask/src/") || path.split('/').nth(2) == Some("src")
}

fn violation(file: &SourceFile) -> Option<Violation> {
    let count = file.text.lines().take_while(|line| line.starts_with("//!")).count();
    if (FEWEST..=MOST).contains(&count) {
        return None;
    }
    Some(Violation {
        rule: "headers",
        place: format!("{}:1", file.path),
        what: format!("opens with {count} `//!` lines instead of {FEWEST} to {MOST}"),
        remedy: "say at the very top what the file is, who calls it and what it never does".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::source::sources;
    use super::violations;

    fn count(path: &str, text: &str) -> usize {
        violations(&sources(vec![(path.to_owned(), text.to_owned())])).len()
    }

    #[test]
    fn a_header_of_two_to_eight_lines_passes() {
        assert_eq!(count("crates/a/src/b.rs", "//! One.\n//! Two.\n\nfn a() {}\n"), 0);
        assert_eq!(count("crates/a/src/b.rs", &"//! Line.\n".repeat(8)), 0);
    }

    #[test]
    fn missing_short_long_and_late_headers_are_found() {
        assert_eq!(count("crates/a/src/b.rs", ""), 1);
        assert_eq!(count("crates/a/src/b.rs", "fn a() {}\n"), 1);
        assert_eq!(count("crates/a/src/b.rs", "//! One.\nfn a() {}\n"), 1);
        assert_eq!(count("crates/a/src/b.rs", "use a;\n//! One.\n//! Two.\n"), 1);
        assert_eq!(count("xtask/src/b.rs", &"//! Line.\n".repeat(9)), 1);
    }

    #[test]
    fn integration_tests_are_not_asked() {
        assert_eq!(count("crates/a/tests/b.rs", "fn a() {}\n"), 0);
    }
}

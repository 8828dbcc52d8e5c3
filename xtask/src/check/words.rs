//! Rule: no file or directory of sources has a name that says nothing about what is inside.
//! Called by `check`; it looks at paths only, test files included.

use super::Violation;
use super::source::SourceFile;

const EMPTY_WORDS: &[&str] =
    &["util", "utils", "helper", "helpers", "common", "manager", "managers", "imp", "impl", "misc"];

/// Finds files below or with an empty name.
pub(super) fn violations(files: &[SourceFile]) -> Vec<Violation> {
    files.iter().filter_map(|file| violation(&file.path)).collect()
}

fn violation(path: &str) -> Option<Violation> {
    let word = path.split('/').map(|part| part.trim_end_matches(".rs")).find(|part| EMPTY_WORDS.contains(part))?;
    Some(Violation {
        rule: "words",
        place: path.to_owned(),
        what: format!("`{word}` says nothing about what is inside"),
        remedy: "name the file after the one thing it holds or does; if it holds several, split it".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::violation;

    #[test]
    fn telling_names_pass() {
        for path in ["crates/a/src/claim.rs", "crates/a/src/common_ancestor.rs", "crates/a/src/task/mod.rs"] {
            assert_eq!(violation(path), None);
        }
    }

    #[test]
    fn empty_names_are_found_for_files_and_directories() {
        for path in ["crates/a/src/utils.rs", "crates/a/src/manager/mod.rs", "crates/a/tests/common/mod.rs"] {
            assert!(violation(path).is_some(), "{path}");
        }
    }
}

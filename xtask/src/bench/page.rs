//! Puts a table into `docs/benchmarks.md`, between its two marks.
//! Called by `plan` for `--write`; the rest of the page is written by people and stays as it is.

use std::fs;
use std::path::Path;

use super::scene::{BenchError, failed};

const PAGE: &str = "docs/benchmarks.md";
const BEGIN: &str = "<!-- written by `cargo xtask bench --write` -->\n";
const END: &str = "<!-- end of what `cargo xtask bench --write` writes -->\n";

/// Replaces what stands between the marks.
pub(super) fn write(root: &Path, result: &str) -> Result<(), BenchError> {
    let path = root.join(PAGE);
    let old = fs::read_to_string(&path).map_err(failed(&format!("read `{PAGE}`")))?;
    let new = with_result(&old, result)
        .ok_or_else(|| BenchError::Unexpected { what: "the page", found: format!("`{PAGE}` without its marks") })?;
    fs::write(&path, new).map_err(failed(&format!("write `{PAGE}`")))
}

fn with_result(page: &str, result: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{result}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, END, PAGE, with_result};

    #[test]
    fn only_what_stands_between_the_marks_changes() {
        let page = format!("# Head\n{BEGIN}old\n{END}tail\n");
        let new = with_result(&page, "new\n").expect("both marks are there");
        assert_eq!(new, format!("# Head\n{BEGIN}\nnew\n\n{END}tail\n"));
        assert_eq!(with_result(&new, "new\n"), Some(new), "the same again changes nothing");
    }

    #[test]
    fn a_page_without_both_marks_is_left_alone() {
        assert_eq!(with_result(&format!("{BEGIN}old"), "new"), None);
        assert_eq!(with_result(&format!("{END}old{BEGIN}"), "new"), None);
    }

    #[test]
    fn the_page_has_its_marks() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(PAGE);
        assert!(with_result(&std::fs::read_to_string(path).unwrap(), "").is_some());
    }
}

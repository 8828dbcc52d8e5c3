//! Tests of how files become sources: what counts as shipped, and what as test code.
//! Run by the test runner only.

use super::{SourceFile, read_all, sources};
use crate::repository::Repository;

fn shipped(files: &[(&str, &str)]) -> Vec<(String, bool)> {
    let texts = files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect();
    sources(texts)
        .iter()
        .map(|SourceFile { path, shipped_code, .. }| (path.clone(), shipped_code.contains("marker")))
        .collect()
}

fn is_shipped(files: &[(&str, &str)], path: &str) -> bool {
    shipped(files).into_iter().any(|(other, is_shipped)| other == path && is_shipped)
}

#[test]
fn plain_code_is_shipped() {
    assert!(is_shipped(&[("crates/a/src/lib.rs", "fn marker() {}")], "crates/a/src/lib.rs"));
}

#[test]
fn a_file_called_tests_is_shipped_unless_declared_for_tests() {
    let module = ("crates/a/src/b/tests.rs", "fn marker() {}");
    assert!(is_shipped(&[("crates/a/src/b.rs", "mod tests;"), module], module.0));
    assert!(!is_shipped(&[("crates/a/src/b.rs", "#[cfg(test)]\nmod tests;"), module], module.0));
}

#[test]
fn a_path_attribute_names_the_test_file() {
    let module = ("crates/a/src/other.rs", "fn marker() {}");
    let parent = ("crates/a/src/b.rs", "fn a() {}\n#[cfg(test)]\n#[path = \"other.rs\"]\nmod tests;\n");
    assert!(!is_shipped(&[parent, module], module.0));
}

#[test]
fn modules_of_a_test_module_are_test_code() {
    let module = ("crates/a/src/tests/deep.rs", "fn marker() {}");
    assert!(!is_shipped(&[("crates/a/src/lib.rs", "#[cfg(test)]\nmod tests;"), module], module.0));
}

#[test]
fn test_directories_of_a_crate_are_test_code_but_not_within_src() {
    assert!(!is_shipped(&[("crates/a/tests/b.rs", "fn marker() {}")], "crates/a/tests/b.rs"));
    assert!(is_shipped(&[("crates/a/src/tests/b.rs", "fn marker() {}")], "crates/a/src/tests/b.rs"));
}

#[test]
fn test_items_do_not_count_as_lines_and_lines_keep_their_numbers() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn marker() {}\n";
    let files = sources(vec![("crates/a/src/b.rs".to_owned(), text.to_owned())]);
    assert_eq!(files[0].lines_without_tests, 2);
    assert_eq!(files[0].shipped_code.lines().position(|line| line.contains("marker")), Some(5));
}

#[test]
fn the_checkout_itself_is_read() {
    let files = read_all(Repository::here().root()).expect("the checkout is readable");
    assert!(
        files.iter().any(|file| file.path == "xtask/src/check/source.rs" && file.shipped_code.contains("read_all"))
    );
    assert!(files.iter().any(|file| file.path == "xtask/src/check/source/tests.rs" && file.shipped_code.is_empty()));
}

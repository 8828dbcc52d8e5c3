//! The Rust files of the checkout as the rules see them: text, code, strings, and which of the code is test code. Also its pages.
//! Called by `check`; rules get a slice of `SourceFile` and read nothing themselves.
//! It never follows symbolic links and never looks into build output.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::{Range, RangeInclusive};
use std::path::Path;

use super::{mask, test_code};
use crate::repository::Outcome;

const TOP_DIRECTORIES: &[&str] = &["crates", "e2e", "xtask"];
const TEST_DIRECTORIES: &[&str] = &["tests", "benches"];

/// One Rust file.
pub(super) struct SourceFile {
    /// Path from the top of the checkout, with `/`.
    pub(super) path: String,
    /// The file as it is.
    pub(super) text: String,
    /// The file without comments and literals.
    pub(super) code: String,
    /// `code` without what exists only in test builds.
    pub(super) shipped_code: String,
    /// The string literals of shipped code as they are written, with their lines.
    pub(super) strings: Vec<(usize, String)>,
    /// How many lines are left without `#[cfg(test)]` items.
    pub(super) lines_without_tests: usize,
    /// The bytes of what exists only in test builds.
    tests: Vec<Range<usize>>,
}

/// One page of documentation.
pub(super) struct Page {
    /// Path from the top of the checkout, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

/// Reads every Rust file below `crates`, `e2e` and `xtask`, in the order of their paths.
pub(super) fn read_all(root: &Path) -> Outcome<Vec<SourceFile>> {
    let mut texts = Vec::new();
    for top in TOP_DIRECTORIES {
        read_below(root, &root.join(top), ".rs", &mut texts)?;
    }
    texts.sort();
    Ok(sources(texts))
}

/// Reads every Markdown file of the checkout, in the order of their paths.
pub(super) fn read_pages(root: &Path) -> Outcome<Vec<Page>> {
    let mut texts = Vec::new();
    read_below(root, root, ".md", &mut texts)?;
    texts.sort();
    Ok(texts.into_iter().map(|(path, text)| Page { path, text }).collect())
}

/// Builds the files from (path, text), so that a test of a rule needs no disk.
pub(super) fn sources(texts: Vec<(String, String)>) -> Vec<SourceFile> {
    let mut files: Vec<SourceFile> = texts.into_iter().map(|(path, text)| SourceFile::new(path, text)).collect();
    let for_tests: BTreeSet<String> = files.iter().flat_map(SourceFile::test_modules_elsewhere).collect();
    for file in &mut files {
        if for_tests.iter().any(|module| is_module_or_below(&file.path, module)) {
            file.shipped_code.clear();
            file.strings.clear();
        }
    }
    files
}

impl SourceFile {
    /// Tells whether the file lies below one of the prefixes or is one of them.
    pub(super) fn is_below(&self, prefixes: &[&str]) -> bool {
        prefixes.iter().any(|prefix| self.path.starts_with(prefix))
    }

    fn new(path: String, text: String) -> Self {
        let mask::Masked { code, mut strings, tests } = mask::mask(&text);
        let (mut shipped_code, lines_without_tests) = without_test_items(&code, &tests);
        let is_test = path.split('/').nth(2).is_some_and(|directory| TEST_DIRECTORIES.contains(&directory))
            || test_code::is_test_file(&code);
        let test_lines: Vec<_> = tests.iter().map(|item| lines_of(&code, item)).collect();
        strings.retain(|(line, _)| !is_test && !test_lines.iter().any(|lines| lines.contains(line)));
        if is_test {
            shipped_code.clear();
        }
        Self { path, text, code, shipped_code, strings, tests, lines_without_tests }
    }

    /// Names the files, without their ending, of modules declared under `#[cfg(test)]`.
    fn test_modules_elsewhere(&self) -> Vec<String> {
        let declared = self.tests.iter().filter_map(|item| {
            let name = test_code::module_elsewhere(&self.code[item.clone()])?;
            let (directory, stem) = self.path.rsplit_once('/')?;
            Some(match self.path_attribute(lines_of(&self.code, item)) {
                Some(relative) => format!("{directory}/{}", relative.trim_end_matches(".rs")),
                None if matches!(stem, "lib.rs" | "main.rs" | "mod.rs") => format!("{directory}/{name}"),
                None => format!("{directory}/{}/{name}", stem.trim_end_matches(".rs")),
            })
        });
        declared.collect()
    }

    fn path_attribute(&self, lines: RangeInclusive<usize>) -> Option<&str> {
        let within = self.text.lines().skip(lines.start() - 1).take(lines.end() - lines.start() + 1);
        within.filter_map(|line| line.trim().strip_prefix("#[path = \"")?.strip_suffix("\"]")).next()
    }
}

/// Returns the line, counted from 1, of a byte of `code`.
pub(super) fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

fn lines_of(code: &str, item: &Range<usize>) -> RangeInclusive<usize> {
    line_of(code, item.start)..=line_of(code, item.end)
}

fn without_test_items(code: &str, tests: &[Range<usize>]) -> (String, usize) {
    let mut shipped = String::with_capacity(code.len());
    let mut lines = code.lines().count();
    let mut from = 0;
    for item in tests {
        shipped.push_str(&code[from..item.start]);
        let line_breaks = code[item.clone()].matches('\n').count();
        shipped.extend(std::iter::repeat_n('\n', line_breaks));
        lines -= (line_breaks + 1).min(lines);
        from = item.end;
    }
    shipped.push_str(&code[from..]);
    (shipped, lines)
}

fn is_module_or_below(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

fn read_below(root: &Path, directory: &Path, ending: &str, texts: &mut Vec<(String, String)>) -> Outcome {
    let failed = |path: &Path, error: io::Error| {
        format!("failed to read the sources: failed to read `{}`: {error}", path.display())
    };
    let listing = |error| failed(directory, error);
    for entry in fs::read_dir(directory).map_err(listing)? {
        let entry = entry.map_err(listing)?;
        let kind = entry.file_type().map_err(listing)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() && name != "target" && name != "node_modules" && !name.starts_with('.') {
            read_below(root, &entry.path(), ending, texts)?;
        } else if kind.is_file() && name.ends_with(ending) {
            let path = entry.path();
            let text = fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
            texts.push((path_from(root, &path), text));
        }
    }
    Ok(())
}

fn path_from(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    relative.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests;

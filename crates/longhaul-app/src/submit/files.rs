//! What a task must reach and what it starts from, as requests spell it: criteria, input files, expected files.
//! Used by everything that submits a task; bad input is refused before anything is created.

use std::fs::File;
use std::path::{Component, Path, PathBuf};

use longhaul_core::fingerprint::of_reader as fingerprint_of;
use longhaul_core::task::{Criterion, InputFile};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::intake::blocking_here;

/// `words`, or `words = command`: the first ` = ` separates them, so that the command may have more. Empty halves are refused by
/// the core.
pub fn criterion(text: &str) -> Criterion {
    match format!("{text} ").split_once(" = ") {
        Some((words, check)) => Criterion { text: words.trim().to_owned(), check: Some(check.trim().to_owned()) },
        None => Criterion { text: text.trim().to_owned(), check: None },
    }
}

/// Files to start from must exist and be readable; their content is remembered by its hash.
pub(crate) fn inputs(call: &Call, paths: &[PathBuf]) -> Result<Vec<InputFile>, AppError> {
    blocking_here(|| paths.iter().map(|path| input(call, path)).collect())
}

fn input(call: &Call, path: &Path) -> Result<InputFile, AppError> {
    let unusable = |error: std::io::Error| {
        AppError::new(ErrorKind::Usage, format!("cannot use `{}` as an input", path.display()))
            .because(&error)
            .hint("name a file that exists and can be read")
    };
    let physical = call.path(path)?.canonicalize().map_err(unusable)?;
    if !physical.is_file() {
        let what = format!("cannot use `{}` as an input: it is not a file", path.display());
        return Err(AppError::new(ErrorKind::Usage, what).hint("name a file"));
    }
    let sha256 = File::open(&physical).and_then(fingerprint_of).map_err(unusable)?;
    Ok(InputFile { path: utf8(&physical)?, sha256 })
}

/// Expected files are named by their path in the workspace, and can be nowhere else. A leading `./` is dropped.
pub fn expects(paths: &[String]) -> Result<Vec<String>, AppError> {
    paths.iter().map(|path| expected(path)).collect()
}

fn expected(path: &str) -> Result<String, AppError> {
    let plain = Path::new(path).strip_prefix(".").unwrap_or(Path::new(path));
    let is_inside = plain.components().all(|part| matches!(part, Component::Normal(_)));
    match plain.to_str() {
        Some(plain) if is_inside && !plain.is_empty() => Ok(plain.to_owned()),
        Some(_) | None => {
            let what = format!("cannot expect `{path}`: it is not a path in the workspace");
            Err(AppError::new(ErrorKind::Usage, what).hint("name it relative to the directory the agent works in"))
        }
    }
}

/// Paths are stored as text; one that is none is refused rather than stored wrongly.
pub fn utf8(path: &std::path::Path) -> Result<String, AppError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        AppError::new(ErrorKind::Usage, format!("`{}` is not UTF-8", path.display())).hint("rename the directory")
    })
}

#[cfg(test)]
mod tests {
    use super::{criterion, expects};

    #[test]
    fn a_criterion_may_name_its_check() {
        let with = criterion("all tests pass = make test");
        assert_eq!((with.text.as_str(), with.check.as_deref()), ("all tests pass", Some("make test")));
        let without = criterion("x=1 holds");
        assert_eq!((without.text.as_str(), without.check), ("x=1 holds", None));
        assert_eq!(criterion("a = test b = c").check.as_deref(), Some("test b = c"));
        assert_eq!(criterion("a = ").check.as_deref(), Some(""), "refused by the core");
    }

    #[test]
    fn expected_files_stay_inside() {
        assert_eq!(expects(&["out/report.txt".into(), "./a".into()]).unwrap(), ["out/report.txt", "a"]);
        for bad in ["/etc/passwd", "../up", "a/../../b", "", ".", "./", "./.."] {
            assert!(expects(&[bad.into()]).is_err(), "{bad}");
        }
    }
}

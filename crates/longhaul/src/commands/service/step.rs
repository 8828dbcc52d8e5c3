//! One step of installing or taking away: a file, or a program of the system. The kinds list steps; `service` takes or only tells them.
//! Nothing is removed but a file by its exact name, which the kind has looked at.

use std::path::{Path, PathBuf};

use longhaul_keeper::files::replace;

use crate::out;
use crate::start::converse;
use longhaul_app::{AppError, ErrorKind};

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Writes a file as a whole.
    Write { path: PathBuf, text: String },
    /// Removes a file.
    Remove { path: PathBuf },
    /// Removes a symbolic link, unless a program before has done so.
    Unlink { path: PathBuf },
    /// Runs a program, which must succeed.
    Run { argv: Vec<String>, input: Vec<u8> },
    /// Runs a program that may have nothing to do.
    Try { argv: Vec<String> },
}

impl Step {
    pub(super) fn run(argv: &[&str]) -> Step {
        Step::Run { argv: owned(argv), input: Vec::new() }
    }

    pub(super) fn feed(argv: &[&str], input: Vec<u8>) -> Step {
        Step::Run { argv: owned(argv), input }
    }

    pub(super) fn attempt(argv: &[&str]) -> Step {
        Step::Try { argv: owned(argv) }
    }

    /// What it would do.
    pub(super) fn plan(&self) -> String {
        match self {
            Step::Write { path, text } => format!("would write `{}`:\n{text}", path.display()),
            Step::Remove { path } | Step::Unlink { path } => format!("would remove `{}`", path.display()),
            Step::Run { argv, input } if input.is_empty() => format!("would run `{}`", argv.join(" ")),
            Step::Run { argv, input } => {
                format!("would run `{}` with this on its input:\n{}", argv.join(" "), String::from_utf8_lossy(input))
            }
            Step::Try { argv } => format!("would run `{}`", argv.join(" ")),
        }
    }

    /// Does it, and says so.
    pub(super) fn take(&self) -> Result<String, AppError> {
        match self {
            Step::Write { path, text } => {
                write(path, text).map_err(|error| failed(format!("cannot write `{}`", path.display()), &error))?;
                Ok(format!("wrote `{}`", path.display()))
            }
            Step::Remove { path } => {
                std::fs::remove_file(path)
                    .map_err(|error| failed(format!("cannot remove `{}`", path.display()), &error))?;
                Ok(format!("removed `{}`", path.display()))
            }
            Step::Unlink { path } if !path.is_symlink() => Ok(format!("`{}` is gone", path.display())),
            Step::Unlink { path } => Step::Remove { path: path.clone() }.take(),
            Step::Run { argv, input } => {
                run(argv, input)?;
                Ok(format!("ran `{}`", argv.join(" ")))
            }
            Step::Try { argv } => match run(argv, b"") {
                Ok(()) => Ok(format!("ran `{}`", argv.join(" "))),
                Err(error) => Ok(format!("{}; going on", error.what)),
            },
        }
    }
}

/// In the directory that the path leads to, made if it is missing.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    std::fs::create_dir_all(directory)?;
    replace(&directory.canonicalize()?, name, text.as_bytes())
}

fn run(argv: &[String], input: &[u8]) -> Result<(), AppError> {
    let (program, arguments) = (argv.first().map_or("", String::as_str), argv.iter().skip(1));
    let arguments: Vec<&str> = arguments.map(String::as_str).collect();
    let line = argv.join(" ");
    match converse(program, &arguments, input) {
        Some(said) if said.succeeded => Ok(()),
        Some(said) => {
            Err(AppError::new(ErrorKind::Failure, format!("`{line}` failed: {}", out::safe(&said.complaint())))
                .hint("what was written stays; mend this and run the same again"))
        }
        None => Err(AppError::new(ErrorKind::Failure, format!("`{line}` cannot be run or does not end"))
            .hint(format!("see that `{program}` is on PATH; what was written stays"))),
    }
}

fn failed(what: String, error: &std::io::Error) -> AppError {
    AppError::new(ErrorKind::Failure, what).because(error).hint("see that the directory is yours to write")
}

fn owned(argv: &[&str]) -> Vec<String> {
    argv.iter().map(|word| (*word).to_owned()).collect()
}

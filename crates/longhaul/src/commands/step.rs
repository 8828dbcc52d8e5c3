//! One step of installing or removing something of a person's: a file to change or a program to run. `service` and `mcp install` list steps,
//! and run or print them. A step removes only a file by its exact name, after its author has inspected it.

use std::path::PathBuf;

use longhaul_keeper::Environment;
use longhaul_keeper::files::replace_own;

use crate::out;
use crate::start::run_program;
use longhaul_app::text::shell_word;
use longhaul_app::{AppError, ErrorKind};

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Writes a file as a whole.
    Write { path: PathBuf, text: String },
    /// Changes a part of a file; `part` is what a person is shown of it.
    Edit { path: PathBuf, text: String, part: String },
    /// Removes a file.
    Remove { path: PathBuf },
    /// Removes a symbolic link, unless an earlier step has done so.
    Unlink { path: PathBuf },
    /// Runs a program, which must succeed.
    Run { argv: Vec<String>, input: Vec<u8> },
    /// Runs a program that may fail.
    Try { argv: Vec<String> },
}

impl Step {
    pub(super) fn command(argv: &[&str]) -> Step {
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
            Step::Edit { path, part, .. } => format!("would write to `{}`:\n{part}", path.display()),
            Step::Remove { path } | Step::Unlink { path } => format!("would remove `{}`", path.display()),
            Step::Run { argv, input } if input.is_empty() => format!("would run `{}`", shell_line(argv)),
            Step::Run { argv, input } => {
                format!("would run `{}` with this input:\n{}", shell_line(argv), String::from_utf8_lossy(input))
            }
            Step::Try { argv } => format!("would run `{}`", shell_line(argv)),
        }
    }

    /// Does it, and returns what it did.
    pub(super) fn run(&self, environment: &Environment) -> Result<String, AppError> {
        match self {
            Step::Write { path, text } | Step::Edit { path, text, .. } => {
                replace_own(path, text.as_bytes())
                    .map_err(|error| failed(format!("cannot write `{}`", path.display()), &error))?;
                Ok(format!("wrote `{}`", path.display()))
            }
            Step::Remove { path } => {
                std::fs::remove_file(path)
                    .map_err(|error| failed(format!("cannot remove `{}`", path.display()), &error))?;
                Ok(format!("removed `{}`", path.display()))
            }
            Step::Unlink { path } if !path.is_symlink() => Ok(format!("`{}` was already removed", path.display())),
            Step::Unlink { path } => Step::Remove { path: path.clone() }.run(environment),
            Step::Run { argv, input } => {
                run_checked(environment, argv, input)?;
                Ok(format!("ran `{}`", shell_line(argv)))
            }
            Step::Try { argv } => match run_checked(environment, argv, b"") {
                Ok(()) => Ok(format!("ran `{}`", shell_line(argv))),
                Err(error) => Ok(format!("{}; continuing", error.what)),
            },
        }
    }
}

/// Runs these steps, or prints what they would do.
pub(super) fn carry_out(environment: &Environment, steps: &[Step], dry_run: bool) -> Result<(), AppError> {
    for step in steps {
        match dry_run {
            true => out::data(&out::safe_lines(&step.plan())),
            false => out::data(&out::safe(&step.run(environment)?)),
        }
    }
    Ok(())
}

fn shell_line(argv: &[String]) -> String {
    argv.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

fn run_checked(environment: &Environment, argv: &[String], input: &[u8]) -> Result<(), AppError> {
    let (program, arguments) = (argv.first().map_or("", String::as_str), argv.iter().skip(1));
    let arguments: Vec<&str> = arguments.map(String::as_str).collect();
    let line = shell_line(argv);
    match run_program(environment, program, &arguments, input) {
        Some(output) if output.succeeded => Ok(()),
        Some(output) => {
            Err(AppError::new(ErrorKind::Failure, format!("`{line}` failed: {}", out::safe(&output.errors())))
                .hint("fix this and run the command again; files already written stay"))
        }
        None => Err(AppError::new(ErrorKind::Failure, format!("cannot run `{line}`, or it did not end in time"))
            .hint(format!("check that `{program}` is on PATH; files already written stay"))),
    }
}

fn failed(what: String, error: &std::io::Error) -> AppError {
    AppError::new(ErrorKind::Failure, what).because(error).hint("check that you can write to the directory")
}

fn owned(argv: &[&str]) -> Vec<String> {
    argv.iter().map(|word| (*word).to_owned()).collect()
}

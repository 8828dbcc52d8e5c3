//! `longhaul report`: writes everything stored about a task as one page, in Markdown or JSON.
//! Prints to standard output, or replaces a file as a whole.

use std::path::Path;

use longhaul_app::operations::{Report, TaskPageInput};
use longhaul_app::report::page;
use longhaul_app::{AppError, ErrorKind};
use longhaul_keeper::files::replace;

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::paint::{Colour, Paint};
use crate::when::When;
use crate::width;

pub(crate) async fn report(line: &CommandLine, args: &cli::Report) -> Result<Code, AppError> {
    let input = TaskPageInput { task: args.which.task.clone(), page: args.page.into() };
    let answer = line.call()?.perform::<Report>(input).await?;
    let Some(path) = &args.output else {
        return out::answer(&answer, args.json, |report| match out::is_on_terminal() {
            true => rendered(page(report).trim_end()).iter().for_each(|line| out::data(line)),
            false => out::data(page(report).trim_end()),
        });
    };
    let text = if args.json { answer.document()? + "\n" } else { page(&answer.view) };
    write(path, &text)?;
    out::note(&format!("wrote the report to {}", out::safe(&path.display().to_string())));
    Ok(Code::Done)
}

/// The page as a terminal shows it: without the marks of Markdown, in local times. Everything foreign in it is safe already.
fn rendered(page: &str) -> Vec<String> {
    let (paint, when) = (Paint(out::coloured()), When::here());
    let columns = width::of_stdout().unwrap_or(80);
    let mut is_quoted = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_quoted = !is_quoted;
        } else if is_quoted {
            lines.push(format!("  {line}"));
        } else if line.starts_with('#') {
            lines.push(paint.in_colour(Colour::Bold, &line.trim_start_matches(['#', ' ']).replace('`', "")));
        } else if line.starts_with('|') {
            lines.push(line.to_owned());
        } else {
            let indent = line.len() - line.trim_start().len() + 2;
            lines.extend(width::wrapped(&when.localized(&plain(line)), columns, indent));
        }
    }
    lines
}

/// A line without its marks. What is in code spans stays as it is.
fn plain(line: &str) -> String {
    let parts = line.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { part.replace("**", "") } else { part.to_owned() }).collect()
}

/// Writes the whole file or nothing.
fn write(path: &Path, text: &str) -> Result<(), AppError> {
    let what = || format!("cannot write `{}`", path.display());
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|_| !path.is_dir()) else {
        return Err(AppError::new(ErrorKind::Usage, what()).hint("name a file in an existing directory"));
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    replace(parent, name, text.as_bytes()).map_err(|error| {
        AppError::new(ErrorKind::Usage, what()).because(&error).hint("name a file in a directory you can write to")
    })
}

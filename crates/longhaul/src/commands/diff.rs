//! `longhaul diff`: shows what a task changed since it started. Every line is made safe for the terminal; `--raw` prints the
//! exact bytes for programs, and refuses a terminal.

use std::io::IsTerminal;

use longhaul_app::operations::{Diff, DiffInput, DiffView, FileChange};
use longhaul_app::{AppError, ErrorKind, describe};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::paint::{Colour, Paint};

pub(crate) async fn diff(line: &CommandLine, args: &cli::Diff) -> Result<Code, AppError> {
    if args.raw && std::io::stdout().is_terminal() {
        return Err(AppError::new(ErrorKind::Usage, "--raw does not print to a terminal")
            .hint("redirect it to a file or a program, as in `longhaul diff --raw > work.patch`"));
    }
    let input = DiffInput { task: args.which.task.clone(), stat: args.stat };
    let answer = line.call()?.perform::<Diff>(input).await?;
    out::answer(&answer, args.json, |diff| match args.raw {
        true => out::bytes(&diff.raw),
        false => print(diff),
    })?;
    if answer.view.files.is_empty() {
        out::note("no changes");
    }
    if answer.view.patch_is_cut {
        out::note("the rest of the diff is too long to show; `--stat` lists every file");
    }
    Ok(Code::Done)
}

fn print(diff: &DiffView) {
    let Some(patch) = &diff.patch else {
        diff.files.iter().for_each(|file| out::data(&stat(file)));
        let more = diff.files_total.saturating_sub(diff.files.len());
        if more > 0 {
            out::note(&format!("and {more} more files"));
        }
        if !diff.files.is_empty() {
            out::note(&changed(diff));
        }
        return;
    };
    let paint: fn(&str) -> String = if out::coloured() { painted } else { out::safe };
    patch.lines().for_each(|line| out::data(&paint(line)));
}

fn stat(file: &FileChange) -> String {
    let paint = Paint(out::coloured());
    let lines = match (file.added, file.removed) {
        (Some(added), Some(removed)) => {
            let (plus, minus) = (format!("{:>6}", format!("+{added}")), format!("{:<6}", format!("-{removed}")));
            format!("{} {}", paint.in_colour(Colour::Green, &plus), paint.in_colour(Colour::Red, &minus))
        }
        _ => format!("{:13}", "   not text"),
    };
    format!("{:12}  {lines}  {}", file.status, out::safe(&file.path))
}

/// How much changed, as in `3 files, +12 -4`.
pub(crate) fn changed(diff: &DiffView) -> String {
    let sum = |lines: fn(&FileChange) -> Option<u64>| diff.files.iter().filter_map(lines).sum::<u64>();
    let files = describe::count(u32::try_from(diff.files_total).unwrap_or(u32::MAX), "file");
    let least = if diff.files.len() < diff.files_total { "at least " } else { "" };
    format!("{files}, {least}+{} -{}", sum(|file| file.added), sum(|file| file.removed))
}

/// One line of a patch in our own colours; the content of the files is made safe first.
fn painted(line: &str) -> String {
    let safe = out::safe(line);
    let colour = match line.as_bytes().first() {
        Some(b'+') => "32",
        Some(b'-') => "31",
        Some(b'@') => "36",
        Some(b'd' | b'i' | b'n' | b'o') => "1",
        Some(_) | None => return safe,
    };
    format!("\u{1b}[{colour}m{safe}\u{1b}[0m")
}

#[cfg(test)]
mod tests {
    use super::painted;

    #[test]
    fn the_only_escapes_are_our_own() {
        assert_eq!(painted("-a\u{1b}[0m\u{202e}"), "\u{1b}[31m-a\\u{1b}[0m\\u{202e}\u{1b}[0m");
        assert_eq!(painted(" same\u{7}"), " same\\u{7}");
    }
}

//! `longhaul diff`: shows what a task changed since it started. Every line is made safe for the terminal; `--raw` prints the
//! exact bytes for programs, and refuses a terminal.

use std::io::IsTerminal;

use longhaul_app::operations::{Diff, DiffInput, DiffView};
use longhaul_app::{AppError, ErrorKind};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

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
        diff.files.iter().for_each(|file| out::data(&format!("{:12}  {}", file.status, out::safe(&file.path))));
        let more = diff.files_total.saturating_sub(diff.files.len());
        if more > 0 {
            out::note(&format!("and {more} more files"));
        }
        return;
    };
    let paint: fn(&str) -> String = if out::coloured() { painted } else { out::safe };
    patch.lines().for_each(|line| out::data(&paint(line)));
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

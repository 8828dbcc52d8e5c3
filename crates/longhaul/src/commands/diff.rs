//! `longhaul diff`: what a task changed since it began, as version control tells it. Needs no worker, and only reads.
//! For people every line goes through the terminal's filter; for programs `--raw` hands on the bytes, and refuses a terminal.

use std::io::IsTerminal;

use longhaul_git::Patch;
use longhaul_store::Stored;
use serde_json::json;

use crate::cli::Diff;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::Call;
use longhaul_app::changed_files::{self, FileChange, Unknown};
use longhaul_app::lookup;
use longhaul_app::{AppError, ErrorKind};

pub(crate) async fn diff(line: &CommandLine, args: &Diff) -> Result<Code, AppError> {
    if args.raw && std::io::stdout().is_terminal() {
        return Err(AppError::new(ErrorKind::Usage, "raw bytes are not for a terminal")
            .hint("send them to a file or a program, as in `longhaul diff --raw > work.patch`"));
    }
    let call = line.open_existing()?;
    let stored = lookup::find_to_read(&call, args.which.task.as_deref()).await?;
    if args.stat {
        let files =
            changed_files::changed_files(call.home(), &stored.task).await.map_err(|why| unknown(&stored, &why))?;
        print_names(args, &stored, &files);
        return Ok(Code::Done);
    }
    let patch = changed_files::patch(call.home(), &stored.task).await.map_err(|why| unknown(&stored, &why))?;
    print_patch(&call, args, &stored, &patch).await?;
    Ok(Code::Done)
}

fn unknown(stored: &Stored, why: &Unknown) -> AppError {
    let name = &stored.task.submission.name;
    AppError::new(ErrorKind::Failure, format!("nobody knows what task {name} changed"))
        .because(why)
        .hint(format!("look at {} yourself, or read `longhaul report {name}`", stored.task.cwd()))
}

fn print_names(args: &Diff, stored: &Stored, files: &[FileChange]) {
    if args.json {
        out::json("diff", &json!({ "task": stored.task.id, "base": base(stored), "files": files }));
        return;
    }
    for file in files {
        out::data(&format!("{:12}  {}", file.status, out::safe(&file.path)));
    }
    if files.is_empty() {
        out::note("nothing is changed");
    }
}

async fn print_patch(call: &Call, args: &Diff, stored: &Stored, patch: &Patch) -> Result<(), AppError> {
    if args.json {
        let files =
            changed_files::changed_files(call.home(), &stored.task).await.map_err(|why| unknown(stored, &why))?;
        let text = String::from_utf8_lossy(&patch.bytes);
        let facts = json!({
            "task": stored.task.id, "base": base(stored), "files": files, "patch": text, "cut": patch.is_cut,
        });
        out::json("diff", &facts);
    } else if args.raw {
        out::bytes(&patch.bytes);
    } else {
        let paint: fn(&str) -> String = if out::coloured() { painted } else { out::safe };
        String::from_utf8_lossy(&patch.bytes).lines().for_each(|line| out::data(&paint(line)));
    }
    if patch.bytes.is_empty() {
        out::note("nothing is changed");
    }
    if patch.is_cut {
        out::note("the rest is too long to be shown; `--stat` names every file");
    }
    Ok(())
}

fn base(stored: &Stored) -> Option<&String> {
    stored.task.workspace.as_ref()?.base.as_ref()
}

/// One line of a patch in colours of our own; what the files hold is made safe before.
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

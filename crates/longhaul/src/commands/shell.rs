//! `longhaul shell`: the person's own shell in the directory that a task works in. Command line only: it needs this terminal.
//! It holds no task: what an agent does there meanwhile is not stopped.

use std::path::{Path as FilePath, PathBuf};

use longhaul_app::operations::{Path, TaskInput};
use longhaul_app::{AppError, ErrorKind};

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::start::shell_in;

pub(crate) async fn shell(line: &CommandLine, args: &cli::Shell) -> Result<Code, AppError> {
    let input = TaskInput { task: args.which.task.clone() };
    let view = line.call()?.perform::<Path>(input).await?.view;
    let place = match &view.branch {
        Some(branch) => format!("on branch {branch}"),
        None => "in your own checkout".to_owned(),
    };
    out::note(&out::safe(&format!("task {}, {place}; `exit` returns to {}", view.name, here())));
    if view.is_live {
        out::note("a session works here now: what you change, it may change too (`longhaul pause` stops it)");
    }
    let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".into());
    let cannot = |error: std::io::Error| {
        AppError::new(ErrorKind::Failure, format!("cannot start `{}`", out::safe(&shell.to_string_lossy())))
            .because(&error)
    };
    tokio::task::block_in_place(|| shell_in(FilePath::new(&shell), FilePath::new(&view.cwd))).map_err(cannot)?;
    Ok(Code::Done)
}

fn here() -> String {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("here")).display().to_string()
}

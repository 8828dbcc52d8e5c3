//! `longhaul resume`: continues a task that is paused, blocked, stopped or needs a person.
//! Returns at once; `logs -f` and `attach` follow the task.

use longhaul_app::AppError;
use longhaul_app::operations::{Resume, ResumeInput};
use longhaul_app::submit::Changes;

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn resume(line: &CommandLine, args: &cli::Resume) -> Result<Code, AppError> {
    let changes = Changes { settings: args.flags.settings(None), once: args.flags.once, ..Changes::default() };
    let (task, reason, key) = (args.which.task.clone(), args.reason.clone(), args.request.key.clone());
    let answer = line.call()?.perform::<Resume>(ResumeInput { task, reason, changes, key }).await?;
    out::answer(&answer, args.request.json, |task| {
        let name = &task.name;
        out::note(&match task.is_run() {
            true => format!("answered: the program that executes {name} gets your answer when it asks for it"),
            false => format!("task {name} continues; follow it with `longhaul logs -f {name}`"),
        });
    })
}

//! `longhaul discard`: removes worktree and branch of finished tasks without landing their work, or brings them back.
//! On a terminal it asks once.

use longhaul_app::operations::{Discard, DiscardInput};
use longhaul_app::{AppError, ErrorKind};

use super::land::{can_ask, confirm, finish, unfinished};
use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;

pub(crate) async fn discard(line: &CommandLine, args: &cli::Discard) -> Result<Code, AppError> {
    let names = args.tasks.join(", ");
    let asks = !args.undo && !args.yes && can_ask(args.request.json);
    if asks && !confirm(&format!("Remove worktree and branch of {}?", out::safe(&names)))? {
        return Err(AppError::new(ErrorKind::Interrupted, "nothing was changed"));
    }
    let call = line.call()?;
    for task in &args.tasks {
        let input = DiscardInput { task: task.clone(), undo: args.undo, key: args.request.key.clone() };
        let answer = finish(&call, call.perform::<Discard>(input).await?).await?;
        out::answer(&answer, args.request.json, |view| {
            let name = out::safe(&view.name);
            match &view.follow_up {
                Some(task) if task.is_finished && args.undo => {
                    out::data(&format!("{name}: worktree and branch are back"));
                }
                Some(task) if task.is_finished => {
                    out::data(&format!("{name}: discarded"));
                    view.kept
                        .iter()
                        .for_each(|why| out::note(&out::safe(&format!("worktree and branch are kept: {why}"))));
                    out::note(&format!("bring it back with `longhaul discard --undo {name}`"));
                }
                Some(_) | None => unfinished(view),
            }
        })?;
    }
    Ok(Code::Done)
}

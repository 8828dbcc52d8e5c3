//! `longhaul pause`: stops the session and keeps the task until someone resumes it.
//! Exits with 0 only if the task is then paused, or if the request was a repeat.

use longhaul_app::AppError;
use longhaul_app::operations::{Pause, PauseInput};
use longhaul_core::task::State;

use super::id_of;
use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::code_of;

pub(crate) async fn pause(line: &CommandLine, args: &cli::Pause) -> Result<Code, AppError> {
    let (task, key) = (args.which.task.clone(), args.request.key.clone());
    let call = line.call()?;
    let answer = call.perform::<Pause>(PauseInput { task, now: args.now, force: args.force, key }).await?;
    let is_paused = answer.view.state == State::Paused.name();
    out::answer(&answer, args.request.json, |task| {
        let how = if is_paused { "is paused".to_owned() } else { format!("is not paused but {}", task.status) };
        out::note(&format!("task {} {}", task.name, out::safe(&how)));
    })?;
    if is_paused || answer.repeated {
        return Ok(Code::Done);
    }
    // Someone cancelled or resumed it in the meantime.
    let stored = call.load(id_of(&answer.view)?).await?;
    Ok(stored.map_or(Code::NotFound, |stored| code_of(&stored.task.state)))
}

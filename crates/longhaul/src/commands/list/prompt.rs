//! `longhaul prompt`: counts by the groups of `list`, in a few characters, for a shell prompt or a status line.
//! It runs before every prompt, so it prints neither notes nor errors there; `list` shows what is wrong.

use longhaul_app::AppError;
use longhaul_app::operations::{List, ListInput};
use longhaul_app::views::TaskView;

use super::board::Group;
use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::paint::{Colour, Paint};
use crate::when::When;

pub(crate) async fn prompt(line: &CommandLine, args: &cli::Prompt) -> Result<Code, AppError> {
    let Ok(call) = line.call() else { return Ok(Code::Failure) };
    let input = ListInput { all: args.all, ..ListInput::default() };
    let Ok(answer) = call.perform::<List>(input).await else { return Ok(Code::Failure) };
    let counts = counts(&answer.view.tasks, &When::here(), Paint(out::coloured()));
    if !counts.is_empty() {
        out::data(&counts);
    }
    Ok(Code::Done)
}

fn counts(tasks: &[TaskView], when: &When, paint: Paint) -> String {
    let count = |group| tasks.iter().filter(|task| Group::of(task) == group && is_news(task, when)).count();
    let groups = [
        (Group::Running, '●', Colour::Green),
        (Group::Waiting, '◔', Colour::Yellow),
        (Group::NeedsYou, '!', Colour::Red),
        (Group::Done, '✓', Colour::Dim),
    ];
    let counts = groups.into_iter().filter_map(|(group, mark, colour)| {
        let number = count(group);
        (number > 0).then(|| paint.in_colour(colour, &format!("{number}{mark}")))
    });
    counts.collect::<Vec<_>>().join(" ")
}

/// Finished work counts for a day, unless it was landed or discarded.
fn is_news(task: &TaskView, when: &When) -> bool {
    !task.is_finished || (task.result.is_some() && task.followed_up.is_none() && !when.is_old(&task.updated))
}

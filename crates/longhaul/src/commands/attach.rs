//! `longhaul attach`: prints where a task is, then follows it as `run` does from its current session. Ctrl+C pauses the task, `d` detaches.
//! If nothing runs, it prints the state and exits with its code. With `--read-only`, and for a run of an outside program, it changes nothing at all.

use longhaul_app::views::TaskView;
use longhaul_app::{AppError, Call, describe, lookup};
use longhaul_core::task::{Action, Driver, permit};
use longhaul_store::Stored;

use super::tmux_view;
use crate::cli::Attach;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::{self, Mode, Signals, Viewing};

pub(crate) async fn attach(line: &CommandLine, args: &Attach) -> Result<Code, AppError> {
    let call = line.call()?;
    let stored = lookup::find_to_read(&call, args.which.task.as_deref()).await?;
    let task = &stored.task;
    let is_run = task.submission.driver == Driver::External;
    let mode = if args.read_only || args.tmux || is_run { Mode::ReadOnly } else { Mode::Control };
    if mode.until().is_over(&task.state) {
        return print_state(&call, &stored, args.json).await;
    }
    if args.tmux {
        permit(&line.caller.actor, &Action::Manage("open a tmux session"))?;
        return tmux_view::open(&call, task.id).await;
    }
    let signals = Signals::listen()?;
    let started = call.store()?.newest_events(task.id, &["session_started"], 1).await?.events;
    let after = started.first().map_or(0, |event| event.seq - 1);
    let name = &task.submission.name;
    if !args.json {
        out::note(&viewer::standing(&stored, &TaskView::of(&call, task.id).await?));
        out::note(match mode {
            Mode::Control => "Ctrl+C pauses it, d detaches, ? lists the keys",
            Mode::ReadOnly => "read-only (d to close)",
        });
    }
    if after > 0 && !args.json {
        out::note(&format!("{after} earlier events: `longhaul events {name}`"));
    }
    let viewing = Viewing { after, mode, json: args.json, detailed: args.verbose, keep_open: args.keep_open };
    viewer::follow(&call, task.id, signals, viewing).await
}

/// For a task with nothing left to follow.
async fn print_state(call: &Call, stored: &Stored, json: bool) -> Result<Code, AppError> {
    let view = TaskView::of(call, stored.task.id).await?;
    if json {
        out::view(&view);
    } else {
        out::note(&format!("{}: {}", view.name, out::safe(&describe::state(&stored.task))));
        out::note(&describe::next_command(stored));
    }
    Ok(view.outcome.into())
}

//! `longhaul attach`: follows a task as `run` does, from its current session on. Ctrl+C pauses it, `d` leaves it alone.
//! Of a task that nobody works on it tells how it stands, with the exit code that says so. With `--read-only` it changes nothing at all.

use longhaul_core::task::Event;

use super::tmux_view;
use longhaul_core::task::{Action, permit};

use crate::cli::Attach;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::viewer::{self, Reach, Signals, code_of};
use longhaul_app::AppError;
use longhaul_app::{describe, lookup};

pub(crate) async fn attach(line: &CommandLine, args: &Attach) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let stored = lookup::find_to_read(&call, args.which.task.as_deref()).await?;
    let task = &stored.task;
    let name = &task.submission.name;
    let reach = if args.read_only || args.tmux { Reach::Looks } else { Reach::Steers };
    if reach.is_over(&task.state) {
        out::note(&format!("{name}: {}", out::safe(&describe::state(task))));
        out::note(&describe::next_command(&stored));
        return Ok(code_of(&task.state));
    }
    if args.tmux {
        permit(&line.caller.actor, &Action::Manage("open a tmux session"))?;
        return tmux_view::open(&call, task.id).await;
    }
    let signals = Signals::listen()?;
    let events = call.store()?.events(task.id, 0, u32::MAX).await?;
    let newest = events.iter().rev().find(|event| matches!(event.event, Event::SessionStarted { .. }));
    let seen = newest.map_or(0, |event| event.seq - 1);
    out::note(&match reach {
        Reach::Steers => format!("task {name} ({}); Ctrl+C pauses it, d detaches", task.id),
        Reach::Looks => format!("task {name} ({}); this only shows it, Ctrl+C and d leave", task.id),
    });
    if seen > 0 {
        out::note(&format!("{seen} earlier events: `longhaul events {name}`"));
    }
    viewer::follow_after(&call, task.id, seen, reach, signals).await
}

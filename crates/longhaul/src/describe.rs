//! A task's state in words, and what a person could do next: the one wording for every screen and verb.
//! What comes from an agent or a workspace is not made safe here; whoever prints it does that.

use longhaul_core::task::State;
use longhaul_store::Stored;

/// Where a task stands.
pub(crate) fn state(state: &State) -> String {
    match state {
        State::Waiting { why, until, .. } => format!("waiting ({why}) until {}", until.rfc3339()),
        State::NeedsHelp { reason, .. } => format!("needs help: {reason}"),
        State::Blocked { cause, .. } => format!("blocked: {cause}"),
        State::Done { verdict } => verdict.to_string(),
        State::Cancelled { by, reason: None } => format!("cancelled by {by}"),
        State::Cancelled { by, reason: Some(reason) } => format!("cancelled by {by}: {reason}"),
        State::Queued { .. }
        | State::Preparing { .. }
        | State::Planning { .. }
        | State::Working { .. }
        | State::Stopping { .. }
        | State::Paused { .. } => state.name().to_owned(),
    }
}

/// What a person could do next.
pub(crate) fn next_command(stored: &Stored) -> String {
    let name = &stored.task.submission.name;
    match &stored.task.state {
        State::Paused { .. } => format!("go on with `longhaul resume {name}`"),
        State::Blocked { .. } => format!("mend it, then `longhaul resume {name}`"),
        State::NeedsHelp { .. } => {
            format!("look at `longhaul logs {name}`, then `longhaul resume {name} --reason \"what changed\"`")
        }
        State::Waiting { until, .. } => format!("goes on by itself at {}", until.rfc3339()),
        State::Queued { .. }
        | State::Preparing { .. }
        | State::Planning { .. }
        | State::Working { .. }
        | State::Stopping { .. } => format!("watch it with `longhaul logs -f {name}`"),
        State::Done { .. } | State::Cancelled { .. } => format!("read what happened with `longhaul events {name}`"),
    }
}

//! What the agent of a live session says about its own task: progress, a checkpoint, a request for help, that it is done. Called by `decide`
//! only, after the permission check has compared the session. Nothing an agent says ends its task, changes a setting or proves a result.

use super::super::{Event, Refusal, RunCall, RunStatus, SessionRun, Task};
use super::command::{Decision, refuse};
use super::tracked::{asked_help, checkpointed};

pub(super) fn report(task: &Task, call: &RunCall) -> Decision {
    let no = |why| refuse(task, call.verb(), why);
    let Some(session) = task.state.stage().agent() else {
        return no("its session is being stopped; end your turn now");
    };
    match call {
        RunCall::Update { report, status: None | Some(RunStatus::Running), .. } => {
            within(session, Event::Reported { report: report.bounded() })
        }
        RunCall::Checkpoint { report } => within(session, checkpointed(report)?),
        // Always accepted, because it ends the session.
        RunCall::NeedsHelp { reason, hint, report } => Ok(vec![asked_help(reason, hint.as_deref(), report)?]),
        RunCall::Complete { status: RunStatus::Completed, report } => {
            within(session, Event::SaidDone { report: report.bounded() })
        }
        RunCall::Update { status: Some(status), .. } | RunCall::Complete { status, .. } => no(instead_of(*status)),
    }
}

/// What an agent does in place of setting a status.
fn instead_of(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Failed | RunStatus::Cancelled => {
            "only a person can give it up; if it cannot be done, say why with `task_run_needs_help`"
        }
        RunStatus::NeedsHelp => "ask for help with `task_run_needs_help`, which stores the question",
        RunStatus::Completed => "say that it is done with `task_run_complete`",
        RunStatus::Pending => "a run never goes back to PENDING",
        RunStatus::Running => "say that it is done with the status COMPLETED",
    }
}

/// The event, unless the session has reported too much already: an agent in a loop must not fill the store.
fn within(session: &SessionRun, event: Event) -> Decision {
    let (Event::Reported { report } | Event::Checkpointed { report } | Event::SaidDone { report }) = &event else {
        return Ok(vec![event]);
    };
    if session.may_report(report) {
        return Ok(vec![event]);
    }
    let why = "a session may report 1 MiB in all, and this would be more; write the rest into progress.md".to_owned();
    Err(Refusal::BadInput { why })
}

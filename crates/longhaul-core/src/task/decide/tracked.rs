//! What commands make of a run that an outside program executes: its own calls, and the two that a person has. Called by `decide` only.
//! Nothing here starts, stops or verifies anything.

use super::super::tracked::bounded_help;
use super::super::{Actor, Command, Event, HelpRequest, Refusal, Report, RunCall, RunStatus, State, Task, Verdict};
use super::command::{Decision, cancel, refuse};

/// Why a person's verb is refused.
pub(super) const NOT_OURS: &str =
    "an outside program executes it; you can cancel it, or answer its request for help with `longhaul resume --reason`";

pub(super) fn command(task: &Task, command: &Command, actor: &Actor) -> Decision {
    let State::Tracked { help, .. } = &task.state else {
        return refuse(task, command.verb(), "it has ended and never changes again; start another run");
    };
    match command {
        Command::Track { call } => program(task, help.as_ref(), call, actor),
        Command::Cancel { reason } => cancel(task, actor, reason.as_ref()),
        Command::Resume { settings, .. } if !settings.is_empty() => refuse(task, "change the settings of", NOT_OURS),
        Command::Resume { .. } if help.is_none() => {
            refuse(task, "resume", "it has not asked for help; an outside program executes it")
        }
        Command::Resume { reason, .. } => {
            let reason = reason.as_deref().filter(|text| !text.trim().is_empty()).ok_or(Refusal::ReasonMissing)?;
            Ok(vec![answered(reason, actor)])
        }
        Command::Release { .. } => Ok(Vec::new()),
        Command::Pause { .. }
        | Command::Edit { .. }
        | Command::Tell { .. }
        | Command::AcceptPlan { .. }
        | Command::TakeOver
        | Command::Drive { .. }
        | Command::Force { .. } => refuse(task, command.verb(), NOT_OURS),
    }
}

fn program(task: &Task, help: Option<&HelpRequest>, call: &RunCall, actor: &Actor) -> Decision {
    match call {
        RunCall::Update { report, status, resume_reason } => {
            let answer = leave_help(task, help, *status, resume_reason.as_deref(), actor)?;
            Ok(answer.into_iter().chain([Event::Reported { report: report.bounded() }]).collect())
        }
        RunCall::Checkpoint { report } => Ok(vec![checkpointed(report)?]),
        RunCall::NeedsHelp { reason, hint, report } => Ok(vec![asked_help(reason, hint.as_deref(), report)?]),
        RunCall::Complete { status, report } => complete(task, *status, &report.bounded(), actor),
    }
}

pub(super) fn checkpointed(report: &Report) -> Result<Event, Refusal> {
    let report = report.bounded();
    if report.summary.is_none() { Err(Refusal::empty("summary")) } else { Ok(Event::Checkpointed { report }) }
}

pub(super) fn asked_help(reason: &str, hint: Option<&str>, report: &Report) -> Result<Event, Refusal> {
    if reason.trim().is_empty() {
        return Err(Refusal::empty("reason"));
    }
    let hint = hint.map(bounded_help).filter(|hint| !hint.is_empty());
    Ok(Event::HelpAsked { reason: bounded_help(reason), hint, report: report.bounded() })
}

/// The answer that an update gives to the run's own request for help, if it does.
fn leave_help(
    task: &Task,
    help: Option<&HelpRequest>,
    status: Option<RunStatus>,
    reason: Option<&str>,
    actor: &Actor,
) -> Result<Option<Event>, Refusal> {
    let no = |why| Err(refusal(task, "update", why));
    match status {
        None => Ok(None),
        Some(RunStatus::Running) if help.is_none() => Ok(None),
        Some(RunStatus::Running) => match reason.filter(|text| !text.trim().is_empty()) {
            Some(reason) => Ok(Some(answered(reason, actor))),
            None => no("it waits for a person; to continue, pass a resume_reason that says what changed"),
        },
        Some(RunStatus::Pending) => no("a run never goes back to PENDING"),
        Some(RunStatus::NeedsHelp) => no("ask for help with `task_run_needs_help`, which stores the reason"),
        Some(RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled) => no("end it with `task_run_complete`"),
    }
}

/// Finished, in the word of the program that executed it: never verified.
fn complete(task: &Task, status: RunStatus, report: &Report, actor: &Actor) -> Decision {
    let said = (!report.is_empty()).then(|| Event::Reported { report: report.clone() });
    let reason = report.summary.as_deref().map(first_line);
    let end = match status {
        RunStatus::Completed => Event::Finished { verdict: Verdict::NoChecks },
        RunStatus::Failed => Event::Failed { reason },
        RunStatus::Cancelled => Event::Cancelled { by: actor.principal.clone(), reason },
        RunStatus::Pending | RunStatus::Running | RunStatus::NeedsHelp => {
            return refuse(task, "complete", "a run ends as COMPLETED, FAILED or CANCELLED");
        }
    };
    Ok(said.into_iter().chain([end]).collect())
}

pub(super) fn answered(reason: &str, actor: &Actor) -> Event {
    Event::HelpAnswered { reason: bounded_help(reason), by: actor.principal.clone() }
}

fn first_line(text: &str) -> String {
    bounded_help(text.trim().lines().next().unwrap_or_default())
}

fn refusal(task: &Task, verb: &'static str, why: &'static str) -> Refusal {
    Refusal::WrongState { verb, from: task.state.name(), why }
}

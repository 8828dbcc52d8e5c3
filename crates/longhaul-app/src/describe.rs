//! A task's state in words, and what a person could do next: the one wording for every screen and verb.
//! What comes from an agent or a workspace is not made safe here; whoever prints it does that.

mod names;
mod result;
mod session;
mod usage;
mod used;

use longhaul_core::names::TaskName;
use longhaul_core::task::{
    Cause, Driver, Event, HelpReason, Limit, Reached, Role, State, Task, Verdict, Wait, Workspace,
};
use longhaul_core::time::Time;
use longhaul_store::Stored;

pub use names::Names;
pub use result::{DoubtFacts, ResultFacts};
pub use session::{delivered, is_degraded, network, opening};
pub use usage::{UnavailableAgent, Waiting, unavailable, waiting};
pub use used::{at_least, count, tokens};

/// The state of a task, for people.
pub fn state(task: &Task) -> String {
    state_of(&task.state, waiting(task).and_then(|waiting| waiting.agent).as_deref())
}

/// The same of a state alone, with the agent whose usage limit it waits for.
pub fn state_of(state: &State, limited: Option<&str>) -> String {
    if let (State::Waiting { until: Some(until), .. }, Some(agent)) = (state, limited) {
        return format!("waiting (usage limit of {agent}) until {}", until.rfc3339());
    }
    match state {
        State::Waiting { why, until: Some(until), .. } => format!("waiting ({why}) until {}", until.rfc3339()),
        State::Waiting { why, until: None, .. } => format!("waiting: {why}"),
        State::Stopped { reached, .. } => format!("stopped: {reached}"),
        State::NeedsHelp { reason, .. } => format!("needs you: {reason}"),
        State::Blocked { cause, .. } => format!("blocked: {cause}"),
        State::Held { person, .. } => format!("held by {person}, who works in the agent's conversation"),
        State::Tracked { help: Some(help), .. } => format!("needs you: {}", help.reason),
        State::Tracked { help: None, reported } => format!("tracked, last report at {}", reported.rfc3339()),
        State::Done { verdict } => format!("done, {verdict}"),
        State::Failed { reason: None } => "failed".to_owned(),
        State::Failed { reason: Some(reason) } => format!("failed: {reason}"),
        State::Cancelled { by, reason: None } => format!("cancelled by {by}"),
        State::Cancelled { by, reason: Some(reason) } => format!("cancelled by {by}: {reason}"),
        State::SettingUp { .. } => "running its setup".to_owned(),
        State::Queued
        | State::Preparing
        | State::Landing
        | State::Planning { .. }
        | State::Working { .. }
        | State::Verifying { .. }
        | State::Stopping { .. }
        | State::Paused => state.name().to_owned(),
    }
}

/// A tracked run that needs nobody, at this time: how old its last report is.
pub fn last_report(reported: Time, now: Time) -> String {
    format!("tracked, last report {} ago", longhaul_core::units::span(now.since(reported)))
}

/// A held task whose person is gone. It is released by the next operation that changes it, or by a worker.
pub fn abandoned(person: &str, name: &str) -> String {
    format!("held by {person}, who has left; `longhaul resume {name}` continues")
}

/// How to continue a task of `run-session` that no process carries out.
pub fn continue_after_runner(stored: &Stored) -> String {
    let name = &stored.task.submission.name;
    format!(
        "continue with `longhaul run-session --task-name {name} --continue`, or under a worker with `longhaul resume {name}`"
    )
}

/// What a person can do next.
pub fn next_command(stored: &Stored) -> String {
    let name = &stored.task.submission.name;
    match &stored.task.state {
        State::Paused if stored.task.submission.driver.is_runner() => continue_after_runner(stored),
        State::Held { .. } => "the task pauses when the agent's program ends".to_owned(),
        State::Paused => format!("continue with `longhaul resume {name}`"),
        State::Stopped { reached: Reached { limit: Limit::Usage, .. }, .. } => {
            format!(
                "continue with `longhaul resume {name}` when the limit is over, or now with `longhaul resume {name} --agent OTHER`"
            )
        }
        State::NeedsHelp { reason } => next_after_question(reason, name),
        State::Stopped { reached: Reached { limit, family: Some(above), family_name, .. }, .. }
            if *above != stored.task.id =>
        {
            let above = family_name.as_ref().map_or_else(|| above.to_string(), ToString::to_string);
            let flag = limit.flag();
            format!(
                "raise it with `longhaul edit {above} --{flag} MORE`, then continue with `longhaul resume {name}`; if that task is \
                 finished, continue with `longhaul resume {name} --{flag} MORE`"
            )
        }
        State::Stopped { reached, .. } => {
            format!("continue with `longhaul resume {name} --{} MORE`", reached.limit.flag())
        }
        State::Blocked { cause, .. } if cause.is_probed() => {
            "resumes automatically once enough memory and disk space are free".to_owned()
        }
        State::Blocked { cause: Cause::Program { .. }, .. } => {
            format!(
                "fix it, then run `longhaul resume {name}`; or continue with another agent: `longhaul resume {name} --agent NAME`"
            )
        }
        State::Blocked { .. } => format!("fix it, then run `longhaul resume {name}`"),
        State::Waiting { until: Some(until), .. } => format!("resumes automatically at {}", until.rfc3339()),
        State::Waiting { why: Wait::Landing(_), .. } => {
            "continues automatically once the other landing has ended".to_owned()
        }
        State::Waiting { until: None, .. } => {
            "starts automatically once that task is done and its checks have passed".to_owned()
        }
        State::Queued
        | State::Preparing
        | State::Landing
        | State::SettingUp { .. }
        | State::Planning { .. }
        | State::Working { .. }
        | State::Verifying { .. }
        | State::Stopping { .. } => format!("watch it with `longhaul logs -f {name}`"),
        State::Tracked { help: Some(_), .. } => {
            format!("answer with `longhaul resume {name} --reason \"what changed\"`; its program reads the answer")
        }
        State::Tracked { help: None, .. } => {
            format!("an outside program executes it; `longhaul cancel {name}` tells it to stop")
        }
        State::Done { .. } if can_land(&stored.task) => {
            format!("review it with `longhaul diff {name}`, land it with `longhaul land {name}`")
        }
        State::Done { .. } | State::Failed { .. } | State::Cancelled { .. } => {
            format!("`longhaul events {name}` shows its history, `longhaul report {name}` the full report")
        }
    }
}

/// What a person can do about a reason to need one.
fn next_after_question(reason: &HelpReason, name: &TaskName) -> String {
    match reason {
        HelpReason::UsageLimit { .. } | HelpReason::Exhausted { .. } => format!(
            "try again with `longhaul resume {name} --reason \"what changed\"`, add `--on-limit wait` to wait for the limit, \
             or `--agent OTHER` to switch agents"
        ),
        HelpReason::LimitTooLong { .. } => format!(
            "try again with `longhaul resume {name} --reason \"what changed\"`, add `--agent OTHER` to switch agents"
        ),
        HelpReason::CheckCannotRun { .. } => format!(
            "install the command, or change the checks with `longhaul edit {name} --check COMMAND`; then run `longhaul resume {name} \
             --reason \"what changed\"`"
        ),
        HelpReason::ReviewLanding { .. } => format!(
            "read it with `longhaul diff {name}`, then land it with `longhaul resume {name} --reason \"read it\"`, or `longhaul cancel {name}`"
        ),
        HelpReason::FailsOnTarget { .. } => format!(
            "fix the branch, run `longhaul cancel {name}` and land it again; `longhaul resume {name} --reason \"what changed\"` runs the same \
             checks once more"
        ),
        HelpReason::SetupFailed { .. } => format!(
            "read `longhaul logs {name}`, then run `longhaul resume {name} --reason \"what changed\"`; `--setup COMMAND` changes the \
             command, `--setup none` starts without it"
        ),
        HelpReason::Permission { .. } => format!(
            "do it yourself or allow it (`--sandbox`, or the agent's own configuration), then `longhaul resume {name} --reason \"what \
             changed\"`; `longhaul tell {name}` gives the next session other instructions"
        ),
        HelpReason::Asked { .. } => {
            format!("answer with `longhaul resume {name} --reason \"...\"`; the next session gets the answer")
        }
        HelpReason::KeepsFailing { .. }
        | HelpReason::NoProgress { .. }
        | HelpReason::NoPlan { .. }
        | HelpReason::AgentRefuses { .. }
        | HelpReason::VerificationFailed { .. }
        | HelpReason::AfterUnverified { .. } => {
            format!("read `longhaul logs {name}`, then run `longhaul resume {name} --reason \"what changed\"`")
        }
    }
}

/// Whether the task has work on a branch of its own.
fn can_land(task: &Task) -> bool {
    task.submission.follow_up.is_none() && task.workspace.as_ref().is_some_and(Workspace::is_worktree)
}

/// What a reader of the report could do next: as [`next_command`], and of a finished task what to do with the result.
pub fn next_step(stored: &Stored) -> String {
    let name = &stored.task.submission.name;
    match &stored.task.state {
        state if state.is_final() && stored.task.submission.driver == Driver::External => {
            "nothing more happens; what the program did was not checked by Longhaul".to_owned()
        }
        State::Done { verdict: Verdict::Verified { .. } } => {
            let land =
                if can_land(&stored.task) { format!(", land it with `longhaul land {name}`") } else { String::new() };
            format!("review the work with `longhaul diff {name}`{land}")
        }
        State::Done { verdict: Verdict::NotVerified { .. } } => {
            format!("review the work with `longhaul diff {name}`: the checks passed, but the result is not verified")
        }
        State::Done { verdict: Verdict::NoChecks } => format!(
            "review the work yourself, because nothing was checked; `longhaul retry {name} --check COMMAND` tries again with a check"
        ),
        State::Cancelled { .. } => format!("nothing more happens; `longhaul retry {name}` tries again as a new task"),
        _ => next_command(stored),
    }
}

/// Whether an event can explain a task's state; the others change something else.
pub fn explains_state(event: &Event) -> bool {
    event.role() != Role::Beside
}

/// Where the agent's plan and progress are.
pub fn task_directory(task: &Task) -> String {
    format!("{}/{}/{}", task.root(), longhaul_core::names::STATE_DIR, task.directory_name())
}

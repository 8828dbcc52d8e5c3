//! Who may do what: the one permission check, for every front end and for `decide`.
//!
//! Front ends ask before they start, with what they are about to do; `decide` asks again with the task and the input, so that no front end
//! can forget to. A session may read, submit child tasks, and report on its own task while it runs; somebody who may be an agent may only
//! read. On top of that, a caller needs the right for what it asks: a person at a shell has all rights, a program what it was given.

use super::{Actor, Command, Input, Refusal, ReleasedBy, Right, Rights, Scope, Task};

/// What somebody is about to do.
#[derive(Debug, Clone, Copy)]
pub enum Action<'a> {
    /// Read what the caller may see.
    Read,
    /// Read about every task of the home.
    ReadAll(&'static str),
    /// Submit a task; from a session, a child task.
    Submit(&'static str),
    /// Send a command to a task that is not known yet. `decide` asks again once it is.
    Command(&'static str),
    /// Report on a run that is not known yet: from a session, on its own task. `decide` asks again once it is.
    Report(&'static str),
    /// Send an input to this task.
    Input(&'a Task, &'a Input),
    /// Change the home, the machine or what is trusted.
    Manage(&'static str),
}

impl Action<'_> {
    /// The verb, for the refusal.
    pub fn verb(&self) -> &'static str {
        match self {
            Action::Read => "read",
            Action::ReadAll(verb)
            | Action::Submit(verb)
            | Action::Command(verb)
            | Action::Report(verb)
            | Action::Manage(verb) => verb,
            Action::Input(_, input) => input.name(),
        }
    }
}

/// What an action needs besides a scope that allows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// The right.
    pub right: Right,
    /// What it is needed for, for the refusal.
    pub verb: &'static str,
}

/// Whether this actor may do this with these rights.
pub fn permit_with(actor: &Actor, rights: Rights, need: Need, action: &Action<'_>) -> Result<(), Refusal> {
    permit(actor, action)?;
    let Need { right, verb } = need;
    if rights.include(right) { Ok(()) } else { Err(Refusal::Right { verb, right: right.word() }) }
}

/// Whether this actor may do this, whatever its rights.
pub fn permit(actor: &Actor, action: &Action<'_>) -> Result<(), Refusal> {
    let verb = action.verb();
    if is_allowed(actor, action) {
        return Ok(());
    }
    match actor.scope {
        Scope::Unknown => Err(Refusal::UnknownCaller { verb }),
        Scope::Person | Scope::Worker | Scope::Workspace | Scope::Session => {
            Err(Refusal::Scope { principal: actor.principal.clone(), verb })
        }
    }
}

fn is_allowed(actor: &Actor, action: &Action<'_>) -> bool {
    match (actor.scope, action) {
        (Scope::Person, Action::Input(_, Input::Observation(_))) => false,
        (Scope::Person, _) => true,
        (Scope::Session, Action::Read | Action::Submit(_) | Action::Report(_)) => true,
        (Scope::Session, Action::Input(task, Input::Command(Command::Track { .. }))) => is_its_session(task, actor),
        (Scope::Session, Action::ReadAll(_) | Action::Command(_) | Action::Input(..) | Action::Manage(_)) => false,
        (Scope::Unknown, Action::Read | Action::ReadAll(_)) => true,
        (
            Scope::Unknown,
            Action::Submit(_) | Action::Command(_) | Action::Report(_) | Action::Input(..) | Action::Manage(_),
        ) => false,
        (Scope::Worker | Scope::Workspace, Action::Input(_, Input::Observation(_))) => true,
        (Scope::Worker, Action::Input(task, Input::Command(command))) => worker_may(task, command),
        (Scope::Worker | Scope::Workspace, _) => false,
    }
}

/// Whether the actor is the agent that works on the task right now. A check runs what an agent wrote, but is no agent.
fn is_its_session(task: &Task, actor: &Actor) -> bool {
    task.state.session().is_some_and(|live| live.purpose.is_agent() && actor.session == Some(live.id))
}

/// Commands come from people. A worker gives back a task whose person is gone, because it does not own a held task and so has no
/// observation to make; and it leaves a runner's task, whose session it has ended, to the next invocation.
fn worker_may(task: &Task, command: &Command) -> bool {
    match command {
        Command::Release { how } => *how == ReleasedBy::Gone,
        Command::Pause { .. } => !task.submission.driver.conduct().any_worker,
        Command::Resume { .. }
        | Command::Cancel { .. }
        | Command::Edit { .. }
        | Command::Tell { .. }
        | Command::AcceptPlan { .. }
        | Command::TakeOver
        | Command::Drive { .. }
        | Command::Track { .. }
        | Command::Force { .. } => false,
    }
}

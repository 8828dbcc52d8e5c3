//! A person takes over a task's conversation: `find` checks whether they can, `begin` stops its session and holds the task, `end` releases it.
//!
//! The hold is taken before the task is asked for, and the program that the front end starts inherits it: whatever dies, nobody starts a
//! session while somebody may be in the conversation. What follows is always a pause. Nothing here starts or ends the program.

use std::future::Future;

use longhaul_core::task::{Command, State, StopMode, Then, decide};
use longhaul_keeper::fail_point;
use longhaul_store::Stored;

use crate::app::Call;
use crate::change::ChangeError;
use crate::error::{AppError, ErrorKind};
use crate::hold::{Hold, Interface, NoInterface, in_conversation, interface_of, release};
use crate::send_command::send_command;
use crate::session::history::{recent, sessions_of};
use crate::stop::{PATIENCE, not_stopped, stopped};
use crate::{blocking, lookup, text, until};

/// A task that is in a person's hands.
pub struct Takeover {
    /// The task.
    pub stored: Stored,
    /// What to start, and where.
    pub interface: Interface,
    /// The program has to inherit it.
    pub hold: Hold,
}

/// What came of asking for a task.
pub enum Begun {
    /// It is the person's.
    Held(Box<Takeover>),
    /// Someone else wanted something different meanwhile; this is the task now.
    Overtaken(Box<Stored>),
}

/// How a takeover ended.
pub struct Ended {
    /// The task.
    pub stored: Stored,
    /// Whether the task was still the person's.
    pub released: bool,
    /// Processes that were started in the conversation and still run. They may be servers that the person wants.
    pub left: Vec<u32>,
}

/// The task that is meant. Refused to somebody who may not take it over, or would find nothing to work in: nothing is stopped for them.
pub async fn find(call: &Call, wanted: Option<&str>) -> Result<Stored, AppError> {
    let stored = lookup::find(call, wanted).await?;
    decide(&stored.task, &Command::TakeOver.into(), &call.caller.actor, call.now())?;
    interface(call, &stored).await?;
    Ok(stored)
}

/// Stops the session of a task and holds the task; `stopping` is called if that takes a while, and `interrupted` ends the wait.
pub async fn begin(
    call: &Call,
    stored: Stored,
    interrupted: impl Future<Output = ()> + Send,
    stopping: impl FnOnce() + Send,
) -> Result<Begun, AppError> {
    let hold = take(call, &stored).await?;
    fail_point::reach("takeover.locked");
    match hold_task(call, &stored, interrupted, stopping).await {
        Ok(Some((stored, interface))) => Ok(Begun::Held(Box::new(Takeover { stored, interface, hold }))),
        failed => {
            // A task that is not held, for whatever reason, is not changed by this.
            release(call.store()?, call.app.system.clock, stored.task.id, hold, &call.caller.actor).await.ok();
            failed?;
            Ok(Begun::Overtaken(Box::new(load(call, &stored).await?)))
        }
    }
}

/// Releases a task after its program has ended.
pub async fn end(call: &Call, takeover: Takeover) -> Result<Ended, AppError> {
    let Takeover { stored, hold, .. } = takeover;
    let left = || in_conversation(stored.task.id).unwrap_or_default().iter().map(|process| process.pid).collect();
    match release(call.store()?, call.app.system.clock, stored.task.id, hold, &call.caller.actor).await {
        Ok(stored) => Ok(Ended { left: left(), stored, released: true }),
        // Cancelled meanwhile.
        Err(ChangeError::Refused(_)) => Ok(Ended { left: left(), stored: load(call, &stored).await?, released: false }),
        Err(error) => Err(error.into()),
    }
}

async fn take(call: &Call, stored: &Stored) -> Result<Hold, AppError> {
    let (home, task) = (call.home().clone(), stored.task.id);
    let hold = blocking(move || Hold::take(&home, task))
        .await
        .map_err(|error| AppError::new(ErrorKind::Failure, "cannot take over the task").because(&error))?;
    hold.ok_or_else(|| {
        AppError::new(ErrorKind::Conflict, "someone else is taking over this task").hint("`longhaul show` names them")
    })
}

/// Stops the session and waits for its observed end; none if someone else changed the task meanwhile.
async fn hold_task(
    call: &Call,
    stored: &Stored,
    interrupted: impl Future<Output = ()> + Send,
    stopping: impl FnOnce() + Send,
) -> Result<Option<(Stored, Interface)>, AppError> {
    let asked = send_command(call, stored, Command::TakeOver).await?;
    fail_point::reach("takeover.asked");
    if !stopped(&asked.task) {
        stopping();
    }
    let held = tokio::select! {
        held = until(call, stored.task.id, PATIENCE, stopped) => {
            held?.ok_or_else(|| not_stopped(call, &asked).hint("the task pauses once its session has ended; then try again"))
        }
        () = interrupted => {
            Err(AppError::new(ErrorKind::Interrupted, "interrupted: the task pauses once its session has ended"))
        }
    };
    let held = match held {
        Ok(held) => held,
        Err(error) => {
            pause_instead(call, stored).await?;
            return Err(error);
        }
    };
    if !held.task.state.is_held() {
        return Ok(None);
    }
    fail_point::reach("takeover.held");
    let interface = interface(call, &held).await?;
    Ok(Some((held, interface)))
}

/// Nobody will be in the conversation when the session has ended. What somebody else wants of the task meanwhile stays.
async fn pause_instead(call: &Call, stored: &Stored) -> Result<(), AppError> {
    let now = load(call, stored).await?;
    if !matches!(now.task.state, State::Stopping { then: Then::Hold { .. }, .. }) {
        return Ok(());
    }
    match send_command(call, &now, Command::Pause { mode: StopMode::Graceful }).await {
        // Held in this very moment: releasing it is a pause too.
        Err(error) if error.kind == ErrorKind::Conflict => Ok(()),
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

async fn load(call: &Call, stored: &Stored) -> Result<Stored, AppError> {
    Ok(call.store()?.load(stored.task.id).await?.ok_or(ChangeError::NotFound)?)
}

async fn interface(call: &Call, stored: &Stored) -> Result<Interface, AppError> {
    let history = sessions_of(&recent(call, stored.task.id).await?);
    interface_of(call.home(), &stored.task, &history, &call.app.system.environment)
        .map_err(|error| nothing(stored, &error))
}

fn nothing(stored: &Stored, error: &NoInterface) -> AppError {
    let name = &stored.task.submission.name;
    let hint = match error {
        NoInterface::NoConversation => format!("start a session with `longhaul resume {name}`, then take it over"),
        NoInterface::NotReported => "try again in a moment".to_owned(),
        NoInterface::None { conversation, .. } => format!(
            "`longhaul pause {name}`, work in `{}` yourself, then `longhaul resume {name}`; the conversation is `{conversation}`",
            stored.task.cwd()
        ),
        NoInterface::NotFound { .. } | NoInterface::Unknown(_) => "`longhaul agents` shows what is missing".to_owned(),
        NoInterface::NoDirectory { .. } => format!("`longhaul show {name}` shows where it worked"),
    };
    AppError::new(ErrorKind::Conflict, format!("task {name} cannot be taken over"))
        .because(error)
        .hint(text::safe(&hint))
}

//! How a verb changes a task: commit, then see that somebody lives who acts on it.
//!
//! A task that nobody owns and that becomes due is handed to a worker together with the input, so this shell's environment counts.

use crate::{Answer, ChangeError, Handover, change, redact_intake};
use longhaul_core::task::{Command, decide};
use longhaul_store::Stored;

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::hand_over::hand_over;
use crate::processes::Reply;
use crate::tag::tag;
use crate::{ownership, text};

/// A reason as it is stored with a task: what a person typed, without secret values of this shell's environment.
pub fn reason(call: &Call, text: Option<&String>, stored: &Stored) -> Option<String> {
    text.map(|text| redact_intake(&call.app.system.environment, text, &stored.task.submission.secret_names).0)
}

/// Changes a task by one command.
pub async fn send_command(call: &Call, stored: &Stored, command: Command) -> Result<Stored, AppError> {
    let actor = call.caller.actor.clone();
    if becomes_due(call, stored, &command) && actor.session.is_none() {
        let handover = Handover::Command { task: stored.task.id, command, actor, key: tag::<16>() };
        return handed_over(call, stored, &handover).await;
    }
    let changed = change(call.store()?, stored.task.id, command, &actor, None, None).await?;
    ownership::ensure_worker(call, &changed).await?;
    Ok(changed)
}

fn becomes_due(call: &Call, stored: &Stored, command: &Command) -> bool {
    let events = decide(&stored.task, &command.clone().into(), &call.caller.actor, call.now()).unwrap_or_default();
    let after = stored.task.after(&events, call.now());
    stored.owner.is_none() && after.is_ok_and(|task| task.state.wants_owner())
}

async fn handed_over(call: &Call, stored: &Stored, handover: &Handover) -> Result<Stored, AppError> {
    let id = stored.task.id;
    match hand_over(call, handover, id, Some(stored.task.version)).await? {
        Reply::Answer(Answer::Accepted { .. }) => {}
        Reply::Answer(Answer::Refused { kind, message }) => {
            return Err(AppError::new(kind.into(), text::safe(&message)));
        }
        Reply::Silence => {
            let now = call.store()?.load(id).await?.ok_or(ChangeError::NotFound)?;
            if now.task.version == stored.task.version {
                return Err(AppError::new(
                    ErrorKind::Failure,
                    "the worker ended without an answer, and nothing was changed",
                )
                .hint("worker.log in Longhaul's home may say why"));
            }
        }
    }
    Ok(call.store()?.load(id).await?.ok_or(ChangeError::NotFound)?)
}

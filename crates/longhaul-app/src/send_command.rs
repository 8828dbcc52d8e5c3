//! How an operation changes a task: commit, then make sure that a worker acts on it.
//!
//! A task that nobody owns and that becomes due is handed to a worker together with the input, so this shell's environment counts.

use longhaul_core::task::{Actor, Command, decide};
use longhaul_store::{Committed, Key, Stored};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::handover::{Answer, Handover, deliver};
use crate::processes::Reply;
use crate::tag::tag;
use crate::{ChangeError, change, ownership, redact_intake, text};

/// A reason as it is stored with a task: what a person typed, without secret values of this shell's environment.
pub fn reason(call: &Call, text: Option<&String>, stored: &Stored) -> Option<String> {
    text.map(|text| redact_intake(&call.app.system.environment, text, &stored.task.submission.secret_names).0)
}

/// Changes a task by one command.
pub async fn send_command(call: &Call, stored: &Stored, command: Command) -> Result<Stored, AppError> {
    Ok(send_keyed(call, stored, command, None).await?.stored)
}

/// The same under the key of the request.
pub async fn send_keyed(
    call: &Call,
    stored: &Stored,
    command: Command,
    key: Option<Key>,
) -> Result<Committed, AppError> {
    let (task, actor) = (stored.task.id, call.caller.actor.clone());
    if becomes_due(call, stored, &command) && actor.session.is_none() {
        let key = key.unwrap_or_else(|| Key::new(tag::<16>(), "command", &task.to_string()));
        return hand_over(call, stored, command, &actor, key).await;
    }
    let changed = change(call.store()?, call.app.system.clock, task, command, &actor, key, None).await?;
    ownership::ensure_worker(call, &changed.stored).await?;
    Ok(changed)
}

fn becomes_due(call: &Call, stored: &Stored, command: &Command) -> bool {
    let events = decide(&stored.task, &command.clone().into(), &call.caller.actor, call.now()).unwrap_or_default();
    let after = stored.task.after(&events, call.now());
    stored.owner.is_none() && after.is_ok_and(|task| task.state.wants_owner())
}

async fn hand_over(
    call: &Call,
    stored: &Stored,
    command: Command,
    actor: &Actor,
    key: Key,
) -> Result<Committed, AppError> {
    let id = stored.task.id;
    let command = Box::new(command);
    let handover = Handover::Command {
        task: id,
        command,
        actor: actor.clone(),
        tenant: call.caller.tenant.clone(),
        key: key.clone(),
    };
    let repeated = match deliver(call, &handover).await? {
        Reply::Answer(Answer::Accepted { repeated, .. }) => repeated,
        Reply::Answer(Answer::Refused { kind, message }) => {
            return Err(AppError::new(kind.into(), text::safe(&message)));
        }
        Reply::Silence if handover.is_committed(call.store()?).await? => false,
        Reply::Silence => {
            return Err(AppError::new(ErrorKind::Failure, "the worker exited without an answer; nothing was changed")
                .hint("see worker.log in Longhaul's home"));
        }
    };
    let stored = call.store()?.load(id).await?.ok_or(ChangeError::NotFound)?;
    Ok(Committed { stored, repeated })
}

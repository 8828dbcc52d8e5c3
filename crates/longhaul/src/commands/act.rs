//! How a verb changes a task: commit, then see that somebody lives who acts on it.
//!
//! A task that nobody owns and that becomes due is handed to a worker together with the input, so this shell's environment counts.

use longhaul_app::{Answer, ChangeError, Handover, change, now, redact_intake};
use longhaul_core::task::{Command, decide};
use longhaul_store::Stored;

use super::Opened;
use crate::error::{CliError, code_of};
use crate::exit::Code;
use crate::start::{Reply, hand_over};
use crate::tag::tag;
use crate::{out, owner, place};

/// A reason as it is stored with a task: what a person typed, without secret values of this shell's environment.
pub(crate) fn reason(text: Option<&String>, stored: &Stored) -> Option<String> {
    text.map(|text| redact_intake(text, &stored.task.submission.secret_names).0)
}

/// Changes a task by one command.
pub(crate) async fn act(opened: &Opened, stored: &Stored, command: Command) -> Result<Stored, CliError> {
    let actor = place::actor();
    if becomes_due(stored, &command) && actor.session.is_none() {
        let handover = Handover::Command { task: stored.task.id, command, actor, key: tag::<16>() };
        return handed_over(opened, stored, &handover).await;
    }
    let changed = change(&*opened.store, stored.task.id, command, &actor, None, None).await?;
    owner::ensure_worker(opened, &changed.stored).await?;
    Ok(changed.stored)
}

fn becomes_due(stored: &Stored, command: &Command) -> bool {
    let events = decide(&stored.task, &command.clone().into(), &place::actor(), now()).unwrap_or_default();
    let after = events.iter().try_fold(stored.task.clone(), |task, event| task.apply(event, now()));
    stored.owner.is_none() && after.is_ok_and(|task| task.state.wants_owner())
}

async fn handed_over(opened: &Opened, stored: &Stored, handover: &Handover) -> Result<Stored, CliError> {
    let id = stored.task.id;
    let is_stored = async || {
        let now = opened.store.load(id).await?;
        Ok(now.is_some_and(|now| now.task.version != stored.task.version))
    };
    match hand_over(opened, handover, is_stored).await? {
        Reply::Answer(Answer::Accepted { .. }) => {}
        Reply::Answer(Answer::Refused { kind, message }) => {
            return Err(CliError::new(code_of(kind), out::safe(&message)));
        }
        Reply::Silence => {
            let now = opened.store.load(id).await?.ok_or(ChangeError::NotFound)?;
            if now.task.version == stored.task.version {
                return Err(CliError::new(
                    Code::Failure,
                    "the worker ended without an answer, and nothing was changed",
                )
                .hint("worker.log in Longhaul's home may say why"));
            }
        }
    }
    Ok(opened.store.load(id).await?.ok_or(ChangeError::NotFound)?)
}

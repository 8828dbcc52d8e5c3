//! One try to deliver one notice: nobody else makes it at the same time, and what came of it is stored.
//!
//! ```text
//! pending -> claim (tries + 1, due again when the claim runs out) -> deliver -> settle: delivered, again later, given back, or failed
//! ```
//! At least once: whoever dies in between leaves a notice that is due again. Nothing here can change the task.

use std::sync::Arc;
use std::time::Duration;

use longhaul_core::causes::with_causes;
use longhaul_core::task::{Target, Task, tells_why};
use longhaul_core::time::Time;
use longhaul_keeper::{Environment, fail_point};
use longhaul_store::{Notice, Settled, Store, StoreError, WholeStore};

use super::message::{Message, Reason};
use super::webhook::WebhookError;
use super::{Undelivered, deliver};
use crate::worker::Context;
use longhaul_app::now;

/// So many tries each notice gets; where one try is enough, only tries that ended in a crash count.
const TRIES: u32 = 5;
/// A server that did not take a message is asked again after this, then after twice as long, and so on.
const BACKOFF: Duration = Duration::from_secs(1);
/// A claim outlasts the try by this, so that nobody else sets out while its end is being stored.
const GRACE: Duration = Duration::from_secs(5);
/// The least and the most one try may take, whatever a submission says.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(3_600);
/// For so long a notice waits for a process that has its variables; then it is as old as no news.
const WAITS_FOR_VARIABLE: Duration = Duration::from_secs(3_600);
/// So many events are looked at in one read for the reason of a notice.
const PAGE: u32 = 50;

/// What came of a try, for whoever made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tried {
    /// Delivered, given up, or somebody else's: nothing is left to do.
    Over,
    /// Not delivered, and due again later.
    Again {
        /// The tries it has had.
        tries: u32,
    },
    /// This process has not got a variable that it takes. Another one may have it.
    Unable,
}

/// Tries once; none when the store was in the way, which is reported.
pub(super) async fn attempt(context: Arc<Context>, notice: Notice, environment: Environment) -> (u64, Option<Tried>) {
    fail_point::reach("worker.notice_due");
    let tried = try_once(&context, &notice, &environment).await;
    if let Err(error) = &tried {
        context.report(&format!("notice of task {}: {error}", notice.task));
    }
    (notice.id, tried.ok())
}

/// How long one try may take.
pub(super) fn patience(task: &Task) -> Duration {
    Duration::from_millis(task.submission.notify.timeout_ms).clamp(SHORTEST, LONGEST)
}

/// Whether nobody waits any longer for a process that has the notice's variables.
pub(super) fn is_past_waiting(notice: &Notice, at: Time) -> bool {
    notice.created.after(WAITS_FOR_VARIABLE) <= at
}

async fn try_once(context: &Context, notice: &Notice, environment: &Environment) -> Result<Tried, StoreError> {
    let store = &*context.store;
    if notice.tries >= TRIES {
        let error =
            notice.error.clone().unwrap_or_else(|| "every worker that tried to deliver it died first".to_owned());
        return give_up(store, notice, notice.tries, error).await;
    }
    let task = match store.load(notice.task).await {
        Ok(Some(stored)) => stored.task,
        Ok(None) => return Ok(Tried::Over),
        Err(error) => return unreadable(store, notice, error).await,
    };
    let Some(target) = task.submission.notify.targets.get(notice.target as usize) else {
        return give_up(store, notice, notice.tries, "the task has no such target".to_owned()).await;
    };
    let within = patience(&task);
    if !store.claim_notice(notice.id, notice.tries, now().after(within + GRACE)).await? {
        return Ok(Tried::Over);
    }
    fail_point::reach("worker.notice_claimed");
    let message = Message::new(notice, &task, reason(store, notice).await?.as_ref(), environment);
    let delivered = deliver(&context.home, target, &message, within).await;
    fail_point::reach("worker.notice_sent");
    let (settled, tried) = match delivered {
        Ok(()) => (Settled::Delivered, Tried::Over),
        Err(undelivered) => {
            let error = environment.mask(&with_causes(&undelivered), &task.submission.secret_names).0;
            context.report(&format!("notice of task {} by {}: {error}", notice.task, target.channel()));
            after_failure(notice, target, &undelivered, error)
        }
    };
    store.settle_notice(notice.id, notice.tries + 1, settled).await?;
    Ok(tried)
}

/// What cannot be read counts as a try like any other, so that the tries end.
async fn unreadable(store: &dyn WholeStore, notice: &Notice, error: StoreError) -> Result<Tried, StoreError> {
    if error.is_transient() || !store.claim_notice(notice.id, notice.tries, now().after(GRACE)).await? {
        return Err(error);
    }
    if matches!(error, StoreError::Damaged { .. }) {
        return give_up(store, notice, notice.tries + 1, error.to_string()).await;
    }
    Err(error)
}

async fn give_up(store: &dyn WholeStore, notice: &Notice, tries: u32, error: String) -> Result<Tried, StoreError> {
    store.settle_notice(notice.id, tries, Settled::Failed { error }).await?;
    Ok(Tried::Over)
}

/// A server may be back in a moment, and another process may have a variable; what else runs here fails for a reason that stays.
fn after_failure(notice: &Notice, target: &Target, undelivered: &Undelivered, error: String) -> (Settled, Tried) {
    let (at, tries) = (now(), notice.tries + 1);
    if matches!(undelivered, Undelivered::Webhook(WebhookError::Unset { .. })) {
        return match is_past_waiting(notice, at) {
            true => (Settled::Failed { error }, Tried::Over),
            false => (Settled::GivenBack { at, error }, Tried::Unable),
        };
    }
    match target {
        Target::Webhook { .. } if tries < TRIES => {
            let wait = BACKOFF * 2_u32.pow(tries.saturating_sub(1).min(TRIES));
            (Settled::Again { at: at.after(wait), error }, Tried::Again { tries })
        }
        Target::Webhook { .. } | Target::Command { .. } | Target::File { .. } | Target::Desktop => {
            (Settled::Failed { error }, Tried::Over)
        }
    }
}

/// The event that a notice is about, looked for page by page backwards.
async fn reason(store: &dyn Store, notice: &Notice) -> Result<Option<Reason>, StoreError> {
    let mut end = notice.seq;
    while end > 0 {
        let start = end.saturating_sub(PAGE.into());
        let page = store.events(notice.task, start, PAGE).await?;
        let found = page.into_iter().rev().find(|stored| stored.seq <= end && tells_why(&stored.event));
        if let Some(stored) = found {
            return Ok(Some(Reason { at: stored.at, event: stored.event }));
        }
        end = start;
    }
    Ok(None)
}

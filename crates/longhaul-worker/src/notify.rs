//! The sender: looks into the outbox, sets out to deliver what is due, and keeps what came of it. Beside the hubs in every worker, and at
//! the end of an invocation of the runner.
//!
//! ```text
//! pending -> claim (tries + 1, due again when the claim runs out) -> deliver -> settle: delivered, again later, or failed
//! ```
//! At least once: whoever dies in between leaves a notice that is due again. Nothing here can change what it tells of.

use std::sync::Arc;
use std::time::Duration;

use longhaul_core::causes::with_causes;
use longhaul_core::task::{Target, Task, tells_why};
use longhaul_keeper::fail_point;
use longhaul_store::{Notice, Settled, Store, StoreError};
use tokio::task::JoinSet;

use crate::clock::now;
use crate::effects::notify::{Message, Reason, deliver};
use crate::intake::redact_intake;
use crate::worker::Context;

/// So many notices are delivered at once.
const AT_ONCE: usize = 16;
/// So many tries each notice gets; where one try is enough, only those count that nobody lived to tell of.
const TRIES: u32 = 5;
/// A server that did not take a message is asked again after this, then after twice as long, and so on.
const BACKOFF: Duration = Duration::from_secs(1);
/// A claim outlasts the try by this, so that nobody else sets out while its end is being stored.
const GRACE: Duration = Duration::from_secs(5);
/// The least and the most one try may take, whatever a submission says.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(3_600);
/// Between two looks at one task's notices.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// So many events are looked at in one read for the reason of a notice.
const PAGE: u32 = 50;

/// Who delivers for one worker.
pub(crate) struct Sender {
    context: Arc<Context>,
    running: JoinSet<()>,
}

impl Sender {
    pub(crate) fn new(context: Arc<Context>) -> Sender {
        Sender { context, running: JoinSet::new() }
    }

    /// Sets out to deliver what is due. True while anything of this home is to be delivered, now or later: each has only so many tries.
    pub(crate) async fn round(&mut self) -> Result<bool, StoreError> {
        while self.running.try_join_next().is_some() {}
        let pending = match self.context.store.pending_notices().await {
            Ok(pending) => pending,
            Err(error) if error.passes() => return Ok(true),
            Err(error) => return Err(error),
        };
        let room = AT_ONCE.saturating_sub(self.running.len());
        for notice in pending.iter().filter(|notice| notice.next_at <= now()).take(room) {
            self.running.spawn(attempt(Arc::clone(&self.context), notice.clone()));
        }
        Ok(!pending.is_empty())
    }
}

/// Delivers the notices of one task, for as long as one try may take; what is left then is another worker's.
pub(crate) async fn deliver_of(context: &Arc<Context>, task: &Task) {
    if task.submission.notify.is_empty() {
        return;
    }
    let all = async {
        while let Some(next) = next_of(context, task).await {
            if let Ok(wait @ 1..) = u64::try_from(next.next_at.0 - now().0) {
                tokio::time::sleep(Duration::from_micros(wait)).await;
            }
            attempt(Arc::clone(context), next).await;
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    tokio::time::timeout(patience(task) + GRACE, all).await.ok();
}

async fn next_of(context: &Context, task: &Task) -> Option<Notice> {
    let pending = context.store.pending_notices().await.ok()?;
    pending.into_iter().find(|notice| notice.task == task.id)
}

/// One try: nobody else makes it at the same time, and what came of it is stored.
async fn attempt(context: Arc<Context>, notice: Notice) {
    fail_point::reach("worker.notice_due");
    if let Err(error) = try_once(&context, &notice).await {
        context.report(&format!("notice of task {}: {error}", notice.task));
    }
}

async fn try_once(context: &Context, notice: &Notice) -> Result<(), StoreError> {
    let store = &*context.store;
    let Some(task) = store.load(notice.task).await?.map(|stored| stored.task) else { return Ok(()) };
    let (id, target) = (notice.id, task.submission.notify.targets.get(notice.target as usize));
    let (Some(target), ..TRIES) = (target, notice.tries) else {
        let error = notice.error.clone().unwrap_or_else(|| "nobody who set out to deliver it lived to tell".to_owned());
        store.settle_notice(id, notice.tries, Settled::Failed { error }).await?;
        return Ok(());
    };
    let within = patience(&task);
    if !store.claim_notice(id, notice.tries, now().after(within + GRACE)).await? {
        return Ok(());
    }
    fail_point::reach("worker.notice_claimed");
    let message = Message::new(notice, &task, reason(store, notice).await?.as_ref());
    let delivered = deliver(&context.home, target, &message, within).await;
    fail_point::reach("worker.notice_sent");
    let tries = notice.tries + 1;
    let settled = match delivered {
        Ok(()) => Settled::Delivered,
        Err(error) => {
            let error = redact_intake(&with_causes(&error), &task.submission.secret_names).0;
            context.report(&format!("notice of task {} by {}: {error}", notice.task, target.channel()));
            after_failure(target, tries, error)
        }
    };
    store.settle_notice(id, tries, settled).await.map(drop)
}

/// A server may be back in a moment; what runs here fails for a reason that stays.
fn after_failure(target: &Target, tries: u32, error: String) -> Settled {
    match target {
        Target::Webhook { .. } if tries < TRIES => {
            let wait = BACKOFF * 2_u32.pow(tries.saturating_sub(1).min(TRIES));
            Settled::Again { at: now().after(wait), error }
        }
        Target::Webhook { .. } | Target::Command { .. } | Target::File { .. } | Target::Desktop | Target::OpenClaw => {
            Settled::Failed { error }
        }
    }
}

fn patience(task: &Task) -> Duration {
    Duration::from_millis(task.submission.notify.timeout_ms).clamp(SHORTEST, LONGEST)
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

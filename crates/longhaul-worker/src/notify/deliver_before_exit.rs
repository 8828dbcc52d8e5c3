//! What the runner delivers before it exits: the notices of its own task, itself, for as long as one try may take.
//! What is left then, and what somebody else has set out to deliver, is another worker's; that is never waited for.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::task::Task;
use longhaul_core::time::Time;
use longhaul_store::{Changes, Notice};
use tokio::task::JoinSet;

use super::attempt::{Tried, attempt, patience};
use crate::worker::Context;
use longhaul_app::now;

/// What a try that took all of its time may take to store its end.
const TO_STORE: Duration = Duration::from_secs(2);

/// Delivers the notices of one task, for as long as one try may take; what is left then is another worker's.
pub(crate) async fn deliver_of(context: &Arc<Context>, task: &Task) {
    if task.submission.notify.is_empty() {
        return;
    }
    if let Ok(changes) = context.store.changes() {
        let all = Own::new(context, task).deliver(changes);
        tokio::time::timeout(patience(task) + TO_STORE, all).await.ok();
    }
}

/// The notices that this process sets out to deliver.
struct Own<'a> {
    context: &'a Arc<Context>,
    task: &'a Task,
    /// With the tries they had then: nothing is tried again before its last try has counted.
    set_out: HashSet<(u64, u32)>,
    /// Those that are to be tried again, with the tries they have.
    again: HashMap<u64, u32>,
    running: JoinSet<(u64, Option<Tried>)>,
}

impl<'a> Own<'a> {
    fn new(context: &'a Arc<Context>, task: &'a Task) -> Own<'a> {
        Own { context, task, set_out: HashSet::new(), again: HashMap::new(), running: JoinSet::new() }
    }

    async fn deliver(mut self, mut changes: Changes) {
        while let Ok(pending) = self.context.store.pending_notices().await {
            let pending: Vec<Notice> = pending.into_iter().filter(|notice| notice.task == self.task.id).collect();
            self.start_what_is_due(&pending);
            let next = self.next(&pending);
            if self.running.is_empty() && next.is_none() {
                return;
            }
            let wait = next.map_or(Duration::MAX, |next| next.since(now()));
            tokio::select! {
                Some(Ok((id, tried))) = self.running.join_next() => self.heard(id, tried),
                () = changes.rung() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    fn start_what_is_due(&mut self, pending: &[Notice]) {
        for notice in pending.iter().filter(|notice| notice.next_at <= now()) {
            if self.set_out.insert((notice.id, notice.tries)) {
                self.running.spawn(attempt(
                    Arc::clone(self.context),
                    notice.clone(),
                    self.context.environments.own().clone(),
                ));
            }
        }
    }

    /// When the next of those is due that this process has tried last.
    fn next(&self, pending: &[Notice]) -> Option<Time> {
        let waiting = |notice: &&Notice| {
            let is_last = self.again.get(&notice.id) == Some(&notice.tries);
            is_last && !self.set_out.contains(&(notice.id, notice.tries))
        };
        pending.iter().filter(waiting).map(|notice| notice.next_at).min()
    }

    fn heard(&mut self, id: u64, tried: Option<Tried>) {
        if let Some(Tried::Again { tries }) = tried {
            self.again.insert(id, tries);
        }
    }
}

//! Who delivers for one worker: looks into the outbox at every round and sets out to deliver what is due and this process's to take.
//! Whoever carried a task goes first, because its environment is the one that the person meant.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::time::Time;
use longhaul_store::{Notice, StoreError};
use tokio::task::{Id, JoinError, JoinSet};

use super::attempt::{Tried, attempt, is_past_waiting};
use crate::worker::Context;
use longhaul_app::now;
use longhaul_keeper::Environment;

/// So many notices are delivered at once.
const AT_ONCE: usize = 16;
/// Only when a notice has been due for this long it is a stranger's too: whoever carried the task, if it lives, looks each second, and has
/// the variables and the PATH of the shell where the task was submitted, which a worker of the service does not have.
const CARRIER_FIRST: Duration = Duration::from_secs(10);

/// Who delivers for one worker.
pub(crate) struct Sender {
    context: Arc<Context>,
    running: JoinSet<(u64, Option<Tried>)>,
    under_way: HashMap<Id, u64>,
    /// What this process has not got the variables for. It never gets them.
    unable: HashSet<u64>,
}

impl Sender {
    pub(crate) fn new(context: Arc<Context>) -> Sender {
        Sender { context, running: JoinSet::new(), under_way: HashMap::new(), unable: HashSet::new() }
    }

    /// Sets out to deliver what is due, given what this process has carried. True while anything of this home is to be delivered that
    /// this process can deliver, now or later: each has only so many tries. What it does not carry any more and has nothing to tell of
    /// is forgotten.
    pub(crate) async fn round(
        &mut self,
        carried: &mut HashMap<TaskId, Environment>,
        is_carried_now: impl Fn(TaskId) -> bool,
    ) -> Result<bool, StoreError> {
        while let Some(ended) = self.running.try_join_next_with_id() {
            self.heard(ended);
        }
        let pending = match self.context.store.pending_notices().await {
            Ok(pending) => pending,
            Err(error) if error.is_transient() => return Ok(true),
            Err(error) => return Err(error),
        };
        carried.retain(|task, _| is_carried_now(*task) || pending.iter().any(|notice| notice.task == *task));
        let (at, room) = (now(), AT_ONCE.saturating_sub(self.running.len()));
        let due: Vec<&Notice> = pending.iter().filter(|notice| self.takes(notice, carried, at)).take(room).collect();
        for notice in due {
            let environment = carried.get(&notice.task).unwrap_or(self.context.environments.own()).clone();
            let started = self.running.spawn(attempt(Arc::clone(&self.context), notice.clone(), environment));
            self.under_way.insert(started.id(), notice.id);
        }
        Ok(pending.iter().any(|notice| !self.unable.contains(&notice.id)))
    }

    fn heard(&mut self, ended: Result<(Id, (u64, Option<Tried>)), JoinError>) {
        match ended {
            Ok((task, (notice, tried))) => {
                self.under_way.remove(&task);
                if matches!(tried, Some(Tried::Unable)) {
                    self.unable.insert(notice);
                }
            }
            Err(error) => drop(self.under_way.remove(&error.id())),
        }
    }

    fn takes(&self, notice: &Notice, carried: &HashMap<TaskId, Environment>, at: Time) -> bool {
        let precedence = if carried.contains_key(&notice.task) { Duration::ZERO } else { CARRIER_FIRST };
        let is_able = !self.unable.contains(&notice.id) || is_past_waiting(notice, at);
        let is_under_way = self.under_way.values().any(|one| *one == notice.id);
        notice.next_at.after(precedence) <= at && is_able && !is_under_way
    }
}

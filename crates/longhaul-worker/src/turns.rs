//! Waiting for a turn to start a session. The store says whose turn it is; it is asked once for all tasks of this worker, when one of
//! them arrives and when its bell rings. Nothing is prepared and nothing is written before a task's turn.
//!
//! A worker that does not take its turn within 2 seconds, because it is stopped or hangs, is passed over until a session starts or ends.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_store::{StoreError, Turn, Turns};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::worker::Context;

/// How long a free slot is kept for the first in line.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait before a store that is busy or full is asked again.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// The tasks of this worker that wait for their turn.
#[derive(Default)]
pub(crate) struct Line {
    waiting: Mutex<HashMap<TaskId, oneshot::Sender<()>>>,
    arrived: Notify,
}

impl Line {
    /// Returns when it is the task's turn.
    pub(crate) async fn wait(&self, task: TaskId) {
        let (turn, has_come) = oneshot::channel();
        self.lock().insert(task, turn);
        self.arrived.notify_one();
        if has_come.await.is_err() {
            // Another wait of the same task took this one's place.
            std::future::pending::<()>().await;
        }
    }

    /// Whether anybody waits; whoever was paused or cancelled meanwhile does not.
    fn is_empty(&self) -> bool {
        let mut waiting = self.lock();
        waiting.retain(|_, turn| !turn.is_closed());
        waiting.is_empty()
    }

    fn call(&self, task: TaskId) {
        if let Some(turn) = self.lock().remove(&task) {
            turn.send(()).ok();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, oneshot::Sender<()>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls those whose turn it is, for as long as the worker runs; returns only when the store fails for good.
pub(crate) async fn serve(context: &Context) -> StoreError {
    let mut changes = match context.store.changes() {
        Ok(changes) => changes,
        Err(error) => return error,
    };
    let mut offer = Offer::default();
    loop {
        let look_again = match call_next(context, &mut offer).await {
            Ok(look_again) => look_again,
            Err(error) if error.is_transient() => Some(Instant::now() + TRY_AGAIN),
            Err(error) => return error,
        };
        let later = async {
            match look_again {
                Some(then) => tokio::time::sleep_until(then).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = changes.rung() => {}
            () = context.line.arrived.notified() => {}
            () = later => {}
        }
    }
}

/// Calls those whose turn it is. Answers when to look again even if no bell rings.
async fn call_next(context: &Context, offer: &mut Offer) -> Result<Option<Instant>, StoreError> {
    if context.line.is_empty() {
        // What was offered while nobody looked is unknown.
        *offer = Offer::default();
        return Ok(None);
    }
    loop {
        let turns = context.store.turns(context.home.session_cap(), &offer.passed_over).await?;
        if !offer.is_settled(turns, context.worker, Instant::now()) {
            continue;
        }
        for turn in offer.of(context.worker) {
            context.line.call(turn.task);
        }
        return Ok(offer.ends(context.worker).filter(|_| !context.line.is_empty()));
    }
}

/// The free slots as they were last offered, and to whom.
#[derive(Default)]
struct Offer {
    turns: Turns,
    since: Option<Instant>,
    passed_over: Vec<WorkerId>,
}

impl Offer {
    /// Takes a new answer of the store. False if somebody has just been passed over, or no longer is: the store has to be asked again.
    fn is_settled(&mut self, turns: Turns, me: WorkerId, now: Instant) -> bool {
        let somebody_moved = turns.in_use != self.turns.in_use && !self.passed_over.is_empty();
        if somebody_moved {
            self.passed_over.clear();
        }
        if turns != self.turns || self.since.is_none() {
            *self = Offer { turns, since: Some(now), passed_over: std::mem::take(&mut self.passed_over) };
            return !somebody_moved;
        }
        let is_over = self.ends(me).is_some_and(|end| now >= end);
        if is_over {
            self.passed_over.extend(self.others(me).map(|turn| turn.owner).collect::<Vec<_>>());
        }
        !is_over
    }

    /// When those of other workers are passed over; none while nobody else has a turn.
    fn ends(&self, me: WorkerId) -> Option<Instant> {
        self.others(me).next().and(self.since).map(|since| since + PATIENCE)
    }

    fn of(&self, me: WorkerId) -> impl Iterator<Item = &Turn> {
        self.turns.next.iter().filter(move |turn| turn.owner == me)
    }

    fn others(&self, me: WorkerId) -> impl Iterator<Item = &Turn> {
        self.turns.next.iter().filter(move |turn| turn.owner != me)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_app::{mint_task, mint_worker};

    fn turn(owner: WorkerId) -> Turn {
        Turn { task: mint_task(), owner }
    }

    #[test]
    fn a_worker_that_does_not_take_its_turn_is_passed_over_until_something_moves() {
        let (me, stopped) = (mint_worker(), mint_worker());
        let first = Turns { in_use: 0, next: vec![turn(stopped)] };
        let begin = Instant::now();
        let mut offer = Offer::default();
        assert!(offer.is_settled(first.clone(), me, begin));
        assert_eq!(offer.ends(me), Some(begin + PATIENCE));
        assert!(offer.is_settled(first.clone(), me, begin + PATIENCE / 2));
        assert!(!offer.is_settled(first, me, begin + PATIENCE), "it is passed over");
        assert_eq!(offer.passed_over, [stopped]);

        let mine = Turns { in_use: 0, next: vec![turn(me)] };
        assert!(offer.is_settled(mine, me, begin + PATIENCE));
        assert_eq!((offer.of(me).count(), offer.ends(me)), (1, None));

        let started = Turns { in_use: 1, next: Vec::new() };
        assert!(!offer.is_settled(started.clone(), me, begin + PATIENCE), "a session started: everybody counts again");
        assert!(offer.passed_over.is_empty());
        assert!(offer.is_settled(started, me, begin + PATIENCE));
    }

    #[test]
    fn every_change_of_the_offer_begins_the_time_again_and_own_turns_never_end() {
        let (me, other) = (mint_worker(), mint_worker());
        let begin = Instant::now();
        let mut offer = Offer::default();
        assert!(offer.is_settled(Turns { in_use: 0, next: vec![turn(other)] }, me, begin));
        let next = Turns { in_use: 0, next: vec![turn(other)] };
        assert!(offer.is_settled(next, me, begin + PATIENCE), "another task of that worker");
        let own = Turns { in_use: 0, next: vec![turn(me)] };
        assert!(offer.is_settled(own.clone(), me, begin + PATIENCE));
        assert!(offer.is_settled(own, me, begin + 10 * PATIENCE), "a slow preparation keeps its turn");
    }

    #[tokio::test]
    async fn whoever_left_the_line_is_not_waited_for() {
        let line = Line::default();
        let task = mint_task();
        let gone = tokio::time::timeout(Duration::ZERO, line.wait(task)).await;
        assert!(gone.is_err(), "nobody called it");
        assert!(line.is_empty());
    }
}

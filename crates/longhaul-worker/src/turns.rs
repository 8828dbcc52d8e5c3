//! Waiting for a turn to start a session. The store decides whose turn it is; this file asks it once for all tasks of this worker, when one
//! of them arrives and when the store's bell rings. Nothing is prepared and nothing is written before a task's turn.
//!
//! A task whose turn has not come leaves its hub and waits here as an id, so that a long line costs almost no memory.
//! A worker that does not use its turn within 2 seconds, because it is stopped or hangs, is skipped until a session starts or ends.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use longhaul_core::ids::{TaskId, WorkerId};
use longhaul_store::{StoreError, Turn, Turns};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::or_never::or_never;
use crate::worker::Context;

/// How long a free slot is kept for the first in line.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait before a store that is busy or full is asked again.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// The tasks of this worker that wait for their turn.
#[derive(Default)]
pub(crate) struct Line {
    places: Mutex<Places>,
    arrived: Notify,
    called: Notify,
}

#[derive(Default)]
struct Places {
    /// Tasks whose hubs want to know whether it is their turn.
    asking: HashMap<TaskId, oneshot::Sender<Answer>>,
    /// Tasks without a hub.
    parked: HashSet<TaskId>,
    /// Those of them whose turn has come.
    called: Vec<TaskId>,
}

/// Whether it is a task's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Now,
    NotYet,
}

impl Line {
    /// Asks whether it is the task's turn.
    pub(crate) async fn ask(&self, task: TaskId) -> Answer {
        let (asking, answer) = oneshot::channel();
        self.lock().asking.insert(task, asking);
        self.arrived.notify_one();
        match answer.await {
            Ok(answer) => answer,
            // Another question about the same task replaced this one.
            Err(_) => std::future::pending().await,
        }
    }

    /// Puts a task in line that has no hub. `next_called` returns it when its turn has come.
    pub(crate) fn park(&self, task: TaskId) {
        self.lock().parked.insert(task);
        self.arrived.notify_one();
    }

    /// Removes a task that was parked.
    pub(crate) fn leave(&self, task: TaskId) {
        self.lock().parked.remove(&task);
    }

    /// The next parked task whose turn has come.
    pub(crate) async fn next_called(&self) -> TaskId {
        loop {
            if let Some(task) = self.lock().called.pop() {
                return task;
            }
            self.called.notified().await;
        }
    }

    /// Whether nobody waits. A hub whose task was paused or cancelled no longer does.
    fn is_empty(&self) -> bool {
        let mut places = self.lock();
        places.asking.retain(|_, asking| !asking.is_closed());
        places.asking.is_empty() && places.parked.is_empty()
    }

    /// Calls the tasks whose turn it is, and answers all others that asked.
    fn call(&self, turns: impl Iterator<Item = TaskId>) {
        let mut places = self.lock();
        for task in turns {
            if let Some(asking) = places.asking.remove(&task) {
                asking.send(Answer::Now).ok();
            }
            if places.parked.remove(&task) {
                places.called.push(task);
                self.called.notify_one();
            }
        }
        for (_, asking) in places.asking.drain() {
            asking.send(Answer::NotYet).ok();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
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
        tokio::select! {
            () = changes.rung() => {}
            () = context.line.arrived.notified() => {}
            () = or_never(look_again.map(tokio::time::sleep_until)) => {}
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
        context.line.call(offer.of(context.worker).map(|turn| turn.task));
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
    async fn a_hub_that_no_longer_asks_does_not_keep_the_line_open() {
        let line = Line::default();
        let task = mint_task();
        let gone = tokio::time::timeout(Duration::ZERO, line.ask(task)).await;
        assert!(gone.is_err(), "nobody answered it");
        assert!(line.is_empty());
    }

    #[tokio::test]
    async fn everyone_who_asks_gets_an_answer_and_parked_tasks_are_called_in_their_turn() {
        let line = Line::default();
        let [first, second, parked, left] = [(); 4].map(|()| mint_task());
        [parked, left].into_iter().for_each(|task| line.park(task));
        line.leave(left);
        let (now, not_yet, called) = tokio::join!(line.ask(first), line.ask(second), async {
            line.call([first, parked, left].into_iter());
            line.next_called().await
        });
        assert_eq!((now, not_yet, called), (Answer::Now, Answer::NotYet, parked));
        assert!(line.is_empty());
    }
}

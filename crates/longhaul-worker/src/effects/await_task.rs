//! Waiting for another task to be verified, or for a landing that is first. Answers once, when that one is final or gone, or lands no longer.
//! It only reads the other task; what its end means is decided by the core.

use std::time::Duration;

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Actor, Observation, State, Wait};
use longhaul_store::Changes;

use super::Job;
use crate::or_never::or_never;

/// How long to wait between two looks, however often the store's bell rings.
const PAUSE: Duration = Duration::from_secs(1);
/// How long to wait when it does not ring.
const SAFETY_NET: Duration = Duration::from_secs(30);

pub(super) async fn await_end(job: Job, other: TaskId) {
    // Without a bell the looks are only rarer.
    let mut changes = job.context.store.changes().ok();
    loop {
        // The hub meets the same store error and reports it.
        if let Ok(stored) = job.context.store.load(other).await
            && let Some((verified, how)) = job.over(stored.as_ref().map(|stored| &stored.task.state))
        {
            return job.answer(Observation::OtherEnded { task: other, verified, how }, Actor::worker()).await;
        }
        tokio::time::sleep(PAUSE).await;
        tokio::select! {
            () = or_never(changes.as_mut().map(Changes::rung)) => {}
            () = tokio::time::sleep(SAFETY_NET) => {}
        }
    }
}

impl Job {
    /// A landing that needs a person holds up no other.
    fn over(&self, other: Option<&State>) -> Option<(bool, String)> {
        let is_landing = matches!(self.task.state, State::Waiting { why: Wait::Landing(_), .. });
        let rests = other.filter(|state| is_landing && !state.wants_owner());
        rests.map(|state| (false, state.name().to_owned())).or_else(|| end(other))
    }
}

/// Whether the other task was verified, and how it ended; none while it has not. Any end counts, so that nothing waits forever.
fn end(state: Option<&State>) -> Option<(bool, String)> {
    let Some(state) = state else { return Some((false, "gone".into())) };
    match state.verdict() {
        Some(verdict) => Some((verdict.satisfies_after(), format!("{}, {verdict}", state.name()))),
        None => state.is_final().then(|| (false, state.name().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_core::task::Verdict;

    #[test]
    fn every_final_state_ends_the_wait() {
        let cancelled = State::Cancelled { by: "ann".into(), reason: None };
        assert_eq!(end(Some(&cancelled)), Some((false, "cancelled".into())));
        let done = State::Done { verdict: Verdict::NoChecks };
        assert_eq!(end(Some(&done)).map(|(_, how)| how), Some(format!("done, {}", Verdict::NoChecks)));
        assert_eq!(end(None), Some((false, "gone".into())));
        assert_eq!((end(Some(&State::Paused)), end(Some(&State::Queued))), (None, None), "the controls");
    }
}

//! Waking when a wait is over: the wall clock has reached its end, or its span has passed on the clock that counts suspend.
//! Sends `Woke` and nothing else. Both clocks are read again and again, because no timer hears of a clock that was set or of a suspend.

use std::time::Duration;

use longhaul_core::task::{Actor, Alarm, Observation};
use longhaul_core::time::Time;

use super::Job;
use longhaul_app::{now, since_boot};

/// How long a clock that was set, or a suspend, may go unnoticed.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

pub(super) async fn wake(job: Job, alarm: Alarm) {
    until_over(alarm, &Machine).await;
    job.answer(Observation::Woke, Actor::worker()).await;
}

/// What a wait is measured with.
trait Clocks {
    /// The wall clock, which may be set.
    fn wall(&self) -> Time;
    /// Counts suspend.
    fn boot(&self) -> Duration;
    /// Does not count suspend.
    async fn sleep(&self, span: Duration);
}

struct Machine;

impl Clocks for Machine {
    fn wall(&self) -> Time {
        now()
    }

    fn boot(&self) -> Duration {
        since_boot()
    }

    async fn sleep(&self, span: Duration) {
        tokio::time::sleep(span).await;
    }
}

/// After a restart the rest is what the wall clock says, but never more than the whole span.
async fn until_over(alarm: Alarm, clocks: &impl Clocks) {
    let began = clocks.boot();
    loop {
        let by_wall = alarm.at.since(clocks.wall());
        let passed = clocks.boot().saturating_sub(began);
        let by_span = alarm.span.map_or(Duration::MAX, |span| span.saturating_sub(passed));
        let left = by_wall.min(by_span);
        if left.is_zero() {
            return;
        }
        clocks.sleep(left.min(LOOK_AGAIN)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const START: Time = Time(1_700_000_000_000_000);
    const SECOND: Duration = Duration::from_secs(1);
    const HOUR: Duration = Duration::from_secs(3600);

    /// What happens to the clocks during the first sleep.
    #[derive(Clone, Copy)]
    enum Jump {
        None,
        SetBack,
        SetForward,
        Suspend,
    }

    /// Clocks on which only sleeping takes time.
    struct Fake {
        slept: Cell<Duration>,
        jump: Jump,
    }

    impl Fake {
        fn has_jumped(&self) -> bool {
            !self.slept.get().is_zero()
        }
    }

    impl Clocks for Fake {
        fn wall(&self) -> Time {
            let on = START.after(self.slept.get());
            match self.jump {
                Jump::SetBack if self.has_jumped() => Time(on.0 - 3_600_000_000),
                Jump::SetForward | Jump::Suspend if self.has_jumped() => on.after(HOUR),
                Jump::None | Jump::SetBack | Jump::SetForward | Jump::Suspend => on,
            }
        }

        fn boot(&self) -> Duration {
            let suspended = matches!(self.jump, Jump::Suspend) && self.has_jumped();
            self.slept.get() + if suspended { HOUR } else { Duration::ZERO }
        }

        async fn sleep(&self, span: Duration) {
            self.slept.set(self.slept.get() + span);
        }
    }

    /// How long a wait is slept.
    async fn takes(end: Duration, span: Option<Duration>, jump: Jump) -> Duration {
        let clocks = Fake { slept: Cell::default(), jump };
        until_over(Alarm { at: START.after(end), span }, &clocks).await;
        clocks.slept.get()
    }

    #[tokio::test]
    async fn it_ends_in_time_and_a_clock_that_is_set_back_delays_it_by_nothing() {
        let span = 20 * SECOND;
        assert_eq!(takes(span, Some(span), Jump::None).await, span);
        assert_eq!(takes(span, Some(span), Jump::SetBack).await, span);
    }

    #[tokio::test]
    async fn it_ends_early_when_the_wall_clock_or_the_machine_has_jumped_over_it() {
        for jump in [Jump::SetForward, Jump::Suspend] {
            assert_eq!(takes(HOUR, Some(HOUR), jump).await, LOOK_AGAIN);
        }
    }

    #[tokio::test]
    async fn who_takes_it_over_waits_for_the_rest_and_never_longer_than_the_span() {
        assert_eq!(takes(3 * SECOND, Some(HOUR), Jump::None).await, 3 * SECOND, "the rest");
        assert_eq!(takes(HOUR, Some(3 * SECOND), Jump::None).await, 3 * SECOND, "set back before");
    }

    #[tokio::test]
    async fn hours_of_the_day_follow_the_wall_clock_alone() {
        assert_eq!(takes(HOUR, None, Jump::SetBack).await, 2 * HOUR);
        assert_eq!(takes(HOUR, None, Jump::SetForward).await, LOOK_AGAIN);
    }
}

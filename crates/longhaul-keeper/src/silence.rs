//! How long a program may print nothing, and whether one that is busy meanwhile is left alone.
//!
//! Asked by the pump on each round. Knows only times that it is handed; who used how much of a processor is asked for as rarely as
//! can be: twice in every stretch of silence.

use std::time::{Duration, Instant};

use crate::contract::Spec;

/// So much of one processor is work; less is a program that waits, with its timers and heartbeats.
const BUSY_PERCENT: u128 = 5;

/// The watch over one program's silence.
#[derive(Debug)]
pub(crate) struct Silence {
    allowed: Option<Duration>,
    spares_busy: bool,
    last_sign: Instant,
    /// When the silence was half over, and what the program's tree had used of the processors by then.
    halfway: Option<(Instant, Duration)>,
}

impl Silence {
    /// A watch that begins now.
    pub(crate) fn new(spec: &Spec, now: Instant) -> Silence {
        let allowed = spec.silence_ms.map(Duration::from_millis);
        Silence { allowed, spares_busy: spec.spare_busy, last_sign: now, halfway: None }
    }

    /// The program printed something, or could not.
    pub(crate) fn broken(&mut self, now: Instant) {
        self.last_sign = now;
        self.halfway = None;
    }

    /// When the next look is worth it.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        let allowed = self.allowed?;
        let at_half = self.spares_busy && self.halfway.is_none();
        self.last_sign.checked_add(if at_half { allowed / 2 } else { allowed })
    }

    /// Whether the silence has lasted too long. `used` tells how much of the processors the program's tree has used so far.
    pub(crate) fn is_over(&mut self, now: Instant, used: impl FnOnce() -> Option<Duration>) -> bool {
        if self.next_at().is_none_or(|at| now < at) {
            return false;
        }
        if !self.spares_busy {
            return true;
        }
        match (self.halfway, used()) {
            (None, used) => {
                // Nobody can tell what it used: then it has used all of it already and is not spared in the end.
                self.halfway = Some((now, used.unwrap_or(Duration::MAX)));
                false
            }
            (Some((then, before)), Some(used)) if is_busy(now - then, used.saturating_sub(before)) => {
                // Half of the silence stays on the clock: what goes idle now is found as soon as if it had just printed.
                self.last_sign = then;
                self.halfway = Some((now, used));
                false
            }
            (Some(_), _) => true,
        }
    }
}

fn is_busy(span: Duration, used: Duration) -> bool {
    used.as_micros() * 100 >= span.as_micros() * BUSY_PERCENT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(spares_busy: bool) -> (Silence, Instant) {
        let now = Instant::now();
        (Silence { allowed: Some(Duration::from_secs(10)), spares_busy, last_sign: now, halfway: None }, now)
    }

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn silence_is_over_when_its_time_is_and_output_starts_it_anew() {
        let (mut silence, start) = watch(false);
        assert!(!silence.is_over(after(start, 9), || unreachable!("not asked")));
        silence.broken(after(start, 9));
        assert!(!silence.is_over(after(start, 12), || None));
        assert!(silence.is_over(after(start, 19), || None));
    }

    #[test]
    fn a_busy_tree_is_spared_for_as_long_as_it_is_busy() {
        let (mut silence, start) = watch(true);
        let used = |seconds| move || Some(Duration::from_secs(seconds));
        assert!(!silence.is_over(after(start, 5), used(100)), "the first look only remembers");
        assert!(!silence.is_over(after(start, 10), used(104)));
        assert!(!silence.is_over(after(start, 15), used(109)));
        assert!(silence.is_over(after(start, 20), used(109)), "idle since the last look");
    }

    #[test]
    fn heartbeats_are_no_work_and_what_nobody_can_tell_is_none() {
        let (mut silence, start) = watch(true);
        assert!(!silence.is_over(after(start, 5), || Some(Duration::from_millis(700))));
        assert!(silence.is_over(after(start, 10), || Some(Duration::from_millis(900))));
        let (mut silence, start) = watch(true);
        assert!(!silence.is_over(after(start, 5), || None));
        assert!(silence.is_over(after(start, 10), || Some(Duration::from_secs(9))));
    }

    #[test]
    fn without_a_limit_nothing_is_ever_over() {
        let (mut silence, start) = watch(true);
        silence.allowed = None;
        assert_eq!(silence.next_at(), None);
        assert!(!silence.is_over(after(start, 1000), || None));
    }
}

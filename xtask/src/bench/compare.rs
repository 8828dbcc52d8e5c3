//! Measures things in turn, round by round, and holds their figures: median, spread and ratio.
//! Used by every measure. Means are not offered, because one interrupted round would move them.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

use super::scene::Outcome;

/// The figures of one quantity in the order of the rounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Samples(Vec<f64>);

/// Runs the rounds; each measures every quantity once, in turn, so that noise hits all of them.
pub(super) fn in_turn<const N: usize>(
    rounds: usize,
    mut round: impl FnMut(usize) -> Outcome<[f64; N]>,
) -> Outcome<[Samples; N]> {
    let mut all = [const { Samples(Vec::new()) }; N];
    for number in 0..rounds {
        all.iter_mut().zip(round(number)?).for_each(|(samples, figure)| samples.0.push(figure));
    }
    Ok(all)
}

impl Samples {
    /// A figure that was taken once.
    pub(super) fn once(figure: f64) -> Samples {
        Samples(vec![figure])
    }

    /// How many rounds there were.
    pub(super) fn rounds(&self) -> usize {
        self.0.len()
    }

    /// The middle one.
    pub(super) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Combines two quantities round by round, so that noise which hit both cancels out.
    pub(super) fn with(&self, other: &Samples, combine: impl Fn(f64, f64) -> f64) -> Samples {
        Samples(self.0.iter().zip(&other.0).map(|(&one, &two)| combine(one, two)).collect())
    }

    /// This quantity divided by another, round by round.
    pub(super) fn over(&self, reference: &Samples) -> Samples {
        self.with(reference, |value, reference| value / reference)
    }

    /// Median, and in parentheses the range of eight in ten rounds.
    pub(super) fn in_words(&self, unit: &str) -> String {
        let [low, median, high] = [0.1, 0.5, 0.9].map(|part| digits(self.quantile(part)));
        if self.rounds() == 1 { format!("{median}{unit}") } else { format!("{median}{unit} ({low} to {high})") }
    }

    /// The figure that this part of all figures does not exceed; not a number without a round.
    fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let place = part * sorted.len().saturating_sub(1) as f64;
        let at = |index: f64| sorted.get(index as usize).copied().unwrap_or(f64::NAN);
        let (below, above) = (at(place.floor()), at(place.ceil()));
        below + (above - below) * place.fract()
    }
}

fn digits(value: f64) -> String {
    match value.abs() {
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        size if size < 0.1 => format!("{value:.3}"),
        size if size < 10.0 => format!("{value:.2}"),
        size if size < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// The milliseconds that something takes.
pub(super) fn milliseconds(work: impl FnOnce() -> Outcome) -> Outcome<f64> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64() * 1000.0)
}

/// Milliseconds on the clock that all processes of a machine share.
pub(super) fn monotonic_milliseconds() -> f64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::{Samples, in_turn};

    #[test]
    fn the_median_ignores_one_wild_round() {
        assert_eq!(Samples(vec![3.0, 1.0, 900.0, 2.0, 4.0]).median(), 3.0);
        assert_eq!(Samples(vec![4.0, 1.0]).median(), 2.5);
        assert!(Samples::default().median().is_nan());
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        let figures = [[2.0, 1.0], [20.0, 10.0], [8.0, 2.0]];
        let [measured, reference] = in_turn(3, |round| Ok(figures[round])).unwrap();
        assert_eq!(measured.over(&reference), Samples(vec![2.0, 2.0, 4.0]));
    }

    #[test]
    fn the_spread_leaves_out_the_outermost_rounds() {
        let samples = Samples((0..=10).map(|value| f64::from(value) + 0.5).collect());
        assert_eq!(samples.in_words(" ms"), "5.50 ms (1.50 to 9.50)");
        assert_eq!(Samples::once(1234.4).in_words("/s"), "1234/s");
    }
}

//! Figures of one quantity, one a round, and what is said of them: median and spread.
//! Used by every measure. Means are not offered, because one interrupted round would move them.

/// Figures in the order of the rounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Samples {
    values: Vec<f64>,
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Milliseconds,
    PerSecond,
    /// Of 10^6 bytes.
    MegabytesPerSecond,
    Kilobytes,
    Percent,
    /// Things.
    Count,
    /// One quantity in terms of another.
    Times,
}

impl Samples {
    /// No round yet.
    pub(super) const fn new() -> Samples {
        Samples { values: Vec::new() }
    }

    /// Adds the figure of one more round.
    pub(super) fn push(&mut self, value: f64) {
        self.values.push(value);
    }

    /// How many rounds there were.
    pub(super) fn rounds(&self) -> usize {
        self.values.len()
    }

    /// The middle one.
    pub(super) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Combines the figures of two quantities round by round, so that noise which hit both cancels out.
    pub(super) fn with(&self, other: &Samples, combine: impl Fn(f64, f64) -> f64) -> Samples {
        Samples { values: self.values.iter().zip(&other.values).map(|(&a, &b)| combine(a, b)).collect() }
    }

    /// This quantity in terms of another, round by round.
    pub(super) fn over(&self, reference: &Samples) -> Samples {
        self.with(reference, |value, reference| value / reference)
    }

    /// Median, and in parentheses the range that eight of ten rounds lie in.
    pub(super) fn in_words(&self, unit: Unit) -> String {
        let [low, high] = [self.quantile(0.1), self.quantile(0.9)].map(|value| unit.digits(value));
        format!("{}{} ({low} to {high})", unit.digits(self.median()), unit.name())
    }

    /// The figure that this part of all figures does not exceed; not a number when there was no round.
    pub(super) fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let place = part * sorted.len().saturating_sub(1) as f64;
        let at = |index: f64| sorted.get(index as usize).copied().unwrap_or(f64::NAN);
        let (below, above) = (at(place.floor()), at(place.ceil()));
        below + (above - below) * place.fract()
    }
}

impl Unit {
    fn digits(self, value: f64) -> String {
        match self {
            Unit::Milliseconds | Unit::Times | Unit::Percent if value < 10.0 => format!("{value:.2}"),
            Unit::Milliseconds | Unit::Times | Unit::Percent => format!("{value:.1}"),
            Unit::PerSecond | Unit::MegabytesPerSecond | Unit::Kilobytes | Unit::Count => format!("{value:.0}"),
        }
    }

    /// As it follows a figure.
    pub(super) fn name(self) -> &'static str {
        match self {
            Unit::Milliseconds => " ms",
            Unit::PerSecond => "/s",
            Unit::MegabytesPerSecond => " MB/s",
            Unit::Kilobytes => " kB",
            Unit::Percent => " %",
            Unit::Count | Unit::Times => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Samples, Unit};

    fn samples(values: &[f64]) -> Samples {
        Samples { values: values.to_vec() }
    }

    #[test]
    fn the_median_does_not_care_for_one_wild_round() {
        assert_eq!(samples(&[3.0, 1.0, 900.0, 2.0, 4.0]).median(), 3.0);
        assert_eq!(samples(&[4.0, 1.0]).median(), 2.5);
        assert!(samples(&[]).median().is_nan());
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        let ratio = samples(&[2.0, 20.0, 8.0]).over(&samples(&[1.0, 10.0, 2.0]));
        assert_eq!(ratio, samples(&[2.0, 2.0, 4.0]));
        assert_eq!((ratio.median(), ratio.rounds()), (2.0, 3));
    }

    #[test]
    fn the_spread_leaves_the_outermost_rounds_out() {
        let values: Vec<f64> = (0..=10).map(f64::from).collect();
        assert_eq!(samples(&values).in_words(Unit::Milliseconds), "5.00 ms (1.00 to 9.00)");
        assert_eq!(samples(&[1234.4]).in_words(Unit::PerSecond), "1234/s (1234 to 1234)");
    }
}

//! The rows of the result and the Markdown table they make, as it stands in `docs/benchmarks.md`.
//! Filled by the measures, printed by `plan`. Only ratios are judged, except where a row says otherwise.

use super::figures::{Samples, Unit};

const HEAD: &str = "\
| measured | median (spread) | beside, in the same rounds | ratio | target | | rounds |
|---|---|---|---|---|---|---|
";

/// One line of the result.
#[derive(Debug)]
pub(super) struct Row {
    what: String,
    result: Measured,
    target: Target,
}

/// What came of one row.
#[derive(Debug)]
enum Measured {
    Beside(Comparison),
    Not { why: String },
}

/// Figures of something and of its reference, taken in the same rounds.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) unit: Unit,
    pub(super) measured: Samples,
    /// What the reference is.
    pub(super) beside: String,
    pub(super) reference: Samples,
}

/// What is expected of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// With `--gate` the run fails when it is missed.
    Gate(Bound),
    /// Judged, and fails nothing.
    Aim(Bound),
    /// Reported, for people to look at.
    Free,
}

/// The right side of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bound {
    /// The ratio of measured to reference.
    AtMost(f64),
    AtLeast(f64),
    /// Either the ratio or the figure itself: whichever is easier on this machine.
    AtLeastOrFigure {
        ratio: f64,
        figure: f64,
    },
    /// The figure itself.
    FigureAtMost(f64),
}

impl Row {
    /// A row with figures.
    pub(super) fn new(what: impl Into<String>, comparison: Comparison, target: Target) -> Row {
        Row { what: what.into(), result: Measured::Beside(comparison), target }
    }

    /// A row that says why it has no figures, so that nothing is left out silently.
    pub(super) fn not_measured(what: impl Into<String>, why: impl Into<String>) -> Row {
        Row { what: what.into(), result: Measured::Not { why: why.into() }, target: Target::Free }
    }

    /// Whether this is a gate on whose right side the median is not; one that is no number never is.
    pub(super) fn misses_gate(&self) -> bool {
        matches!(self.target, Target::Gate(_)) && self.is_missed()
    }

    fn is_missed(&self) -> bool {
        let Measured::Beside(comparison) = &self.result else { return false };
        match self.target {
            Target::Gate(bound) | Target::Aim(bound) => !bound.holds(comparison),
            Target::Free => false,
        }
    }

    fn markdown(&self) -> String {
        let what = &self.what;
        let comparison = match &self.result {
            Measured::Beside(comparison) => comparison,
            Measured::Not { why } => return format!("| {what} | not measured: {why} | | | | | |"),
        };
        let Comparison { unit, measured, beside, reference } = comparison;
        let [figures, reference] = [measured, reference].map(|samples| samples.in_words(*unit));
        let ratio = comparison.ratio().in_words(Unit::Times);
        let (target, verdict) = (self.target.in_words(*unit), self.verdict());
        let rounds = measured.rounds();
        format!("| {what} | {figures} | {beside}: {reference} | {ratio} | {target} | {verdict} | {rounds} |")
    }

    fn verdict(&self) -> &'static str {
        match self.target {
            Target::Free => "",
            Target::Gate(_) | Target::Aim(_) if self.is_missed() => "MISSED",
            Target::Gate(_) | Target::Aim(_) => "OK",
        }
    }
}

impl Comparison {
    fn ratio(&self) -> Samples {
        self.measured.over(&self.reference)
    }
}

impl Target {
    fn in_words(self, unit: Unit) -> String {
        match self {
            Target::Gate(bound) => format!("**gate**: {}", bound.in_words(unit)),
            Target::Aim(bound) => bound.in_words(unit),
            Target::Free => "none".to_owned(),
        }
    }
}

impl Bound {
    fn holds(self, comparison: &Comparison) -> bool {
        let (ratio, median) = (comparison.ratio().median(), comparison.measured.median());
        match self {
            Bound::AtMost(most) => ratio <= most,
            Bound::AtLeast(least) => ratio >= least,
            Bound::AtLeastOrFigure { ratio: least, figure } => ratio >= least || median >= figure,
            Bound::FigureAtMost(most) => median <= most,
        }
    }

    fn in_words(self, unit: Unit) -> String {
        let name = unit.name();
        match self {
            Bound::AtMost(most) => format!("at most {most}"),
            Bound::AtLeast(least) => format!("at least {least}"),
            Bound::AtLeastOrFigure { ratio, figure } => format!("at least {ratio}, or {figure}{name}"),
            Bound::FigureAtMost(most) => format!("at most {most}{name}"),
        }
    }
}

/// The rows with their head.
pub(super) fn table(rows: &[Row]) -> String {
    rows.iter().fold(HEAD.to_owned(), |table, row| table + &row.markdown() + "\n")
}

#[cfg(test)]
mod tests {
    use super::{Bound, Comparison, Row, Samples, Target, Unit, table};

    fn row(measured: &[f64], target: Target) -> Row {
        let [mut figures, mut reference] = [const { Samples::new() }; 2];
        for &value in measured {
            figures.push(value);
            reference.push(2.0);
        }
        let comparison = Comparison { unit: Unit::Milliseconds, measured: figures, beside: "b".to_owned(), reference };
        Row::new("a", comparison, target)
    }

    fn is_missed(measured: &[f64], bound: Bound) -> bool {
        row(measured, Target::Gate(bound)).misses_gate()
    }

    #[test]
    fn a_median_on_the_right_side_passes() {
        assert!(!is_missed(&[1.0, 2.0, 9.0], Bound::AtMost(1.0)));
        assert!(!is_missed(&[1.0, 2.0, 9.0], Bound::AtLeast(0.7)));
        assert!(!is_missed(&[1.0, 2.0, 9.0], Bound::FigureAtMost(2.0)));
        assert!(!row(&[9.0], Target::Free).misses_gate());
    }

    #[test]
    fn a_median_on_the_wrong_side_or_none_at_all_misses() {
        assert!(is_missed(&[2.2], Bound::AtMost(1.0)));
        assert!(is_missed(&[1.2], Bound::AtLeast(0.7)));
        assert!(is_missed(&[2.2], Bound::FigureAtMost(2.0)));
        assert!(is_missed(&[], Bound::AtMost(1.0)));
    }

    #[test]
    fn one_of_two_sides_is_enough_where_either_will_do() {
        let either = |figure| Bound::AtLeastOrFigure { ratio: 0.5, figure };
        assert!(!is_missed(&[0.9], either(0.8)));
        assert!(!is_missed(&[1.1], either(5.0)));
        assert!(is_missed(&[0.9], either(5.0)));
    }

    #[test]
    fn a_missed_aim_is_told_and_fails_nothing() {
        let missed = row(&[2.2], Target::Aim(Bound::AtMost(1.0)));
        assert!(!missed.misses_gate());
        assert!(table(&[missed]).contains("MISSED"));
    }

    #[test]
    fn what_was_not_measured_says_why() {
        let text = table(&[Row::not_measured("a", "no jq")]);
        assert!(text.ends_with("| a | not measured: no jq | | | | | |\n"), "{text}");
    }
}

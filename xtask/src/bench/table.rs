//! The rows of the result and the Markdown table made of them.
//! Filled by the measures, printed by `bench`. A bound is on the ratio, except where it names the figure itself.

use super::compare::Samples;

const HEAD: &str = "\
| measured | median (spread) | beside, in the same rounds | ratio | gate | | rounds |
|---|---|---|---|---|---|---|
";

/// One line of the result.
#[derive(Debug)]
pub(super) struct Row {
    what: String,
    unit: &'static str,
    measured: Samples,
    /// What the reference is; for a row without figures, why it has none.
    beside: String,
    reference: Samples,
    gate: Option<Bound>,
}

/// The right side of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
    FigureAtMost(f64),
}

impl Row {
    /// A row with figures; the unit follows them as it is.
    pub(super) fn new(what: impl Into<String>, unit: &'static str, measured: &Samples) -> Row {
        let (beside, reference) = (String::new(), Samples::default());
        Row { what: what.into(), unit, measured: measured.clone(), beside, reference, gate: None }
    }

    /// A row that tells why it has no figures, so that nothing is left out silently.
    pub(super) fn not_measured(what: impl Into<String>, why: impl Into<String>) -> Row {
        Row { beside: why.into(), ..Row::new(what, "", &Samples::default()) }
    }

    /// Adds the reference of the same rounds.
    pub(super) fn beside(self, what: impl Into<String>, reference: &Samples) -> Row {
        Row { beside: what.into(), reference: reference.clone(), ..self }
    }

    /// Adds the bound that `--gate` demands of the median.
    pub(super) fn gate(self, bound: Bound) -> Row {
        Row { gate: Some(bound), ..self }
    }

    /// Whether the median is not on the right side of its gate. A median that is no number never is.
    pub(super) fn misses_gate(&self) -> bool {
        self.gate.is_some_and(|bound| !self.holds(bound))
    }

    fn holds(&self, bound: Bound) -> bool {
        let (ratio, median) = (self.measured.over(&self.reference).median(), self.measured.median());
        match bound {
            Bound::AtMost(most) => ratio <= most,
            Bound::AtLeast(least) => ratio >= least,
            Bound::FigureAtMost(most) => median <= most,
        }
    }

    fn markdown(&self) -> String {
        let Row { what, unit, measured, beside, reference, gate } = self;
        let rounds = measured.rounds();
        if rounds == 0 {
            return format!("| {what} | not measured: {beside} | | | | | |\n");
        }
        let (beside, ratio) = match reference.rounds() {
            0 => (beside.clone(), String::new()),
            _ => (format!("{beside}: {}", reference.in_words(unit)), measured.over(reference).in_words("")),
        };
        let gate = gate.map(|bound| bound.in_words(unit)).unwrap_or_default();
        let verdict = if self.misses_gate() {
            "MISSED"
        } else if gate.is_empty() {
            ""
        } else {
            "OK"
        };
        let figures = measured.in_words(unit);
        format!("| {what} | {figures} | {beside} | {ratio} | {gate} | {verdict} | {rounds} |\n")
    }
}

impl Bound {
    fn in_words(self, unit: &str) -> String {
        match self {
            Bound::AtMost(most) => format!("at most {most}"),
            Bound::AtLeast(least) => format!("at least {least}"),
            Bound::FigureAtMost(most) => format!("at most {most}{unit}"),
        }
    }
}

/// The rows with their head.
pub(super) fn table(rows: &[Row]) -> String {
    rows.iter().fold(HEAD.to_owned(), |table, row| table + &row.markdown())
}

#[cfg(test)]
mod tests {
    use super::super::compare::in_turn;
    use super::{Bound, Row, table};

    fn row(measured: &[f64]) -> Row {
        let [figures, reference] = in_turn(measured.len(), |round| Ok([measured[round], 2.0])).unwrap();
        Row::new("a", " ms", &figures).beside("b", &reference)
    }

    #[test]
    fn a_median_on_the_right_side_passes() {
        for bound in [Bound::AtMost(1.0), Bound::AtLeast(0.7), Bound::FigureAtMost(2.0)] {
            assert!(!row(&[1.0, 2.0, 9.0]).gate(bound).misses_gate(), "{bound:?}");
        }
    }

    #[test]
    fn a_median_on_the_wrong_side_or_none_at_all_misses() {
        for bound in [Bound::AtMost(1.0), Bound::AtLeast(1.2), Bound::FigureAtMost(2.0)] {
            assert!(row(&[2.2]).gate(bound).misses_gate(), "{bound:?}");
            assert!(row(&[]).gate(bound).misses_gate(), "{bound:?}");
            assert!(table(&[row(&[2.2]).gate(bound)]).contains("MISSED"), "{bound:?}");
        }
    }

    #[test]
    fn a_row_without_figures_tells_why() {
        let text = table(&[Row::not_measured("a", "no jq")]);
        assert!(text.ends_with("| a | not measured: no jq | | | | | |\n"), "{text}");
    }
}

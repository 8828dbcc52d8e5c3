//! The rows of the result and the Markdown table they make, as it stands in `docs/benchmarks.md`.
//! Filled by the measures, printed by `plan`. Only ratios have targets.

use super::figures::{Samples, Unit};

/// One line of the result.
#[derive(Debug)]
pub(super) struct Row {
    /// What was measured.
    pub(super) what: String,
    /// What it was measured beside.
    pub(super) beside: String,
    pub(super) unit: Unit,
    pub(super) measured: Samples,
    pub(super) reference: Samples,
    pub(super) target: Target,
}

/// Where the ratio of measured to reference is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// Reported, for people to look at.
    Free,
}

impl Row {
    /// Whether there is a target and the median ratio is not on its right side; a ratio that is no number never is.
    pub(super) fn is_missed(&self) -> bool {
        !self.meets_target()
    }

    fn meets_target(&self) -> bool {
        let ratio = self.ratio().median();
        match self.target {
            Target::AtMost(most) => ratio <= most,
            Target::AtLeast(least) => ratio >= least,
            Target::Free => true,
        }
    }

    fn ratio(&self) -> Samples {
        self.measured.over(&self.reference)
    }

    fn markdown(&self) -> String {
        let target = match self.target {
            Target::AtMost(most) => format!("at most {most}"),
            Target::AtLeast(least) => format!("at least {least}"),
            Target::Free => "none".to_owned(),
        };
        let verdict = match self.target {
            Target::Free => "",
            _ if self.is_missed() => "MISSED",
            _ => "OK",
        };
        let Row { what, beside, unit, measured, reference, .. } = self;
        let [measured_words, reference_words] = [measured, reference].map(|samples| samples.in_words(*unit));
        let ratio = self.ratio().in_words(Unit::Times);
        let rounds = measured.rounds();
        format!(
            "| {what} | {measured_words} | {beside}: {reference_words} | {ratio} | {target} | {verdict} | {rounds} |"
        )
    }
}

/// Prints the rows with their head.
pub(super) fn print(rows: &[Row]) {
    println!("| measured | median (spread) | beside, in the same rounds | ratio | target | | rounds |");
    println!("|---|---|---|---|---|---|---|");
    for row in rows {
        println!("{}", row.markdown());
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, Samples, Target, Unit};

    fn row(measured: &[f64], target: Target) -> Row {
        let mut row = Row {
            what: "a".to_owned(),
            beside: "b".to_owned(),
            unit: Unit::Milliseconds,
            measured: Samples::new(),
            reference: Samples::new(),
            target,
        };
        for &value in measured {
            row.measured.push(value);
            row.reference.push(2.0);
        }
        row
    }

    #[test]
    fn a_ratio_on_the_right_side_passes() {
        assert!(!row(&[1.0, 2.0, 9.0], Target::AtMost(1.0)).is_missed());
        assert!(!row(&[1.0, 2.0, 9.0], Target::AtLeast(0.7)).is_missed());
        assert!(!row(&[9.0], Target::Free).is_missed());
    }

    #[test]
    fn a_ratio_on_the_wrong_side_or_none_at_all_misses() {
        assert!(row(&[2.2], Target::AtMost(1.0)).is_missed());
        assert!(row(&[1.2], Target::AtLeast(0.7)).is_missed());
        assert!(row(&[], Target::AtMost(1.0)).is_missed());
        assert!(row(&[2.2], Target::AtMost(1.0)).markdown().contains("MISSED"));
    }
}

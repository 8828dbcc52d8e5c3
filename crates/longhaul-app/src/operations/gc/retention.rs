//! Which finished tasks are too old, too many or too large together.
//! Pure: `candidates` asks, and nothing here looks or deletes.

use std::fmt;
use std::time::Duration;

use longhaul_core::time::Time;

use crate::config::{RetentionSettings, show_size, show_span};

/// Why a finished task is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excess {
    Age(Duration),
    Count(u64),
    Bytes(u64),
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Age(age) => write!(f, "finished more than {} ago", show_span(*age)),
            Excess::Count(count) => write!(f, "not among the newest {count}"),
            Excess::Bytes(bytes) => write!(f, "the newer ones already take {}", show_size(*bytes)),
        }
    }
}

/// A finished task as retention sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    /// When it finished.
    pub(super) finished: Time,
    /// What it takes.
    pub(super) bytes: u64,
}

/// For each of the tasks, newest first, why it is not kept; none if it is.
pub(super) fn excess(retention: &RetentionSettings, now: Time, newest_first: &[Size]) -> Vec<Option<Excess>> {
    let (mut count, mut bytes) = (0_u64, 0_u64);
    let judge = |task: &Size| {
        count += 1;
        bytes = bytes.saturating_add(task.bytes);
        let age = retention.age.filter(|age| now.since(task.finished) > *age).map(Excess::Age);
        let many = retention.count.filter(|most| count > *most).map(Excess::Count);
        let large = retention.bytes.filter(|most| bytes > *most).map(Excess::Bytes);
        age.or(many).or(large)
    };
    newest_first.iter().map(judge).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use longhaul_core::time::Time;

    use super::{Excess, Size, excess};
    use crate::config::RetentionSettings;

    const SECOND: i64 = 1_000_000;

    /// Finished so many seconds ago, with so many bytes each.
    fn tasks(rows: &[(i64, u64)]) -> Vec<Size> {
        rows.iter().map(|(ago, bytes)| Size { finished: Time(1_000 * SECOND - ago * SECOND), bytes: *bytes }).collect()
    }

    fn judged(retention: &RetentionSettings, rows: &[(i64, u64)]) -> Vec<Option<Excess>> {
        excess(retention, Time(1_000 * SECOND), &tasks(rows))
    }

    #[test]
    fn nothing_set_keeps_everything() {
        let all = judged(&RetentionSettings::default(), &[(0, u64::MAX), (900, u64::MAX)]);
        assert_eq!(all, [None, None]);
    }

    #[test]
    fn each_limit_keeps_the_newest() {
        let rows = [(1, 10), (10, 10), (100, 10)];
        let age = Duration::from_secs(10);
        let by_age = RetentionSettings { age: Some(age), ..RetentionSettings::default() };
        assert_eq!(judged(&by_age, &rows), [None, None, Some(Excess::Age(age))], "exactly as old is kept");
        let by_count = RetentionSettings { count: Some(1), ..RetentionSettings::default() };
        assert_eq!(judged(&by_count, &rows), [None, Some(Excess::Count(1)), Some(Excess::Count(1))]);
        let by_bytes = RetentionSettings { bytes: Some(20), ..RetentionSettings::default() };
        assert_eq!(judged(&by_bytes, &rows), [None, None, Some(Excess::Bytes(20))], "exactly as much is kept");
    }

    #[test]
    fn zero_keeps_none_and_a_clock_that_went_back_makes_nothing_old() {
        let none = RetentionSettings { count: Some(0), ..RetentionSettings::default() };
        assert_eq!(judged(&none, &[(0, 0)]), [Some(Excess::Count(0))]);
        let by_age = RetentionSettings { age: Some(Duration::ZERO), ..RetentionSettings::default() };
        assert_eq!(judged(&by_age, &[(-50, 0), (0, 0), (1, 0)]), [None, None, Some(Excess::Age(Duration::ZERO))]);
    }
}

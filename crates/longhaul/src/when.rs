//! Times as people read them: local and short, relative where that says more. Programs get RFC 3339 from the views.
//! Pure: the clock and the zone are handed in.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use longhaul_core::time::Time;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The moment and the place from which times are seen.
#[derive(Debug, Clone)]
pub(crate) struct When {
    now: Timestamp,
    zone: TimeZone,
}

impl When {
    /// Now, in the zone of this machine.
    pub(crate) fn here() -> When {
        When::at(longhaul_app::now(), TimeZone::system())
    }

    pub(crate) fn at(now: Time, zone: TimeZone) -> When {
        When { now: Timestamp::from_microsecond(now.0).unwrap_or_default(), zone }
    }

    /// How long ago, such as `3m ago`; empty for text that is no time.
    pub(crate) fn ago(&self, time: &str) -> String {
        self.seconds_since(time).map_or_else(String::new, |seconds| match seconds {
            0..MINUTE => "just now".to_owned(),
            _ => format!("{} ago", short(seconds)),
        })
    }

    /// How long ago in one unit, such as `41m`.
    pub(crate) fn age(&self, time: &str) -> String {
        self.seconds_since(time).map_or_else(|| "-".to_owned(), short)
    }

    /// Whether a time is more than a day ago.
    pub(crate) fn is_old(&self, time: &str) -> bool {
        self.seconds_since(time).is_some_and(|seconds| seconds > DAY)
    }

    /// The time of day, with the date unless it is today.
    pub(crate) fn clock(&self, time: &str) -> String {
        let Ok(stamp) = time.parse::<Timestamp>() else { return time.to_owned() };
        let (then, now) = (stamp.to_zoned(self.zone.clone()), self.now.to_zoned(self.zone.clone()));
        let format = if then.date() == now.date() { "%H:%M" } else { "%b %-d %H:%M" };
        then.strftime(format).to_string()
    }

    /// The same, and how long until then: `14:05 (in 2h 10m)`.
    pub(crate) fn until(&self, time: &str) -> String {
        format!("{} (in {})", self.clock(time), longhaul_core::units::span(self.left(time)))
    }

    /// How long until then; nothing if it is past.
    pub(crate) fn left(&self, time: &str) -> Duration {
        let stamp = time.parse::<Timestamp>().unwrap_or(self.now);
        Duration::try_from(stamp.duration_since(self.now)).unwrap_or_default()
    }

    /// A sentence with its RFC 3339 times as local ones.
    pub(crate) fn localized(&self, sentence: &str) -> String {
        self.with_times(sentence, |time| self.clock(time))
    }

    /// The same, and how long it is until those that are to come.
    pub(crate) fn told(&self, sentence: &str) -> String {
        self.with_times(sentence, |time| if self.left(time).is_zero() { self.clock(time) } else { self.until(time) })
    }

    fn with_times(&self, sentence: &str, shown: impl Fn(&str) -> String) -> String {
        let words = sentence.split(' ').map(|word| {
            let bare = word.trim_end_matches([',', ';', ')', '.', ':']);
            match bare.len() > 18 && bare.parse::<Timestamp>().is_ok() {
                true => format!("{}{}", shown(bare), &word[bare.len()..]),
                false => word.to_owned(),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn seconds_since(&self, time: &str) -> Option<u64> {
        let stamp = time.parse::<Timestamp>().ok()?;
        Some(u64::try_from(self.now.duration_since(stamp).as_secs()).unwrap_or(0))
    }
}

/// A length of time in its largest unit.
fn short(seconds: u64) -> String {
    match seconds {
        0..MINUTE => format!("{seconds}s"),
        MINUTE..HOUR => format!("{}m", seconds / MINUTE),
        HOUR..DAY => format!("{}h", seconds / HOUR),
        DAY.. => format!("{}d", seconds / DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_local_short_and_dated_only_on_another_day() {
        let zone = TimeZone::get("America/New_York").unwrap();
        let now = "2026-11-18T19:00:00Z".parse::<Timestamp>().unwrap();
        let when = When::at(Time(now.as_microsecond()), zone);
        assert_eq!(when.clock("2026-11-18T19:05:00Z"), "14:05");
        assert_eq!(when.clock("2026-11-19T19:05:00.25Z"), "Nov 19 14:05");
        assert_eq!(when.until("2026-11-18T21:10:00Z"), "16:10 (in 2h 10m)");
        assert_eq!(when.ago("2026-11-18T18:57:00Z"), "3m ago");
        assert_eq!(when.ago("2026-11-18T18:59:30Z"), "just now");
        assert_eq!((when.age("2026-11-16T18:57:00Z"), when.age("")), ("2d".to_owned(), "-".to_owned()));
        assert_eq!(when.left("2026-11-18T18:00:00Z"), Duration::ZERO);
        assert_eq!(
            when.localized("codex hit its limit; it resets at 2026-11-18T19:05:00Z (task 01a1e5b6-58d3)"),
            "codex hit its limit; it resets at 14:05 (task 01a1e5b6-58d3)"
        );
    }
}

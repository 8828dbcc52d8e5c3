//! Lengths of time as people write them: `90s`, `1h30m`, `30d`. One spelling for flags, files and declared agents.
//! Used by the configuration and by the agents' crate; what it writes it reads back the same.

use std::time::Duration;

/// How a length of time is written, for messages and the reference.
pub const SPELLING: &str = "a length of time such as `500ms`, `90s`, `1h30m` or `30d`";

/// Units from the longest to the shortest, in milliseconds.
const UNITS: &[(&str, u64)] =
    &[("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Reads a length of time: numbers with units, longest unit first. None if the text is not one.
pub fn read(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total: u64 = 0;
    let mut units = UNITS.iter();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (number, after) = split_where(rest, |c| !c.is_ascii_digit());
        let (unit, after) = split_where(after.trim_start(), |c| !c.is_ascii_alphabetic());
        // The iterator is never rewound, so a unit cannot come twice or out of order.
        let (_, factor) = units.find(|(name, _)| *name == unit)?;
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(*factor)?)?;
        rest = after.trim_start();
    }
    Some(Duration::from_millis(total))
}

/// Writes a length of time, exactly, in the fewest parts.
pub fn show(span: Duration) -> String {
    let mut rest = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let mut text = String::new();
    // Weeks are read but not written: 30d says more than 4w2d.
    for (name, factor) in UNITS.iter().skip(1) {
        let count = rest / factor;
        rest %= factor;
        if count > 0 {
            text.push_str(&format!("{count}{name}"));
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

fn split_where(text: &str, stop: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(stop).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{read, show};

    #[test]
    fn spellings_mean_what_they_say() {
        for (text, seconds) in [("90s", 90), ("5h", 18_000), ("1h30m", 5_400), ("1h 30m", 5_400), ("2 d", 172_800)] {
            assert_eq!(read(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(read("1w"), Some(Duration::from_secs(604_800)));
        assert_eq!(read("1s500ms"), Some(Duration::from_millis(1_500)));
    }

    #[test]
    fn anything_else_is_none() {
        for text in [
            "",
            " ",
            "5",
            "h",
            "-5h",
            "5x",
            "1.5h",
            "5h 5",
            "30m1h",
            "1h1h",
            "5H",
            "99999999999999999999s",
            "999999999999999w",
            "５h",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for millis in [0, 1, 999, 1_000, 59_999, 60_000, 3_600_000, 5_400_000, 2_592_000_000, 90_061_001, u64::MAX] {
            let span = Duration::from_millis(millis);
            assert_eq!(read(&show(span)), Some(span), "{}", show(span));
        }
        assert_eq!(show(Duration::from_secs(30 * 86_400)), "30d");
        assert_eq!(show(Duration::from_secs(5_400)), "1h30m");
    }
}

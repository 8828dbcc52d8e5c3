//! Lengths of time and amounts of bytes as people read them: rounded, in one or two units. Every front end and every event sentence
//! writes them so. What a program or the configuration reads back is written exactly instead: that is `span.rs` for times.

use std::time::Duration;

const BYTES: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];

/// A length of time in its two largest units, from seconds to hours.
pub fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m {s:02}s"),
        (h, m, _) => format!("{h}h {m:02}m"),
    }
}

/// An amount of bytes, rounded to a tenth of its unit.
pub fn bytes(amount: u64) -> String {
    let (mut tenths, mut unit) = (u128::from(amount) * 10, None);
    for name in BYTES {
        // Rounded first, so that 1023.97 KiB is 1.0 MiB and not 1024.0 KiB.
        if tenths < 10_240 {
            break;
        }
        tenths = (tenths + 512) / 1024;
        unit = Some(name);
    }
    match unit {
        Some(name) => format!("{}.{} {name}", tenths / 10, tenths % 10),
        None => format!("{amount} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_at_most_two_units() {
        let rows =
            [(0, "0s"), (59, "59s"), (61, "1m 01s"), (3_599, "59m 59s"), (5 * 3_600, "5h 00m"), (90_061, "25h 01m")];
        for (seconds, text) in rows {
            assert_eq!(span(Duration::from_secs(seconds)), text);
        }
        assert_eq!(span(Duration::from_millis(1_999)), "1s");
    }

    #[test]
    fn amounts_are_rounded_to_a_tenth() {
        let rows = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (10 << 30, "10.0 GiB"),
            (u64::MAX, "16384.0 PiB"),
        ];
        for (amount, text) in rows {
            assert_eq!(bytes(amount), text);
        }
    }
}

//! Amounts of US dollars as decimals, kept as whole millionths so that sums are exact.
//! Used by `kind.rs` for the cost limit; pure.

const DIGITS: usize = 6;
const MICROS: u64 = 1_000_000;

/// How an amount is written, for messages and the reference.
pub(super) const SPELLING: &str = "an amount of US dollars such as `20` or `7.50`";

/// Reads a decimal with at most six places into millionths. `None` if the text is not one.
pub(super) fn read(text: &str) -> Option<u64> {
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > DIGITS {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<DIGITS$}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(MICROS)?.checked_add(fraction)
}

/// Writes millionths as a decimal without trailing zeros.
pub(super) fn show(micros: u64) -> String {
    let (whole, fraction) = (micros / MICROS, micros % MICROS);
    if fraction == 0 {
        return whole.to_string();
    }
    let fraction = format!("{fraction:0DIGITS$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::{read, show};

    #[test]
    fn decimals_are_exact_both_ways() {
        for (text, micros) in [("20", 20_000_000), ("7.5", 7_500_000), ("0.000001", 1), ("0", 0), ("1.1", 1_100_000)] {
            assert_eq!(read(text), Some(micros), "{text}");
            assert_eq!(show(micros), text);
        }
        assert_eq!(read("7.50"), Some(7_500_000));
    }

    #[test]
    fn anything_else_is_none() {
        for text in ["", ".", "1.", ".5", "-1", "$5", "1e3", "0.0000001", "inf", "99999999999999999999"] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}

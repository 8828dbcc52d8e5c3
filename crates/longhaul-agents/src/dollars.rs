//! Money as agents print it, in dollars with a fraction, made into the millionths that are stored.
//! Used by the agents' readers; what is no amount is unknown, never zero.

use serde_json::Value;

/// The millionths of a dollar; none for nothing: a price of zero is one that is not configured, or not paid per token.
pub(crate) fn micros(dollars: &Value) -> Option<u64> {
    const MOST: f64 = 1e15;
    let micros = (dollars.as_f64()? * 1e6).round();
    (1.0..MOST).contains(&micros).then_some(micros as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_kept_to_the_millionth_and_zero_is_unknown() {
        let micros = |text: &str| micros(&serde_json::from_str(text).expect("JSON"));
        assert_eq!(micros("0.00348"), Some(3480));
        assert_eq!(micros("2.9999999999999997e-05"), Some(30));
        assert_eq!(micros("3"), Some(3_000_000));
        for unknown in ["0", "-1", "1e300", "null", "\"1\""] {
            assert_eq!(micros(unknown), None, "{unknown}");
        }
    }
}

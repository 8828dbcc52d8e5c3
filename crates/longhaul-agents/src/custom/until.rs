//! The end of a usage limit as a declared agent prints it. A value that cannot be read is no time, never a guess.
//! Asked by the reader of declared agents.

use longhaul_core::time::Time;
use serde_json::Value;

use crate::clock_text::from_epoch;
use crate::reading::Moment;

/// Smaller numbers are seconds from now, larger ones a moment since 1970: no limit lasts thirty years.
const LEAST_EPOCH_SECONDS: f64 = 1e9;

/// The time a value means.
pub(super) fn time(value: &Value, moment: &Moment<'_>) -> Option<Time> {
    match value {
        Value::Number(number) => of_number(number.as_f64()?, moment),
        Value::String(text) => of_text(text.trim(), moment),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn of_text(text: &str, moment: &Moment<'_>) -> Option<Time> {
    if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
        return Some(Time(stamp.as_microsecond()));
    }
    of_number(text.parse().ok()?, moment)
}

fn of_number(number: f64, moment: &Moment<'_>) -> Option<Time> {
    if !number.is_finite() || number < 0.0 {
        return None;
    }
    if number < LEAST_EPOCH_SECONDS {
        return Some(moment.now.after(std::time::Duration::from_secs_f64(number)));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and too large ones are no time"
    )]
    from_epoch(number.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::moment;
    use serde_json::json;

    #[test]
    fn dates_and_numbers_of_any_unit_mean_the_same_moment() {
        let noon = Some(Time(1_794_744_000_000_000));
        for value in [
            json!("2026-11-15T12:00:00Z"),
            json!("2026-11-15T13:00:00+01:00"),
            json!(1_794_744_000),
            json!("1794744000"),
            json!(1_794_744_000_000_i64),
            json!(1_794_744_000_000_000_i64),
            json!(0),
        ] {
            assert_eq!(time(&value, &moment()), noon, "{value}");
        }
        assert_eq!(time(&json!(30), &moment()), Some(Time(1_794_744_030_000_000)));
    }

    #[test]
    fn anything_else_is_no_time() {
        for value in
            [json!(-1), json!(1e300), json!("soon"), json!("NaN"), json!("inf"), json!(null), json!(true), json!([])]
        {
            assert_eq!(time(&value, &moment()), None, "{value}");
        }
    }
}

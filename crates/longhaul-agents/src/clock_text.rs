//! Times that agents print for people ("8:24 PM", "8:43pm (UTC)", "Nov 19th, 2026 6:26 AM"), read with the moment they were printed.
//!
//! Last resort only: if a program also reports the exact second, that wins. Text that cannot be read is no time, never a guess.

use std::time::Duration;

use jiff::ToSpan;
use jiff::civil::{self, Date};
use jiff::tz::TimeZone;
use longhaul_core::time::Time;
use serde_json::Value;

use crate::reading::Moment;

/// A time printed to the minute may be up to a minute before the real one.
const MINUTE: Duration = Duration::from_secs(60);

/// The time right after these words, plus the minute it may be short of.
pub(crate) fn time_after(text: &str, words: &str, moment: &Moment<'_>) -> Option<Time> {
    let (_, rest) = text.split_once(words)?;
    let rest: String = rest.chars().take(80).collect();
    read(rest.trim_start(), moment)
}

/// A moment as a number since the epoch. Its size tells the unit, in case a program reports another one than it should: seconds
/// below 1e11 (the year 5138), then milliseconds, microseconds and nanoseconds.
pub(crate) fn from_epoch(number: u64) -> Option<Time> {
    let number = i64::try_from(number).ok()?;
    let micros = match number {
        ..100_000_000_000 => number * 1_000_000,
        100_000_000_000..100_000_000_000_000 => number * 1_000,
        100_000_000_000_000..100_000_000_000_000_000 => number,
        100_000_000_000_000_000.. => number / 1_000,
    };
    jiff::Timestamp::from_microsecond(micros).ok().map(|_| Time(micros))
}

/// Smaller numbers are seconds from now, larger ones a moment since 1970: no limit lasts thirty years.
const LEAST_EPOCH_SECONDS: f64 = 1e9;

/// The time that a value of a declared agent means. One that cannot be read is no time, never a guess.
pub(crate) fn from_value(value: &Value, moment: &Moment<'_>) -> Option<Time> {
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
        return Some(moment.now.after(Duration::from_secs_f64(number)));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and too large ones are no time"
    )]
    from_epoch(number.ceil() as u64)
}

/// `[month day[st][, year] [at]] hour[:minute] am|pm [(zone)]`
fn read(text: &str, moment: &Moment<'_>) -> Option<Time> {
    let (date, rest) = date(text);
    let (clock, rest) = clock(rest)?;
    let zone = zone(rest, moment.zone)?;
    let now = jiff::Timestamp::from_microsecond(moment.now.0).ok()?.to_zoned(zone.clone());
    let stamp = match date {
        Some(given) => given.in_year_after(now.date())?.to_datetime(clock).to_zoned(zone).ok()?,
        None => next_at(clock, &now)?,
    };
    Some(Time(stamp.timestamp().as_microsecond()).after(MINUTE))
}

/// Today, or tomorrow when that is past. The minute that is running now is not past: it was cut off, not rounded.
fn next_at(clock: civil::Time, now: &jiff::Zoned) -> Option<jiff::Zoned> {
    let zone = now.time_zone();
    let today = now.date().to_datetime(clock).to_zoned(zone.clone()).ok()?;
    if today.timestamp() + 59.seconds() >= now.timestamp() {
        return Some(today);
    }
    now.date().tomorrow().ok()?.to_datetime(clock).to_zoned(zone.clone()).ok()
}

struct MonthDay {
    month: i8,
    day: i8,
    year: Option<i16>,
}

impl MonthDay {
    /// Without a year the next such day is meant.
    fn in_year_after(&self, today: Date) -> Option<Date> {
        if let Some(year) = self.year {
            return Date::new(year, self.month, self.day).ok();
        }
        let this_year = Date::new(today.year(), self.month, self.day).ok();
        this_year.filter(|date| *date >= today).or_else(|| Date::new(today.year() + 1, self.month, self.day).ok())
    }
}

/// The day in front, if there is one, and what follows it.
fn date(text: &str) -> (Option<MonthDay>, &str) {
    match month_day(text) {
        Some((date, rest)) => (Some(date), rest),
        None => (None, text),
    }
}

fn month_day(text: &str) -> Option<(MonthDay, &str)> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let (word, rest) = split_where(text, |c| !c.is_ascii_alphabetic());
    let name = word.get(..3)?.to_ascii_lowercase();
    let month = i8::try_from(MONTHS.iter().position(|month| *month == name)? + 1).ok()?;
    let (day, rest) = split_where(rest.trim_start(), |c| !c.is_ascii_digit());
    let day = day.parse().ok()?;
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start_matches([',', ' ']);
    let (digits, after) = split_where(rest, |c| !c.is_ascii_digit());
    let (year, rest) = if digits.len() == 4 { (digits.parse().ok(), after) } else { (None, rest) };
    let rest = rest.trim_start_matches([',', ' ']);
    let rest = rest.strip_prefix("at ").unwrap_or(rest);
    Some((MonthDay { month, day, year }, rest))
}

fn clock(text: &str) -> Option<(civil::Time, &str)> {
    let (hour, rest) = split_where(text.trim_start(), |c| !c.is_ascii_digit());
    let hour: i8 = hour.parse().ok()?;
    let (minute, rest) = match rest.strip_prefix(':') {
        Some(rest) => {
            let (minute, rest) = split_where(rest, |c| !c.is_ascii_digit());
            (minute.parse().ok()?, rest)
        }
        None => (0, rest),
    };
    let (half, after) = split_where(rest.trim_start(), |c| !c.is_ascii_alphabetic());
    let noon = match half.to_ascii_lowercase().as_str() {
        "am" => 0,
        "pm" => 12,
        _ => return None,
    };
    if !(1..=12).contains(&hour) {
        return None;
    }
    Some((civil::Time::new(hour % 12 + noon, minute, 0, 0).ok()?, after))
}

/// The agent's own zone, unless `(UTC)` or another follows the time; others are in files that nothing here reads.
fn zone(text: &str, own: &TimeZone) -> Option<TimeZone> {
    let Some((name, _)) = text.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return Some(own.clone());
    };
    if name.eq_ignore_ascii_case("utc") {
        return Some(TimeZone::UTC);
    }
    (own.iana_name() == Some(name)).then(|| own.clone())
}

fn split_where(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(ends).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample::moment;
    use serde_json::json;

    fn at(text: &str) -> Option<String> {
        time_after(text, "at ", &moment()).map(Time::rfc3339)
    }

    #[test]
    fn every_form_is_read_with_a_minute_to_spare() {
        for (text, expected) in [
            ("try again at 8:24 PM.", "2026-11-15T20:25:00Z"),
            ("try again at 8:24\u{202f}PM", "2026-11-15T20:25:00Z"),
            ("at 8pm (UTC)", "2026-11-15T20:01:00Z"),
            ("at 12:00 AM", "2026-11-16T00:01:00Z"),
            ("at 12:30 PM", "2026-11-15T12:31:00Z"),
            ("at Nov 19th, 2026 6:26 AM.", "2026-11-19T06:27:00Z"),
            ("at Nov 19, 6am", "2026-11-19T06:01:00Z"),
            ("at January 2nd at 6 am (UTC)", "2027-01-02T06:01:00Z"),
        ] {
            assert_eq!(at(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_time_of_day_that_is_past_is_tomorrows() {
        assert_eq!(at("at 11:59 AM").as_deref(), Some("2026-11-16T12:00:00Z"));
        assert_eq!(at("at 12:00 PM").as_deref(), Some("2026-11-15T12:01:00Z"));
    }

    #[test]
    fn the_agents_zone_counts_unless_one_is_named() {
        let rome = TimeZone::fixed(jiff::tz::offset(1));
        let moment = Moment { zone: &rome, ..moment() };
        let read = |text| time_after(text, "at ", &moment).map(Time::rfc3339);
        assert_eq!(read("at 8:24 PM").as_deref(), Some("2026-11-15T19:25:00Z"));
        assert_eq!(read("at 8:24 PM (UTC)").as_deref(), Some("2026-11-15T20:25:00Z"));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "at",
            "at noon",
            "at 25:00 PM",
            "at 8:61 PM",
            "at 8:24",
            "at Nov 31st, 2026 6:26 AM",
            "at 0 am",
            "at 8pm (Mars/Base)",
        ] {
            assert_eq!(at(text), None, "{text}");
        }
    }

    #[test]
    fn the_size_of_a_number_tells_its_unit() {
        let noon = 1_794_744_000;
        for factor in [1, 1_000, 1_000_000, 1_000_000_000] {
            assert_eq!(
                from_epoch(noon * factor).map(Time::rfc3339).as_deref(),
                Some("2026-11-15T12:00:00Z"),
                "{factor}"
            );
        }
        assert_eq!(from_epoch(5), Some(Time(5_000_000)));
        assert_eq!(from_epoch(u64::MAX), None);
        assert_eq!(from_epoch(9_999_999_999).map(Time::rfc3339).as_deref(), Some("2286-11-20T17:46:39Z"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text: String) {
            time_after(&text, "", &moment());
        }
    }

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
            assert_eq!(from_value(&value, &moment()), noon, "{value}");
        }
        assert_eq!(from_value(&json!(30), &moment()), Some(Time(1_794_744_030_000_000)));
    }

    #[test]
    fn anything_else_is_no_time() {
        for value in
            [json!(-1), json!(1e300), json!("soon"), json!("NaN"), json!("inf"), json!(null), json!(true), json!([])]
        {
            assert_eq!(from_value(&value, &moment()), None, "{value}");
        }
    }
}

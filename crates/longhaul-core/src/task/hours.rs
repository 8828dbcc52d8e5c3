//! The hours of the day in which sessions may start. A choice of the person, kept in the submission; asked by the owner before each
//! session with the zone of its machine.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::{Disambiguation, TimeZone};
use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};

use crate::time::Time;

const DAY: u16 = 24 * 60;
/// Hours that a change of the clocks skips open on the day after; never later.
const DAYS: usize = 3;

/// A stretch of the day, in minutes after midnight; may go over midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hours {
    from: u16,
    to: u16,
}

/// Not hours of the day.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a time range; write it like 22:00-07:00")]
pub struct BadHours {
    text: String,
}

impl Hours {
    /// When sessions may start again; none when they may now. What the local clock shows decides: an hour that a change of the clocks
    /// skips does not exist, and one that it repeats exists twice.
    pub fn opens(self, now: Time, zone: &TimeZone) -> Option<Time> {
        let now = Timestamp::from_microsecond(now.0).ok()?;
        let local = now.to_zoned(zone.clone());
        if self.contains(&local) {
            return None;
        }
        // The local clock enters the hours by reaching their beginning, or by a jump.
        let days = std::iter::successors(Some(local.date()), |day| day.tomorrow().ok()).take(DAYS);
        let beginnings = days.flat_map(|day| self.beginnings(day, zone));
        let jumps = zone.following(now).map(|jump| jump.timestamp()).take(2);
        let opens = |at: &Timestamp| *at > now && self.contains(&at.to_zoned(zone.clone()));
        beginnings.chain(jumps).filter(opens).min().map(|at| Time(at.as_microsecond()))
    }

    fn contains(self, local: &Zoned) -> bool {
        let since = |minute: u16| (minute + DAY - self.from) % DAY;
        let minute = u16::try_from(i32::from(local.hour()) * 60 + i32::from(local.minute())).unwrap_or(0);
        since(minute) < since(self.to)
    }

    /// The moments of a day at which the local clock shows the beginning: one, or two where an hour is repeated.
    fn beginnings(self, day: Date, zone: &TimeZone) -> impl Iterator<Item = Timestamp> {
        let clock = |minutes: u16| i8::try_from(minutes).unwrap_or(0);
        let beginning = day.at(clock(self.from / 60), clock(self.from % 60), 0, 0);
        let both = [Disambiguation::Earlier, Disambiguation::Later];
        let zone = zone.clone();
        both.into_iter().filter_map(move |which| {
            let found = zone.to_ambiguous_zoned(beginning).disambiguate(which).ok()?;
            Some(found.timestamp())
        })
    }
}

impl FromStr for Hours {
    type Err = BadHours;

    fn from_str(text: &str) -> Result<Hours, BadHours> {
        let parts = text.split_once('-').and_then(|(from, to)| Some((minute(from)?, minute(to)?)));
        match parts {
            Some((from, to)) if from != to => Ok(Hours { from, to }),
            Some(_) | None => Err(BadHours { text: text.to_owned() }),
        }
    }
}

fn minute(text: &str) -> Option<u16> {
    let (hour, minute) = text.trim().split_once(':')?;
    let number = |text: &str| (text.len() == 2).then(|| text.parse::<u16>().ok()).flatten();
    let (hour, minute) = (number(hour)?, number(minute)?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hours { from, to } = self;
        write!(f, "{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)
    }
}

impl TryFrom<String> for Hours {
    type Error = BadHours;

    fn try_from(text: String) -> Result<Hours, BadHours> {
        text.parse()
    }
}

impl From<Hours> for String {
    fn from(hours: Hours) -> String {
        hours.to_string()
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> Time {
        Time(text.parse::<Timestamp>().unwrap().as_microsecond())
    }

    fn opens(hours: &str, now: &str) -> Option<Time> {
        hours.parse::<Hours>().unwrap().opens(at(now), &TimeZone::UTC)
    }

    #[test]
    fn inside_they_are_open_and_outside_they_open_at_their_beginning() {
        assert_eq!(opens("09:00-17:00", "2026-11-15T09:00:00Z"), None);
        assert_eq!(opens("09:00-17:00", "2026-11-15T16:59:59Z"), None);
        assert_eq!(opens("09:00-17:00", "2026-11-15T17:00:00Z"), Some(at("2026-11-16T09:00:00Z")));
        assert_eq!(opens("09:00-17:00", "2026-11-15T08:59:30Z"), Some(at("2026-11-15T09:00:00Z")));
    }

    #[test]
    fn they_may_go_over_midnight_and_are_of_the_machine() {
        assert_eq!(opens("22:00-07:00", "2026-11-15T23:00:00Z"), None);
        assert_eq!(opens("22:00-07:00", "2026-11-15T06:59:00Z"), None);
        assert_eq!(opens("22:00-07:00", "2026-11-15T12:00:00Z"), Some(at("2026-11-15T22:00:00Z")));
        let east = TimeZone::fixed(jiff::tz::offset(2));
        let hours: Hours = "22:00-07:00".parse().unwrap();
        assert_eq!(hours.opens(at("2026-11-15T20:30:00Z"), &east), None);
    }

    /// New York: 02:00 becomes 03:00 on 2027-03-14, and 02:00 becomes 01:00 on 2027-11-07.
    fn new_york() -> TimeZone {
        TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap()
    }

    fn opens_in_new_york(hours: &str, now: &str) -> Option<Time> {
        hours.parse::<Hours>().unwrap().opens(at(now), &new_york())
    }

    #[test]
    fn they_begin_by_the_local_clock_on_both_days_of_a_change() {
        let opens = opens_in_new_york;
        assert_eq!(opens("09:00-17:00", "2027-03-13T23:00:00Z"), Some(at("2027-03-14T13:00:00Z")));
        assert_eq!(opens("09:00-10:00", "2027-03-13T23:00:00Z"), Some(at("2027-03-14T13:00:00Z")));
        assert_eq!(opens("09:00-17:00", "2027-11-06T22:00:00Z"), Some(at("2027-11-07T14:00:00Z")));
    }

    #[test]
    fn a_skipped_hour_does_not_exist_and_a_repeated_one_exists_twice() {
        let opens = opens_in_new_york;
        assert_eq!(opens("02:30-03:30", "2027-03-14T06:00:00Z"), Some(at("2027-03-14T07:00:00Z")), "after the jump");
        assert_eq!(opens("02:00-03:00", "2027-03-14T06:00:00Z"), Some(at("2027-03-15T06:00:00Z")), "the next day");
        assert_eq!(opens("01:00-01:30", "2027-11-07T04:00:00Z"), Some(at("2027-11-07T05:00:00Z")), "the first time");
        assert_eq!(opens("01:00-01:30", "2027-11-07T05:45:00Z"), Some(at("2027-11-07T06:00:00Z")), "the second time");
    }

    /// The first minute from `now` on that is inside, found by trying each.
    fn first_minute_inside(hours: Hours, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let minutes = (0..4 * i64::from(DAY)).map(|n| now + SignedDuration::from_mins(n));
        minutes.into_iter().find(|at| hours.contains(&at.to_zoned(zone.clone())))
    }

    proptest! {
        #[test]
        fn they_open_at_the_first_minute_inside(
            days in -2i64..3,
            minute in 0i64..1440,
            from in 0u16..DAY,
            length in 1u16..DAY,
            change in prop_oneof![Just("2027-03-14T00:00:00Z"), Just("2027-11-07T00:00:00Z")],
        ) {
            let hours = Hours { from, to: (from + length) % DAY };
            let now = change.parse::<Timestamp>().unwrap() + SignedDuration::from_mins(days * i64::from(DAY) + minute);
            let opens = hours.opens(Time(now.as_microsecond()), &new_york()).map_or(now.as_microsecond(), |at| at.0);
            let expected = first_minute_inside(hours, now, &new_york()).unwrap();
            prop_assert_eq!(opens, expected.as_microsecond());
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "22-7", "22:00", "24:00-07:00", "07:00-07:00", "7:0-8:0", "22:60-07:00"] {
            assert!(text.parse::<Hours>().is_err(), "{text}");
        }
        assert_eq!("22:00-07:00".parse::<Hours>().unwrap().to_string(), "22:00-07:00");
    }
}

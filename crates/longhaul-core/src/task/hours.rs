//! The hours of the day in which sessions may start. A choice of the person, kept in the submission; asked by the owner before each
//! session with the zone of its machine.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::time::Time;

const DAY: u16 = 24 * 60;

/// A stretch of the day, in minutes after midnight; may go over midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hours {
    from: u16,
    to: u16,
}

/// Not hours of the day.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no stretch of the day: write it as 22:00-07:00")]
pub struct BadHours {
    text: String,
}

impl Hours {
    /// When sessions may start again; none when they may now.
    pub fn opens(self, now: Time, zone: &TimeZone) -> Option<Time> {
        let local = Timestamp::from_microsecond(now.0).ok()?.to_zoned(zone.clone());
        let minute = u16::try_from(i32::from(local.hour()) * 60 + i32::from(local.minute())).ok()?;
        let span = |from: u16, to: u16| (to + DAY - from) % DAY;
        if span(self.from, minute) < span(self.from, self.to) {
            return None;
        }
        let minutes = u64::from(span(minute, self.from));
        let begun = Duration::from_secs(u64::try_from(local.second()).unwrap_or(0));
        Some(now.after(Duration::from_secs(minutes * 60).saturating_sub(begun)))
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

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "22-7", "22:00", "24:00-07:00", "07:00-07:00", "7:0-8:0", "22:60-07:00"] {
            assert!(text.parse::<Hours>().is_err(), "{text}");
        }
        assert_eq!("22:00-07:00".parse::<Hours>().unwrap().to_string(), "22:00-07:00");
    }
}

//! A place in what the sessions of a task printed, as `logs` hands it out and takes it back.
//! Whoever continues there reads nothing of the sessions before it, and of its own session only what follows.

use std::fmt;
use std::str::FromStr;

use longhaul_core::task::Offset;

use super::output::OutputPlace;

/// A place in the output of a task: a reader's place after an event, and the turns that were handed out since.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LogPosition {
    /// The last event before it.
    pub(crate) event: u64,
    /// Turns after this place that were handed out.
    pub(crate) turns: u64,
    /// The place in the output of the session that the next event starts; none before that session.
    pub(crate) output: Option<OutputPlace>,
}

impl fmt::Display for LogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.event, self.turns)?;
        self.output.map_or(Ok(()), |OutputPlace { records, out, err }| {
            write!(f, ".{records}.{}.{}.{}.{}", out.segment, out.byte, err.segment, err.byte)
        })
    }
}

/// The text is no position.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is no position in a log")]
pub(crate) struct BadPosition {
    text: String,
}

impl FromStr for LogPosition {
    type Err = BadPosition;

    fn from_str(text: &str) -> Result<LogPosition, BadPosition> {
        let bad = || BadPosition { text: text.chars().take(100).collect() };
        let numbers: Vec<u64> = text.split('.').map(str::parse).collect::<Result<_, _>>().map_err(|_| bad())?;
        let offset = |segment: u64, byte| Some(Offset { segment: u32::try_from(segment).ok()?, byte });
        match numbers[..] {
            [event, turns] => Ok(LogPosition { event, turns, output: None }),
            [event, turns, records, out, out_byte, err, err_byte] => {
                let (out, err) = offset(out, out_byte).zip(offset(err, err_byte)).ok_or_else(bad)?;
                Ok(LogPosition { event, turns, output: Some(OutputPlace { records, out, err }) })
            }
            _ => Err(bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_reads_back_and_anything_else_is_refused() {
        let place =
            OutputPlace { records: 7, out: Offset { segment: 1, byte: 2 }, err: Offset { segment: 3, byte: 4 } };
        for output in [None, Some(place)] {
            let position = LogPosition { event: 5, turns: 6, output };
            assert_eq!(position.to_string().parse::<LogPosition>().unwrap(), position);
        }
        for bad in ["", "5", "5.6.7", "5.-6", "5.6.7.4294967296.2.3.4", "x.y"] {
            assert!(bad.parse::<LogPosition>().is_err(), "{bad}");
        }
    }
}

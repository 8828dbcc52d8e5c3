//! Parses the command line of the demo agent. Called first by `session.rs`.
//!
//! It is strict on purpose: an agent that accepts unknown flags would hide mistakes of its caller.

use std::ffi::OsString;

/// What the command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The conversation to resume.
    pub resume: Option<String>,
    pub(super) model: Option<String>,
    /// The sandbox mode, which it only prints: it has no sandbox.
    pub(super) sandbox: Option<String>,
    pub(super) network: bool,
}

/// A command line that the demo agent does not accept.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ArgumentError {
    #[error("unknown argument `{argument}`; expected --resume ID, --model NAME, --sandbox MODE or --network")]
    Unknown { argument: String },
    #[error("`{flag}` needs a value")]
    NoValue { flag: &'static str },
    #[error("`{flag}` is given twice")]
    Twice { flag: &'static str },
}

impl Arguments {
    /// Reads the arguments after the verb.
    pub(super) fn parse(mut args: impl Iterator<Item = OsString>) -> Result<Self, ArgumentError> {
        let mut parsed = Self::default();
        while let Some(argument) = args.next() {
            let (flag, slot) = match argument.to_str() {
                Some("--network") => {
                    if std::mem::replace(&mut parsed.network, true) {
                        return Err(ArgumentError::Twice { flag: "--network" });
                    }
                    continue;
                }
                Some("--sandbox") => ("--sandbox", &mut parsed.sandbox),
                Some("--resume") => ("--resume", &mut parsed.resume),
                Some("--model") => ("--model", &mut parsed.model),
                _ => return Err(ArgumentError::Unknown { argument: argument.to_string_lossy().into_owned() }),
            };
            let value = args.next().and_then(|value| value.into_string().ok());
            let value = value.filter(|value| !value.is_empty() && !value.starts_with('-'));
            let value = value.ok_or(ArgumentError::NoValue { flag })?;
            if slot.replace(value).is_some() {
                return Err(ArgumentError::Twice { flag });
            }
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Arguments, ArgumentError> {
        Arguments::parse(args.iter().map(OsString::from))
    }

    #[test]
    fn takes_its_flags_in_any_order() {
        let both = Arguments { resume: Some("demo-1".into()), model: Some("m".into()), ..Arguments::default() };
        let modes = Arguments { sandbox: Some("full".into()), network: true, ..Arguments::default() };
        assert_eq!(parse(&["--network", "--sandbox", "full"]), Ok(modes));
        assert_eq!(parse(&[]), Ok(Arguments::default()));
        assert_eq!(parse(&["--resume", "demo-1", "--model", "m"]).as_ref(), Ok(&both));
        assert_eq!(parse(&["--model", "m", "--resume", "demo-1"]), Ok(both));
    }

    #[test]
    fn refuses_everything_else() {
        for unknown in ["--json", "prompt", "-m", "--resume=demo-1", ""] {
            assert_eq!(parse(&[unknown]), Err(ArgumentError::Unknown { argument: unknown.into() }));
        }
        assert_eq!(parse(&["--resume"]), Err(ArgumentError::NoValue { flag: "--resume" }));
        assert_eq!(parse(&["--resume", "--model"]), Err(ArgumentError::NoValue { flag: "--resume" }));
        assert_eq!(parse(&["--network", "--network"]), Err(ArgumentError::Twice { flag: "--network" }));
        assert_eq!(parse(&["--model", "a", "--model", "b"]), Err(ArgumentError::Twice { flag: "--model" }));
    }
}

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

impl Arguments {
    /// Reads the arguments after the verb, or says what is wrong with them.
    pub(super) fn parse(mut args: impl Iterator<Item = OsString>) -> Result<Self, String> {
        const EXPECTED: &str = "--resume ID, --model NAME, --sandbox MODE or --network";
        let mut parsed = Self::default();
        while let Some(argument) = args.next() {
            let (flag, slot) = match argument.to_str() {
                Some("--network") => {
                    if std::mem::replace(&mut parsed.network, true) {
                        return Err("`--network` is given twice".to_owned());
                    }
                    continue;
                }
                Some("--sandbox") => ("--sandbox", &mut parsed.sandbox),
                Some("--resume") => ("--resume", &mut parsed.resume),
                Some("--model") => ("--model", &mut parsed.model),
                _ => return Err(format!("unknown argument `{}`; expected {EXPECTED}", argument.to_string_lossy())),
            };
            let value = args.next().and_then(|value| value.into_string().ok());
            let value = value.filter(|value| !value.is_empty() && !value.starts_with('-'));
            let value = value.ok_or_else(|| format!("`{flag}` needs a value"))?;
            if slot.replace(value).is_some() {
                return Err(format!("`{flag}` is given twice"));
            }
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Arguments, String> {
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
            let refused = parse(&[unknown]).unwrap_err();
            assert!(refused.starts_with(&format!("unknown argument `{unknown}`; expected --resume ID")), "{refused}");
        }
        assert_eq!(parse(&["--resume"]), Err("`--resume` needs a value".into()));
        assert_eq!(parse(&["--resume", "--model"]), Err("`--resume` needs a value".into()));
        assert_eq!(parse(&["--network", "--network"]), Err("`--network` is given twice".into()));
        assert_eq!(parse(&["--model", "a", "--model", "b"]), Err("`--model` is given twice".into()));
    }
}

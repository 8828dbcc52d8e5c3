//! The settings of the demo agent, read once from the environment before anything else.
//!
//! Called by `session.rs`. An invalid value is refused, never replaced by a default.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The settings.
#[derive(Debug)]
pub struct Settings {
    /// Where conversations are kept.
    pub home: PathBuf,
    /// How many steps a generic plan has; the benchmark asks for more and for shorter sessions.
    pub(super) steps: u32,
    pub(super) steps_per_session: u32,
    /// How long to wait before each step.
    pub(super) pace: Duration,
}

impl Settings {
    /// Reads the settings through a lookup of environment variables, or says which of them is wrong; an empty variable counts as not set.
    pub(super) fn read(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, String> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let number = |name, default: u32| match variable(name).map(|value| value.to_string_lossy().into_owned()) {
            None => Ok(default),
            Some(value) => value.parse().map_err(|_| format!("{name} is not a number: `{value}`")),
        };
        Ok(Self {
            home: home(&variable).ok_or("neither LONGHAUL_HOME nor HOME is set")?,
            steps: number("DEMO_STEPS", 4)?,
            steps_per_session: number("DEMO_STEPS_PER_SESSION", 2)?,
            pace: Duration::from_millis(number("DEMO_PACE_MS", 0)?.into()),
        })
    }
}

fn home(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let below = |name: &str, rest: &str| variable(name).map(|directory| PathBuf::from(directory).join(rest));
    below("LONGHAUL_HOME", "demo-agent").or_else(|| below("HOME", ".local/state/longhaul-demo-agent"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::read(&|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn the_nearest_home_wins() {
        let all = [("LONGHAUL_HOME", "/l"), ("HOME", "/h")];
        let homes: Vec<_> = (0..2).map(|skip| read(&all[skip..]).unwrap().home).collect();
        assert_eq!(homes, ["/l/demo-agent", "/h/.local/state/longhaul-demo-agent"].map(PathBuf::from));
        assert_eq!(read(&[("HOME", "")]).unwrap_err(), "neither LONGHAUL_HOME nor HOME is set");
    }

    #[test]
    fn defaults_hold_until_said_otherwise() {
        let settings = read(&[("HOME", "/h")]).unwrap();
        assert_eq!((settings.steps, settings.steps_per_session, settings.pace), (4, 2, Duration::ZERO));
        let settings = read(&[("HOME", "/h"), ("DEMO_STEPS", "9"), ("DEMO_PACE_MS", "20")]).unwrap();
        assert_eq!((settings.steps, settings.pace), (9, Duration::from_millis(20)));
    }

    #[test]
    fn refuses_what_it_can_not_read() {
        let negative = read(&[("HOME", "/h"), ("DEMO_STEPS", "-1")]).unwrap_err();
        assert_eq!(negative, "DEMO_STEPS is not a number: `-1`");
    }
}

//! Where things are by the variables of an environment: Longhaul's home, the person's directory, their configuration.
//! `config` finds the configuration file itself; agents' own directories are asked of their programs.

use std::path::PathBuf;

use longhaul_keeper::Environment;

use crate::error::{AppError, ErrorKind};

/// Longhaul's home: `$LONGHAUL_HOME`, else the XDG state directory. A relative path is refused: each directory would have another home.
pub fn home(environment: &Environment) -> Result<PathBuf, AppError> {
    if environment.get("LONGHAUL_HOME").is_some_and(|value| !value.is_empty()) {
        return named_directory(environment, "LONGHAUL_HOME").ok_or_else(|| unset("LONGHAUL_HOME is a relative path"));
    }
    match (named_directory(environment, "XDG_STATE_HOME"), named_directory(environment, "HOME")) {
        (Some(state), _) => Ok(state.join("longhaul")),
        (None, Some(home)) => Ok(home.join(".local/state/longhaul")),
        (None, None) => Err(unset("neither LONGHAUL_HOME nor HOME is set to an absolute path")),
    }
}

fn unset(what: &str) -> AppError {
    AppError::new(ErrorKind::Usage, what).hint("set LONGHAUL_HOME to the absolute path of a directory you own")
}

/// The directory that a variable names, if it names one.
pub fn named_directory(environment: &Environment, variable: &str) -> Option<PathBuf> {
    environment.get(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The person's own directory.
pub fn user_directory(environment: &Environment) -> Result<PathBuf, AppError> {
    named_directory(environment, "HOME").ok_or_else(|| {
        AppError::new(ErrorKind::Usage, "HOME is not set").hint("set it to the absolute path of your home directory")
    })
}

/// Where the person's configuration of programs is: the XDG configuration directory.
pub fn config_directory(environment: &Environment) -> Result<PathBuf, AppError> {
    match named_directory(environment, "XDG_CONFIG_HOME") {
        Some(directory) => Ok(directory),
        None => Ok(user_directory(environment)?.join(".config")),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_home_is_an_absolute_path_or_refused() {
        let home = |variables: &[(&str, &str)]| {
            let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
            super::home(&variables.collect()).map_err(|error| error.what)
        };
        let user = ("HOME", "/u");
        assert_eq!(home(&[user, ("LONGHAUL_HOME", "/l")]), Ok("/l".into()));
        for relative in ["l", "./l", "../l", "."] {
            let refused = home(&[user, ("LONGHAUL_HOME", relative)]);
            assert_eq!(refused, Err("LONGHAUL_HOME is a relative path".to_owned()), "{relative}");
        }
        assert_eq!(home(&[user, ("LONGHAUL_HOME", "")]), Ok("/u/.local/state/longhaul".into()));
        assert_eq!(home(&[user, ("XDG_STATE_HOME", "/s")]), Ok("/s/longhaul".into()));
        assert_eq!(home(&[user, ("XDG_STATE_HOME", "s")]), Ok("/u/.local/state/longhaul".into()));
        assert!(home(&[("HOME", "u")]).is_err() && home(&[]).is_err());
    }
}

//! Where things are by the variables of an environment: Longhaul's home, the person's directory, their configuration.
//! `config` finds the configuration file itself; agents' own directories are asked of their programs.

use std::path::{Path, PathBuf};

use longhaul_keeper::Environment;

use crate::error::{AppError, ErrorKind};

/// Longhaul's home: `$LONGHAUL_HOME`, else the XDG state directory.
pub fn home(environment: &Environment) -> Result<PathBuf, AppError> {
    let set = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(home) = set("LONGHAUL_HOME") {
        return absolute(&home);
    }
    if let Some(state) = set("XDG_STATE_HOME").filter(|path| path.is_absolute()) {
        return Ok(state.join("longhaul"));
    }
    let home = set("HOME").ok_or_else(|| {
        AppError::new(ErrorKind::Usage, "neither LONGHAUL_HOME nor HOME is set")
            .hint("set LONGHAUL_HOME to a directory you own")
    })?;
    absolute(&home.join(".local/state/longhaul"))
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

fn absolute(path: &Path) -> Result<PathBuf, AppError> {
    std::path::absolute(path)
        .map_err(|error| AppError::new(ErrorKind::Usage, format!("cannot use `{}`", path.display())).because(&error))
}

//! From the spec to a program ready to be executed: its path, arguments, environment and input.
//!
//! The keeper calls it before it forks. It decides what an agent sees of our environment and executes nothing.

use std::collections::BTreeMap;
use std::ffi::{CString, NulError, OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use crate::contract::{Containment, Marking, Spec};
use crate::environment::on_path;
use crate::layout::{HOME_VARIABLE, PROMPT, SESSION_VARIABLE, SessionDir, is_own_variable};
use crate::os::{Inherited, Launch};
use nix::libc;

/// Why a spec can not become a process.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    #[error("the spec names no program")]
    NoProgram,
    #[error("program `{program}` was not found in PATH")]
    NotFound { program: String },
    #[error("an argument, a variable or the working directory contains a zero byte")]
    ZeroByte(#[from] NulError),
    #[error("failed to open the prompt")]
    Prompt(#[source] io::Error),
}

type Environment = BTreeMap<OsString, OsString>;

/// Prepares everything the forked child needs.
pub(crate) fn prepare(
    spec: &Spec,
    own: Environment,
    inherited: Inherited,
    containment: Containment,
) -> Result<Launch, LaunchError> {
    let environment = environment_for(spec, own, containment);
    let name = spec.argv.first().ok_or(LaunchError::NoProgram)?;
    let program = find(name, environment.get(OsStr::new("PATH")))
        .ok_or_else(|| LaunchError::NotFound { program: name.clone() })?;
    Ok(Launch {
        program: CString::new(program.into_os_string().into_vec())?,
        arguments: spec.argv.iter().map(|argument| CString::new(argument.as_str())).collect::<Result<_, _>>()?,
        environment: environment.into_iter().map(entry).collect::<Result<_, _>>()?,
        directory: CString::new(spec.cwd.as_os_str().as_bytes())?,
        inherited,
    })
}

/// Opens the agent's standard input: the prompt as a plain file, which has an end, or nothing.
pub(crate) fn open_input(directory: &SessionDir, spec: &Spec) -> Result<OwnedFd, LaunchError> {
    if spec.no_input {
        return File::open("/dev/null").map(OwnedFd::from).map_err(LaunchError::Prompt);
    }
    let prompt = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(directory.path().join(PROMPT));
    let file = match prompt {
        Err(error) if error.kind() == io::ErrorKind::NotFound => File::open("/dev/null"),
        other => other,
    };
    file.map(OwnedFd::from).map_err(LaunchError::Prompt)
}

fn environment_for(spec: &Spec, own: Environment, containment: Containment) -> Environment {
    let home = own.get(OsStr::new(HOME_VARIABLE)).cloned();
    let listed = |name: &OsStr, list: &[String]| list.iter().any(|entry| OsStr::new(entry) == name);
    let mut environment: Environment = own
        .into_iter()
        .filter(|(name, _)| !is_own_variable(name))
        .filter(|(name, _)| spec.env_pass.as_ref().is_none_or(|pass| listed(name, pass)))
        .filter(|(name, _)| !listed(name, &spec.env_unset))
        .collect();
    environment.extend(spec.env_set.iter().map(|(name, value)| (name.into(), value.into())));
    match (spec.marking, containment) {
        (Marking::WithoutGroup, Containment::Cgroup) => environment,
        (Marking::WithoutGroup, Containment::Walk) | (Marking::Always, _) => {
            environment.insert(SESSION_VARIABLE.into(), spec.session.to_string().into());
            environment.extend(home.map(|home| (HOME_VARIABLE.into(), home)));
            environment
        }
    }
}

fn entry((name, value): (OsString, OsString)) -> Result<CString, NulError> {
    let mut entry = name.into_vec();
    entry.push(b'=');
    entry.extend(value.into_vec());
    CString::new(entry)
}

fn find(name: &str, search: Option<&OsString>) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name));
    }
    on_path(name, search?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn spec(changes: &serde_json::Value) -> Spec {
        let mut value = serde_json::json!({
            "version": 2, "session": "0190c5a4-7d4e-7c3a-8f00-0123456789ab", "task": "t", "epoch": 1,
            "argv": ["sh"], "cwd": "/",
            "env_unset": [], "env_set": {}, "env_pass": null, "secret_names": [], "marking": "always", "no_input": false,
            "stop": [], "silence_ms": null, "spare_busy": false, "wall_ms": null, "drain_ms": 2000, "caps": crate::contract::Caps::default(),
        });
        value.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        serde_json::from_value(value).unwrap()
    }

    fn own() -> Environment {
        let pairs = [("PATH", "/bin"), ("KEY", "k"), ("LONGHAUL_HOME", "/h"), ("LONGHAUL_STORE", "secret"), ("A", "a")];
        pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn names(environment: &Environment) -> Vec<&str> {
        environment.keys().filter_map(|name| name.to_str()).collect()
    }

    #[test]
    fn our_own_variables_never_pass_but_marker_and_home() {
        let environment =
            environment_for(&spec(&serde_json::json!({ "env_unset": ["KEY"] })), own(), Containment::Cgroup);
        assert_eq!(names(&environment), ["A", "LONGHAUL_HOME", "LONGHAUL_SESSION", "PATH"]);
        assert_eq!(environment[OsStr::new("LONGHAUL_SESSION")], "0190c5a4-7d4e-7c3a-8f00-0123456789ab");
    }

    #[test]
    fn what_a_group_holds_needs_none_of_our_variables() {
        let check = spec(&serde_json::json!({ "marking": "without_group" }));
        assert_eq!(names(&environment_for(&check, own(), Containment::Cgroup)), ["A", "KEY", "PATH"]);
        let walked = environment_for(&check, own(), Containment::Walk);
        assert_eq!(names(&walked), ["A", "KEY", "LONGHAUL_HOME", "LONGHAUL_SESSION", "PATH"]);
    }

    #[test]
    fn a_strict_list_passes_only_its_names_and_fixed_settings_win() {
        let changes = serde_json::json!({
            "env_pass": ["A", "LONGHAUL_STORE"], "env_set": { "A": "set", "LONGHAUL_SESSION": "forged" },
        });
        let environment = environment_for(&spec(&changes), own(), Containment::Cgroup);
        assert_eq!(names(&environment), ["A", "LONGHAUL_HOME", "LONGHAUL_SESSION"]);
        assert_eq!(environment[OsStr::new("A")], "set");
        assert_ne!(environment[OsStr::new("LONGHAUL_SESSION")], "forged");
    }

    #[test]
    fn programs_are_found_in_absolute_entries_only() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("agent");
        std::fs::write(&program, "").unwrap();
        let search = directory.path().as_os_str().to_owned();
        assert_eq!(find("agent", Some(&search)), None);
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(find("agent", Some(&search)), Some(program));
        assert_eq!(find("Cargo.toml", Some(&".".into())), None);
        assert_eq!(find("./agent", None), Some(PathBuf::from("./agent")));
    }
}

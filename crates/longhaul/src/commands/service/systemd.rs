//! The systemd user unit. `service install --kind systemd` writes it and enables it with systemctl.
//! A stop ends only the worker (`KillMode=process`): its sessions keep running under their keepers until the next worker adopts them.

use std::path::PathBuf;

use super::file::{self, MARK};
use super::worker::Worker;
use super::{Installed, ServiceStatus, word_of};
use crate::cli::ServiceKind;
use crate::commands::step::Step;
use longhaul_app::{AppError, locations};
use longhaul_keeper::Environment;

const UNIT: &str = "longhaul.service";

/// Whether a user manager answers.
pub(super) fn answers(environment: &Environment) -> bool {
    let states = ["initializing", "starting", "running", "degraded", "maintenance"];
    word_of(environment, "systemctl", &["--user", "is-system-running"])
        .is_some_and(|word| states.contains(&word.as_str()))
}

pub(super) fn install(worker: &Worker) -> Result<Vec<Step>, AppError> {
    let Some(write) = file::write(&path(&worker.environment)?, &unit(worker))? else {
        return Ok(vec![Step::command(&["systemctl", "--user", "enable", "--now", UNIT])]);
    };
    Ok(vec![
        write,
        Step::command(&["systemctl", "--user", "daemon-reload"]),
        Step::command(&["systemctl", "--user", "enable", UNIT]),
        // A worker of another home or program must not keep running.
        Step::command(&["systemctl", "--user", "restart", UNIT]),
    ])
}

pub(super) fn uninstall(environment: &Environment) -> Result<Vec<Step>, AppError> {
    let Some(remove) = file::remove(&path(environment)?)? else { return Ok(Vec::new()) };
    let mut steps = vec![Step::attempt(&["systemctl", "--user", "disable", "--now", UNIT]), remove];
    // A manager that does not answer leaves its link, which would be broken at every login.
    let (unit, link) = (path(environment)?, enabled_by(environment)?);
    if std::fs::read_link(&link).is_ok_and(|target| target == unit) {
        steps.push(Step::Unlink { path: link });
    }
    steps.push(Step::attempt(&["systemctl", "--user", "daemon-reload"]));
    Ok(steps)
}

pub(super) fn inspect(worker: &Worker) -> Result<ServiceStatus, AppError> {
    let path = path(&worker.environment)?;
    let installed = file::inspect(&path, &unit(worker))?;
    let ask = |verb: &str| match installed {
        Installed::Yes | Installed::Different => word_of(&worker.environment, "systemctl", &["--user", verb, UNIT]),
        Installed::No | Installed::Foreign => None,
    };
    let known = |word: Option<String>, yes: &str, no: &[&str]| match word.as_deref() {
        Some(word) if word == yes => Some(true),
        Some(word) if no.contains(&word) => Some(false),
        Some(_) | None => None,
    };
    Ok(ServiceStatus {
        kind: ServiceKind::Systemd,
        place: format!("`{}`", path.display()),
        installed,
        enabled: known(ask("is-enabled"), "enabled", &["disabled", "masked", "not-found"]),
        running: known(ask("is-active"), "active", &["inactive", "failed", "deactivating"]),
    })
}

fn path(environment: &Environment) -> Result<PathBuf, AppError> {
    Ok(locations::config_directory(environment)?.join("systemd/user").join(UNIT))
}

/// The link that enables the unit.
fn enabled_by(environment: &Environment) -> Result<PathBuf, AppError> {
    Ok(locations::config_directory(environment)?.join("systemd/user/default.target.wants").join(UNIT))
}

fn unit(worker: &Worker) -> String {
    let Worker { program, home, path, .. } = worker;
    let [home, path] =
        [("LONGHAUL_HOME", home), ("PATH", path)].map(|(name, value)| quoted(&format!("{name}={value}")));
    let (program, arguments) = (quoted(program), worker.arguments().join(" "));
    format!(
        include_str!("systemd.service"),
        mark = MARK,
        home = home,
        path = path,
        program = program,
        arguments = arguments
    )
}

/// One word for systemd: quoted, with specifiers as plain text. A dollar sign is plain in a variable and in a program's path.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_and_specifiers_are_text() {
        assert_eq!(quoted("/a b"), "\"/a b\"");
        assert_eq!(quoted(r#"/100%h/"x"\y$z"#), r#""/100%%h/\"x\"\\y$z""#);
    }
}

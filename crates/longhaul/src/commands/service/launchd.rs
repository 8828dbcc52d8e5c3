//! The launchd agent of macOS. `service install --kind launchd` writes it and loads it with launchctl.
//! A stop ends only the worker (`AbandonProcessGroup`): its sessions keep running under their keepers.

use std::path::PathBuf;

use super::file::{self, MARK};
use super::worker::Worker;
use super::{Installed, ServiceStatus};
use crate::cli::ServiceKind;
use crate::commands::step::Step;
use crate::start::run_program;
use longhaul_app::{AppError, locations};
use longhaul_keeper::Environment;

const LABEL: &str = "dev.longhaul.worker";

pub(super) fn install(worker: &Worker) -> Result<Vec<Step>, AppError> {
    let path = path(&worker.environment)?;
    let write = file::write(&path, &property_list(worker))?;
    let mut steps = Vec::new();
    match (&write, state(&worker.environment)) {
        (None, Some(_)) => return Ok(steps),
        (Some(_), Some(_)) => steps.push(Step::command(&["launchctl", "bootout", &target()])),
        (_, None) => {}
    }
    steps.extend(write);
    steps.push(Step::command(&["launchctl", "bootstrap", &domain(), &path.display().to_string()]));
    Ok(steps)
}

pub(super) fn uninstall(environment: &Environment) -> Result<Vec<Step>, AppError> {
    let Some(remove) = file::remove(&path(environment)?)? else { return Ok(Vec::new()) };
    Ok(vec![Step::attempt(&["launchctl", "bootout", &target()]), remove])
}

pub(super) fn inspect(worker: &Worker) -> Result<ServiceStatus, AppError> {
    let path = path(&worker.environment)?;
    let installed = file::inspect(&path, &property_list(worker))?;
    let is_ours = matches!(installed, Installed::Yes | Installed::Different);
    let answers = is_ours && worker.environment.find_program("launchctl").is_some();
    let state = if answers { state(&worker.environment) } else { None };
    Ok(ServiceStatus {
        kind: ServiceKind::Launchd,
        place: format!("`{}`", path.display()),
        installed,
        enabled: answers.then_some(state.is_some()),
        running: answers.then(|| state.is_some_and(|text| text.lines().any(|line| line.trim() == "state = running"))),
    })
}

/// What launchd reports about the agent; none if it is not loaded.
fn state(environment: &Environment) -> Option<String> {
    let output = run_program(environment, "launchctl", &["print", &target()], b"").filter(|output| output.succeeded)?;
    Some(String::from_utf8_lossy(&output.out).into_owned())
}

fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

fn target() -> String {
    format!("{}/{LABEL}", domain())
}

fn path(environment: &Environment) -> Result<PathBuf, AppError> {
    Ok(locations::user_directory(environment)?.join("Library/LaunchAgents").join(format!("{LABEL}.plist")))
}

fn property_list(worker: &Worker) -> String {
    let [program, home, path] = [&worker.program, &worker.home, &worker.path].map(|text| escaped(text));
    let arguments: Vec<String> = worker.arguments().iter().map(|word| format!("\t\t<string>{word}</string>")).collect();
    format!(
        include_str!("launchd.plist"),
        mark = MARK,
        label = LABEL,
        program = program,
        arguments = arguments.join("\n"),
        home = home,
        path = path
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::worker::Worker;
    use super::property_list;

    #[test]
    fn the_property_list_is_valid_whatever_the_paths_contain() {
        let worker = Worker {
            program: "/a <b> & c/longhaul".into(),
            home: "/h \"q\" 'x'".into(),
            path: "/bin:]]>".into(),
            environment: Vec::new().into(),
            serves: false,
        };
        let text = property_list(&worker);
        let read = plist::Value::from_reader_xml(text.as_bytes()).unwrap();
        let read = read.as_dictionary().unwrap();
        let argv = read["ProgramArguments"].as_array().unwrap();
        let argv: Vec<&str> = argv.iter().map(|word| word.as_string().unwrap()).collect();
        assert_eq!(argv, [worker.program.as_str(), "worker", "--stay"]);
        let variables = read["EnvironmentVariables"].as_dictionary().unwrap();
        assert_eq!(variables["LONGHAUL_HOME"].as_string(), Some(worker.home.as_str()));
        assert_eq!(variables["PATH"].as_string(), Some(worker.path.as_str()));
        assert_eq!(read["AbandonProcessGroup"].as_boolean(), Some(true));
        let broken = text.replace("&lt;", "<");
        assert!(plist::Value::from_reader_xml(broken.as_bytes()).is_err(), "the control: what is no XML is found");
    }
}

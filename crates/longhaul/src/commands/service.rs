//! `longhaul service`: starts a worker at boot or login and keeps it running, so that tasks continue after a reboot.
//! Installs the service, shows its status and removes it. Never touches a foreign file or line. Refused below an agent session.

mod cron;
mod file;
mod launchd;
mod systemd;
mod worker;

use serde::Serialize;
use serde_json::json;

use super::step::{Step, carry_out};
use crate::cli::{Service, ServiceKind, ServiceVerb};
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use crate::start::{ProgramOutput, run_program};
use longhaul_app::{AppError, BootService, ErrorKind};
use longhaul_keeper::Environment;

use worker::Worker;

const KINDS: [ServiceKind; 3] = [ServiceKind::Systemd, ServiceKind::Launchd, ServiceKind::Cron];

/// Whether a service of one kind is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Installed {
    No,
    /// Exactly what `install` would write now.
    Yes,
    /// Ours, but for another program, home or search path, or from another version.
    Different,
    /// Someone else's, under our name.
    Foreign,
}

/// The status of one kind of service. None is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ServiceStatus {
    kind: ServiceKind,
    place: String,
    installed: Installed,
    enabled: Option<bool>,
    running: Option<bool>,
}

/// The status of several kinds.
#[derive(Debug)]
struct Statuses {
    known: Vec<ServiceStatus>,
    /// Why a kind could not be inspected.
    unknown: Vec<AppError>,
}

pub(crate) fn service(line: &CommandLine, args: &Service) -> Result<Code, AppError> {
    let environment = &line.system.environment;
    match args.verb {
        ServiceVerb::Status { kind, json } => status(environment, kind, json),
        ServiceVerb::Install { kind, serve, dry_run } => {
            let kind = kind.map_or_else(|| suitable(environment), Ok)?;
            let worker = Worker { serves: serve, ..Worker::of(environment)? };
            let steps = match kind {
                ServiceKind::Systemd => systemd::install(&worker),
                ServiceKind::Launchd => launchd::install(&worker),
                ServiceKind::Cron => cron::install(&worker),
            }?;
            carry_out(environment, &steps, dry_run)?;
            advise(kind, dry_run);
            Ok(Code::Done)
        }
        ServiceVerb::Uninstall { kind, dry_run } => {
            let (steps, unknown) = uninstall(environment, kind)?;
            if steps.is_empty() && unknown.is_empty() {
                out::note("no service is installed");
            }
            carry_out(environment, &steps, dry_run)?;
            print_unknown(&unknown);
            Ok(Code::Done)
        }
    }
}

/// The status of every installed kind, or of the given one. A kind that cannot be inspected does not hide the others.
fn inspect(environment: &Environment, kind: Option<ServiceKind>) -> Result<Statuses, AppError> {
    let worker = Worker::of(environment)?;
    let compare = |kind, worker: &Worker| match kind {
        ServiceKind::Systemd => systemd::inspect(worker),
        ServiceKind::Launchd => launchd::inspect(worker),
        ServiceKind::Cron => cron::inspect(worker),
    };
    let (all, unknown) = of_each(kind, |kind| match compare(kind, &worker)? {
        // Perhaps it was installed with `--serve`.
        status if status.installed == Installed::Different => {
            let serving = compare(kind, &Worker { serves: true, ..worker.clone() })?;
            Ok(if serving.installed == Installed::Yes { serving } else { status })
        }
        status => Ok(status),
    })?;
    let known = all.into_iter().filter(|status| kind.is_some() || status.installed != Installed::No).collect();
    Ok(Statuses { known, unknown })
}

/// Our installed service, if there is one. Fails if a kind could not be inspected and no other is installed.
pub(crate) fn installed(environment: &Environment) -> Result<Option<BootService>, AppError> {
    let Statuses { known, unknown } = inspect(environment, None)?;
    let Some(ours) = known.iter().find(|status| status.installed != Installed::Foreign) else {
        return unknown.into_iter().next().map_or(Ok(None), Err);
    };
    Ok(Some(BootService {
        facts: ours.line(),
        is_current: ours.installed != Installed::Different,
        is_active: ours.enabled != Some(false) && ours.running != Some(false),
        needs_login: ours.kind == ServiceKind::Systemd,
    }))
}

/// Asks about the given kind, or about all and collects their failures. A foreign file always ends with its error.
fn of_each<T>(
    kind: Option<ServiceKind>,
    ask: impl Fn(ServiceKind) -> Result<T, AppError>,
) -> Result<(Vec<T>, Vec<AppError>), AppError> {
    let (mut answers, mut unknown) = (Vec::new(), Vec::new());
    for one in KINDS.into_iter().filter(|have| kind.is_none_or(|wanted| wanted == *have)) {
        match ask(one) {
            Ok(answer) => answers.push(answer),
            Err(error) if kind.is_none() && error.kind == ErrorKind::Failure => unknown.push(error),
            Err(error) => return Err(error),
        }
    }
    Ok((answers, unknown))
}

fn print_unknown(unknown: &[AppError]) {
    for error in unknown {
        out::note(&format!("one kind of service was left alone: {}", error.what));
    }
}

/// The kind that this system supports.
fn suitable(environment: &Environment) -> Result<ServiceKind, AppError> {
    if cfg!(target_os = "macos") {
        return Ok(ServiceKind::Launchd);
    }
    if systemd::answers(environment) {
        return Ok(ServiceKind::Systemd);
    }
    if environment.find_program("crontab").is_some() {
        return Ok(ServiceKind::Cron);
    }
    Err(AppError::new(ErrorKind::Failure, "found neither a systemd user manager nor crontab")
        .hint("choose a kind with `--kind`, or run `longhaul worker --stay` in your own supervisor"))
}

fn uninstall(environment: &Environment, kind: Option<ServiceKind>) -> Result<(Vec<Step>, Vec<AppError>), AppError> {
    let (steps, unknown) = of_each(kind, |kind| match kind {
        ServiceKind::Systemd => systemd::uninstall(environment),
        ServiceKind::Launchd => launchd::uninstall(environment),
        ServiceKind::Cron => cron::uninstall(environment),
    })?;
    Ok((steps.concat(), unknown))
}

fn advise(kind: ServiceKind, dry_run: bool) {
    if kind == ServiceKind::Systemd && !dry_run {
        out::note(
            "it starts when you log in; run `loginctl enable-linger` to start it at boot and keep it after logout",
        );
    }
}

fn status(environment: &Environment, kind: Option<ServiceKind>, as_json: bool) -> Result<Code, AppError> {
    let Statuses { known, unknown } = inspect(environment, kind)?;
    unknown.iter().for_each(|error| out::note(&format!("cannot inspect one kind of service: {}", error.what)));
    if as_json {
        out::json("service", &json!({ "services": known }));
        return Ok(Code::Done);
    }
    if known.is_empty() && unknown.is_empty() {
        out::data("no service is installed");
        out::note("`longhaul service install` starts a worker at boot or login");
    }
    known.iter().for_each(|status| out::data(&out::safe(&status.line())));
    Ok(Code::Done)
}

impl ServiceKind {
    /// As the command line spells it.
    fn word(self) -> &'static str {
        match self {
            ServiceKind::Systemd => "systemd",
            ServiceKind::Launchd => "launchd",
            ServiceKind::Cron => "cron",
        }
    }
}

impl ServiceStatus {
    /// As people read it.
    fn line(&self) -> String {
        let (kind, place) = (self.kind.word(), &self.place);
        let known = |is: Option<bool>, yes: &str| match is {
            Some(true) => yes.to_owned(),
            Some(false) => format!("not {yes}"),
            None => format!("{yes}: unknown"),
        };
        let rest = format!("{}, {}", known(self.enabled, "enabled"), known(self.running, "running"));
        match self.installed {
            Installed::No => format!("{kind}: not installed"),
            Installed::Yes => format!("{kind}: installed in {place}, {rest}"),
            Installed::Different => format!(
                "{kind}: installed in {place} for another program, home or PATH, {rest}; `longhaul service install` updates it"
            ),
            Installed::Foreign => format!("{kind}: not installed; {place} is not ours"),
        }
    }
}

/// The output of a system program that prints one word, whatever its exit code.
fn word_of(environment: &Environment, program: &str, arguments: &[&str]) -> Option<String> {
    let ProgramOutput { out, .. } = run_program(environment, program, arguments, b"")?;
    Some(String::from_utf8_lossy(&out).trim().to_owned())
}

//! `longhaul service`: a worker that starts with the machine or the login and stays, so that tasks go on after a reboot.
//! Installs, tells and takes away; a file or line that is not ours is never touched. Refused below an agent session.

mod cron;
mod file;
mod launchd;
mod step;
mod systemd;
mod worker;

use serde::Serialize;
use serde_json::json;

use crate::cli::{Service, ServiceKind, ServiceVerb};
use crate::exit::Code;
use crate::out;
use crate::start::{Said, converse};
use longhaul_app::{AppError, BootService, ErrorKind};

use step::Step;
use worker::Worker;

const KINDS: [ServiceKind; 3] = [ServiceKind::Systemd, ServiceKind::Launchd, ServiceKind::Cron];

/// Whether something of one kind is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Installed {
    No,
    /// Exactly what would be written now.
    Yes,
    /// Ours, for another program, home or search path, or of another version.
    Otherwise,
    /// Somebody else's, under our name.
    Foreign,
}

/// The service of one kind as it stands. None is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Standing {
    kind: ServiceKind,
    place: String,
    installed: Installed,
    enabled: Option<bool>,
    running: Option<bool>,
}

/// What a look at several kinds found.
#[derive(Debug)]
struct Looked {
    standings: Vec<Standing>,
    /// Why one or the other kind could not be looked at.
    unknown: Vec<AppError>,
}

pub(crate) fn service(args: &Service) -> Result<Code, AppError> {
    match args.verb {
        ServiceVerb::Status { kind, json } => status(kind, json),
        ServiceVerb::Install { kind, dry_run } => {
            let kind = kind.map_or_else(suitable, Ok)?;
            let steps = match kind {
                ServiceKind::Systemd => systemd::install(&Worker::here()?),
                ServiceKind::Launchd => launchd::install(&Worker::here()?),
                ServiceKind::Cron => cron::install(&Worker::here()?),
            }?;
            carry_out(&steps, dry_run)?;
            advise(kind, dry_run);
            Ok(Code::Done)
        }
        ServiceVerb::Uninstall { kind, dry_run } => {
            let (steps, unknown) = uninstall(kind)?;
            if steps.is_empty() && unknown.is_empty() {
                out::note("nothing of ours is installed");
            }
            carry_out(&steps, dry_run)?;
            tell_unknown(&unknown);
            Ok(Code::Done)
        }
    }
}

/// Every kind that is installed, and the given one in any case. Of several, one that cannot be looked at hides none of the others.
fn look(kind: Option<ServiceKind>) -> Result<Looked, AppError> {
    let worker = Worker::here()?;
    let (all, unknown) = of_each(kind, |kind| match kind {
        ServiceKind::Systemd => systemd::look(&worker),
        ServiceKind::Launchd => launchd::look(&worker),
        ServiceKind::Cron => cron::look(&worker),
    })?;
    let standings = all.into_iter().filter(|standing| kind.is_some() || standing.installed != Installed::No).collect();
    Ok(Looked { standings, unknown })
}

/// The service of ours that is installed, if one is. One that cannot be examined may be there.
pub(crate) fn installed() -> Result<Option<BootService>, AppError> {
    let Looked { standings, unknown } = look(None)?;
    let Some(ours) = standings.iter().find(|standing| standing.installed != Installed::Foreign) else {
        return unknown.into_iter().next().map_or(Ok(None), Err);
    };
    Ok(Some(BootService {
        facts: ours.line(),
        is_current: ours.installed != Installed::Otherwise,
        is_active: ours.enabled != Some(false) && ours.running != Some(false),
        needs_login: ours.kind == ServiceKind::Systemd,
    }))
}

/// Asks for the given kind, else for each of them; then what failed is set aside. What is not ours is never only set aside.
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

fn tell_unknown(unknown: &[AppError]) {
    for error in unknown {
        out::note(&format!("one kind of service is left as it is: {}", error.what));
    }
}

/// What this system has.
fn suitable() -> Result<ServiceKind, AppError> {
    if cfg!(target_os = "macos") {
        return Ok(ServiceKind::Launchd);
    }
    if systemd::answers() {
        return Ok(ServiceKind::Systemd);
    }
    if longhaul_keeper::find_program("crontab").is_some() {
        return Ok(ServiceKind::Cron);
    }
    Err(AppError::new(ErrorKind::Failure, "neither a systemd user manager nor crontab answers here")
        .hint("choose with `--kind`, or let your own supervisor run `longhaul worker --stay`"))
}

fn uninstall(kind: Option<ServiceKind>) -> Result<(Vec<Step>, Vec<AppError>), AppError> {
    let (steps, unknown) = of_each(kind, |kind| match kind {
        ServiceKind::Systemd => systemd::uninstall(),
        ServiceKind::Launchd => launchd::uninstall(),
        ServiceKind::Cron => cron::uninstall(),
    })?;
    Ok((steps.concat(), unknown))
}

fn carry_out(steps: &[Step], dry_run: bool) -> Result<(), AppError> {
    for step in steps {
        match dry_run {
            true => out::data(&out::safe_lines(&step.plan())),
            false => out::data(&out::safe(&step.take()?)),
        }
    }
    Ok(())
}

fn advise(kind: ServiceKind, dry_run: bool) {
    if kind == ServiceKind::Systemd && !dry_run {
        out::note(
            "it starts with your login; `loginctl enable-linger` lets it start with the machine and outlive a logout",
        );
    }
}

fn status(kind: Option<ServiceKind>, as_json: bool) -> Result<Code, AppError> {
    let Looked { standings, unknown } = look(kind)?;
    unknown.iter().for_each(|error| out::note(&format!("one kind of service is unknown: {}", error.what)));
    if as_json {
        out::json("service", &json!({ "services": standings }));
        return Ok(Code::Done);
    }
    if standings.is_empty() && unknown.is_empty() {
        out::data("no service is installed");
        out::note("`longhaul service install` lets a worker start with the machine or the login");
    }
    standings.iter().for_each(|standing| out::data(&out::safe(&standing.line())));
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

impl Standing {
    /// As people read it.
    fn line(&self) -> String {
        let (kind, place) = (self.kind.word(), &self.place);
        let known = |is: Option<bool>, yes: &str| match is {
            Some(true) => yes.to_owned(),
            Some(false) => format!("not {yes}"),
            None => format!("whether it is {yes} is unknown"),
        };
        let rest = format!("{}, {}", known(self.enabled, "enabled"), known(self.running, "running"));
        match self.installed {
            Installed::No => format!("{kind}: not installed"),
            Installed::Yes => format!("{kind}: installed in {place}, {rest}"),
            Installed::Otherwise => format!(
                "{kind}: installed in {place} for another program, home or PATH, {rest}; `longhaul service install` renews it"
            ),
            Installed::Foreign => format!("{kind}: not installed; {place} is not ours"),
        }
    }
}

/// What a program of the system says in one word, whether it calls that a success or not.
fn word_of(program: &str, arguments: &[&str]) -> Option<String> {
    let Said { out, .. } = converse(program, arguments, b"")?;
    Some(String::from_utf8_lossy(&out).trim().to_owned())
}

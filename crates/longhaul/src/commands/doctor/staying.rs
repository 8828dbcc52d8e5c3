//! Whether work goes on when a person leaves: after a logout, and after a reboot.
//! One part of `doctor`; it asks loginctl, systemctl and systemd-run. Nothing stays changed: the scope that is tried ends at once. What
//! they do not tell is unknown.

use longhaul_keeper::find_program;
use longhaul_keeper::{Scopes, scopes};

use super::Patient;
use super::finding::Finding;
use crate::cli::ServiceKind;
use crate::commands::service::{self, Installed, Standing};
use crate::start::answer_of;
use longhaul_app::AppError;
use longhaul_app::tag::tag;

const ENABLE: &str = "`loginctl enable-linger` lets you linger";

pub(super) fn look(patient: &Patient) -> Vec<Finding> {
    let lingers = property(&["show-user", &user(), "--property=Linger"], "Linger=");
    vec![logout(lingers), own_scopes(patient), at_boot(lingers)]
}

/// Whether what runs in the background outlives a logout.
fn logout(lingers: Option<bool>) -> Finding {
    const SUBJECT: &str = "logout";
    if find_program("loginctl").is_none() {
        return Finding::ok(SUBJECT, "there is no loginctl here that could end processes at logout");
    }
    // Without a user's name loginctl tells of the login manager itself.
    let kills = property(&["show-user", "--property=KillUserProcesses"], "KillUserProcesses=");
    match (lingers, kills) {
        (Some(true), _) => Finding::ok(SUBJECT, "lingering is on: tasks go on after a logout"),
        (Some(false), Some(false)) => {
            Finding::ok(SUBJECT, "lingering is off, but KillUserProcesses too: tasks go on after a logout")
        }
        (Some(false), Some(true)) => Finding::warning(
            SUBJECT,
            "lingering is off and KillUserProcesses on: a logout ends tasks; they go on when a worker starts",
            format!("{ENABLE}, so that tasks go on after a logout"),
        ),
        (Some(false), None) => Finding::warning(
            SUBJECT,
            "lingering is off: a logout may end tasks; they go on when a worker starts",
            format!("{ENABLE}, so that tasks go on after a logout"),
        ),
        (None, _) => Finding::unknown(SUBJECT, "loginctl does not answer"),
    }
}

/// Whether workers and sessions get scopes of their own.
fn own_scopes(patient: &Patient) -> Finding {
    const SUBJECT: &str = "scopes";
    let wanted = patient.config.as_ref().map_or(true, |loaded| loaded.settings.patience.scopes);
    let plainly = |why: &str| Finding::ok(SUBJECT, format!("workers and sessions start plainly: {why}"));
    let found = if wanted { tried() } else { Scopes::NoManager };
    match (wanted, found) {
        (false, _) => plainly("`session.scopes` is off"),
        (true, Scopes::Usable) => Finding::ok(SUBJECT, "workers and sessions start in scopes of their own"),
        (true, Scopes::NoManager) => plainly("no systemd user manager answers"),
        (true, Scopes::NoLinger) => plainly("you do not linger, so the user manager ends with your last login"),
        (true, Scopes::NoProgram) => Finding::warning(
            SUBJECT,
            "workers and sessions start plainly: there is no `systemd-run` in PATH",
            "put it on PATH, or set `session.scopes = false`",
        ),
        (true, Scopes::Failed) => Finding::warning(
            SUBJECT,
            "workers and sessions start plainly: `systemd-run --user --scope` fails",
            "try `systemd-run --user --scope true`, or set `session.scopes = false`",
        ),
    }
}

/// Whether a scope can really be had: one is made for a program that ends at once.
fn tried() -> Scopes {
    let unit = format!("--unit=longhaul-doctor-{}", tag::<8>());
    let try_one = ["--user", "--scope", "--quiet", "--collect", "--property=Delegate=yes", &unit, "--", "true"];
    match scopes() {
        Scopes::Usable if answer_of("systemd-run", &try_one).is_none() => Scopes::Failed,
        found => found,
    }
}

/// Whether a worker starts by itself after a reboot.
fn at_boot(lingers: Option<bool>) -> Finding {
    const SUBJECT: &str = "service";
    let untold = |error: &AppError| Finding::unknown(SUBJECT, format!("it cannot be told: {}", error.what));
    let looked = match service::look(None) {
        Ok(looked) => looked,
        Err(error) => return untold(&error),
    };
    let ours = |standing: &&Standing| standing.installed != Installed::Foreign;
    let Some(standing) = looked.standings.iter().find(ours) else {
        if let Some(error) = looked.unknown.first() {
            return untold(error);
        }
        let advice = "only to let tasks go on by themselves after a reboot: `longhaul service install`";
        let none = Finding::ok(SUBJECT, "none is installed: after a reboot tasks go on when a worker starts");
        return Finding { advice: Some(advice.to_owned()), ..none };
    };
    let facts = standing.line();
    match (standing.installed, standing.enabled, standing.running, standing.kind) {
        (Installed::Otherwise, ..) => Finding::warning(SUBJECT, facts, "renew it with `longhaul service install`"),
        (_, Some(false), ..) | (_, _, Some(false), _) => {
            Finding::warning(SUBJECT, facts, "`longhaul service install` enables and starts it")
        }
        (_, _, _, ServiceKind::Systemd) if lingers == Some(false) => {
            Finding::warning(SUBJECT, format!("{facts}; it ends with your last login"), format!("{ENABLE}, and so it"))
        }
        (..) => Finding::ok(SUBJECT, facts),
    }
}

/// A property of loginctl's that is yes or no.
fn property(arguments: &[&str], name: &str) -> Option<bool> {
    find_program("loginctl")?;
    match answer_of("loginctl", arguments)?.trim().strip_prefix(name)? {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn user() -> String {
    rustix::process::geteuid().as_raw().to_string()
}

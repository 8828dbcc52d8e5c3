//! Whether tasks continue without a person: after a logout, and after a reboot.
//! One part of `doctor`; it asks loginctl, systemctl and systemd-run. The scope that it tries ends at once. What they do not answer is
//! unknown.

use longhaul_keeper::{Scopes, scopes};

use super::programs::answer_of;
use crate::config::Settings;
use crate::processes::{BootService, System};
use crate::tag::tag;
use crate::views::Finding;

const ENABLE: &str = "`loginctl enable-linger` lets your processes stay after a logout";

pub(super) fn check(system: &System, settings: Option<&Settings>) -> Vec<Finding> {
    let lingers = property(system, &["show-user", &user(), "--property=Linger"], "Linger=");
    vec![logout(system, lingers), own_scopes(system, settings), at_boot(system, lingers)]
}

/// Whether background processes survive a logout.
fn logout(system: &System, lingers: Option<bool>) -> Finding {
    const SUBJECT: &str = "logout";
    if system.environment.find_program("loginctl").is_none() {
        return Finding::ok(SUBJECT, "no loginctl here, so nothing ends processes at logout");
    }
    // Without a user's name loginctl answers for the login manager itself.
    let kills = property(system, &["show-user", "--property=KillUserProcesses"], "KillUserProcesses=");
    match (lingers, kills) {
        (Some(true), _) => Finding::ok(SUBJECT, "lingering is on: tasks keep running after a logout"),
        (Some(false), Some(false)) => {
            Finding::ok(SUBJECT, "lingering is off, but so is KillUserProcesses: tasks keep running after a logout")
        }
        (Some(false), Some(true)) => Finding::warning(
            SUBJECT,
            "lingering is off and KillUserProcesses is on: a logout ends sessions; tasks continue when a worker starts",
            ENABLE,
        ),
        (Some(false), None) => Finding::warning(
            SUBJECT,
            "lingering is off: a logout may end sessions; tasks continue when a worker starts",
            ENABLE,
        ),
        (None, _) => Finding::unknown(SUBJECT, "loginctl does not answer"),
    }
}

/// Whether workers and sessions get their own scopes.
fn own_scopes(system: &System, settings: Option<&Settings>) -> Finding {
    const SUBJECT: &str = "scopes";
    let plainly = |why: &str| Finding::ok(SUBJECT, format!("workers and sessions start without scopes: {why}"));
    if !settings.is_none_or(|settings| settings.patience.scopes) {
        return plainly("`session.scopes` is off");
    }
    match try_scope(system) {
        Scopes::Usable => Finding::ok(SUBJECT, "workers and sessions start in their own scopes"),
        Scopes::NoManager => plainly("no systemd user manager answers"),
        Scopes::NoLinger => plainly("lingering is off, so the user manager ends with your last login"),
        Scopes::NoProgram => Finding::warning(
            SUBJECT,
            "workers and sessions start without scopes: there is no `systemd-run` in PATH",
            "put it on PATH, or set `session.scopes = false`",
        ),
        Scopes::Failed => Finding::warning(
            SUBJECT,
            "workers and sessions start without scopes: `systemd-run --user --scope` fails",
            "try `systemd-run --user --scope true`, or set `session.scopes = false`",
        ),
    }
}

/// Whether a scope can really be had: one is made for a program that ends at once.
fn try_scope(system: &System) -> Scopes {
    let unit = format!("--unit=longhaul-doctor-{}", tag::<8>());
    let try_one = ["--user", "--scope", "--quiet", "--collect", "--property=Delegate=yes", &unit, "--", "true"];
    match scopes() {
        Scopes::Usable if answer_of(system, "systemd-run", &try_one).is_none() => Scopes::Failed,
        found => found,
    }
}

/// Whether a worker starts by itself after a reboot.
fn at_boot(system: &System, lingers: Option<bool>) -> Finding {
    const SUBJECT: &str = "service";
    let service = match system.processes.boot_service(&system.environment) {
        Ok(Some(service)) => service,
        Ok(None) => {
            let advice = "only to continue tasks after a reboot: `longhaul service install`";
            let none = Finding::ok(SUBJECT, "not installed: after a reboot tasks continue when a worker starts");
            return Finding { advice: Some(advice.to_owned()), ..none };
        }
        Err(error) => return Finding::unknown(SUBJECT, error.what),
    };
    let BootService { facts, is_current, is_active, needs_login } = service;
    if !is_current {
        return Finding::warning(SUBJECT, facts, "renew it with `longhaul service install`");
    }
    if !is_active {
        return Finding::warning(SUBJECT, facts, "`longhaul service install` enables and starts it");
    }
    if needs_login && lingers == Some(false) {
        return Finding::warning(SUBJECT, format!("{facts}; it ends with your last login"), ENABLE);
    }
    Finding::ok(SUBJECT, facts)
}

/// A property of loginctl's that is yes or no.
fn property(system: &System, arguments: &[&str], name: &str) -> Option<bool> {
    system.environment.find_program("loginctl")?;
    match answer_of(system, "loginctl", arguments)?.trim().strip_prefix(name)? {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn user() -> String {
    rustix::process::geteuid().as_raw().to_string()
}

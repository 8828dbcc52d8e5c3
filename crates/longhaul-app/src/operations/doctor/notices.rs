//! Notices: whether the configured ways exist, and whether something waits to be delivered.
//! One part of `doctor`. It runs nothing, sends nothing and shows no value of a variable.

use std::path::Path;
use std::time::Duration;

use longhaul_core::task::Target;

use longhaul_keeper::Environment;

use super::Patient;
use super::tasks::living_workers;
use crate::app::Call;
use crate::submit::notify_targets::targets;
use crate::system_programs::desktop_program;
use crate::views::Finding;

const NOTICES: &str = "notices";
/// A living worker that can deliver what is due has done so, or tried, long before.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) async fn check(patient: &Patient<'_>) -> Vec<Finding> {
    let settings = patient.config.as_ref().ok().map(|loaded| &loaded.settings.notify);
    let targets = settings.map(|settings| targets(settings, &patient.call.app.system.environment)).unwrap_or_default();
    let mut findings: Vec<Finding> =
        targets.iter().map(|target| way(&patient.call.app.system.environment, target)).collect();
    if let Ok(call) = patient.opened.as_ref() {
        findings.extend(waiting(call).await);
    }
    findings
}

fn way(environment: &Environment, target: &Target) -> Finding {
    match target {
        Target::Command { argv } => program(environment, target, argv.first().map_or("", String::as_str)),
        Target::Desktop => program(environment, target, desktop_program()),
        Target::File { path } => directory(target, path),
        Target::Webhook { url, secret_env } => variables(environment, url, secret_env.as_deref()),
    }
}

fn program(environment: &Environment, target: &Target, program: &str) -> Finding {
    match environment.find_program(program) {
        Some(path) => Finding::ok(NOTICES, format!("{target} by `{}`", path.display())),
        None => {
            let advice = format!("install `{program}`, or remove it from `notify` in the configuration");
            Finding::problem(NOTICES, format!("{target}: program `{program}` is not found"), advice)
        }
    }
}

/// A part of the path that is replaced by a task's facts is known only then.
fn directory(target: &Target, path: &str) -> Finding {
    let parent = Path::new(path).parent().unwrap_or(Path::new("/"));
    match parent.to_string_lossy().contains('{') || parent.is_dir() {
        true => Finding::ok(NOTICES, target.to_string()),
        false => {
            let advice = format!("create the directory `{}`, or correct `notify.file`", parent.display());
            Finding::problem(NOTICES, format!("{target}: its directory does not exist"), advice)
        }
    }
}

fn variables(environment: &Environment, url: &str, secret_env: Option<&str>) -> Finding {
    let target = format!("webhook `{}`", place(url));
    let unset = |name: &&str| environment.get(name).is_none_or(|value| value.is_empty());
    match url.strip_prefix('$').into_iter().chain(secret_env).find(unset) {
        None => Finding::ok(NOTICES, target),
        Some(name) => {
            let advice = format!("set `{name}` where tasks are submitted and workers are started");
            Finding::warning(NOTICES, format!("{target}: the variable `{name}` is not set here"), advice)
        }
    }
}

/// Scheme and host of an address, or the variable that has it: the rest may be a secret.
fn place(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            format!("{scheme}://{}", host.rsplit('@').next().unwrap_or_default())
        }
        None => url.to_owned(),
    }
}

/// Notices that no worker delivers: none is alive, or those that are have not delivered them.
async fn waiting(call: &Call) -> Option<Finding> {
    let pending = match call.app.whole_store().ok()?.pending_notices().await {
        Ok(pending) => pending,
        Err(error) => return Some(Finding::unknown(NOTICES, format!("the outbox cannot be read: {error}"))),
    };
    let nobody_lives = living_workers(call.home()).is_empty();
    let waiting = pending.iter().filter(|notice| nobody_lives || notice.next_at.after(PATIENCE) <= call.now()).count();
    let facts = format!("{waiting} waiting for delivery");
    let advice = "`longhaul worker -d` delivers them, from a shell that has what they need";
    (waiting > 0).then(|| Finding::warning(NOTICES, facts, advice))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn of_an_address_only_scheme_and_host_are_shown() {
        assert_eq!(place("https://me:word@a.example:8443/T0/B0?key=1"), "https://a.example:8443");
        assert_eq!(place("https://a.example?key=1"), "https://a.example");
        assert_eq!(place("$MY_ADDRESS"), "$MY_ADDRESS");
    }
}

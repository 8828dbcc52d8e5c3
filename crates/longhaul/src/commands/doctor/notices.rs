//! Who is to be told what tasks come to: whether the configured ways are there, and whether something waits to be delivered.
//! One part of `doctor`. It runs nothing, sends nothing and reads no value of a variable.

use std::path::Path;
use std::time::Duration;

use longhaul_app::now;
use longhaul_core::task::Target;
use longhaul_keeper::find_program;
use longhaul_worker::desktop_program;

use super::Patient;
use super::finding::Finding;
use super::tasks::living_workers;
use longhaul_app::Call;
use longhaul_app::submit::notify_targets::targets;

const NOTICES: &str = "notices";
/// A worker that lives and can has delivered what is due, or has set out to, long before.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) async fn look(patient: &Patient) -> Vec<Finding> {
    let settings = patient.config.as_ref().ok().map(|loaded| &loaded.settings.notify);
    let targets = settings.map(targets).unwrap_or_default();
    let mut findings: Vec<Finding> = targets.iter().map(way).collect();
    if let Ok(call) = &patient.opened {
        findings.extend(waiting(call).await);
    }
    findings
}

fn way(target: &Target) -> Finding {
    match target {
        Target::Command { argv } => program(target, argv.first().map_or("", String::as_str)),
        Target::Desktop => program(target, desktop_program()),
        Target::File { path } => directory(target, path),
        Target::Webhook { url, secret_env } => variables(url, secret_env.as_deref()),
    }
}

fn program(target: &Target, program: &str) -> Finding {
    match find_program(program) {
        Some(path) => Finding::ok(NOTICES, format!("{target} by `{}`", path.display())),
        None => {
            let advice = format!("install `{program}`, or take it out of `notify` in the configuration");
            Finding::problem(NOTICES, format!("{target}: program `{program}` is not found"), advice)
        }
    }
}

/// A part of the path that stands for a task's facts is known only then.
fn directory(target: &Target, path: &str) -> Finding {
    let parent = Path::new(path).parent().unwrap_or(Path::new("/"));
    match parent.to_string_lossy().contains('{') || parent.is_dir() {
        true => Finding::ok(NOTICES, target.to_string()),
        false => {
            let advice = format!("make the directory `{}`, or mend `notify.file`", parent.display());
            Finding::problem(NOTICES, format!("{target}: its directory is not there"), advice)
        }
    }
}

fn variables(url: &str, secret_env: Option<&str>) -> Finding {
    let target = format!("webhook `{}`", place(url));
    let unset = |name: &&str| std::env::var_os(name).is_none_or(|value| value.is_empty());
    match url.strip_prefix('$').into_iter().chain(secret_env).find(unset) {
        None => Finding::ok(NOTICES, target),
        Some(name) => {
            let advice = format!("set `{name}` where tasks are submitted and workers are started");
            Finding::warning(NOTICES, format!("{target}: the variable `{name}` is not set here"), advice)
        }
    }
}

/// Scheme and host of an address, or the variable that has it: the rest may be what lets a stranger speak.
fn place(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            format!("{scheme}://{}", host.rsplit('@').next().unwrap_or_default())
        }
        None => url.to_owned(),
    }
}

/// Notices that nobody delivers: no worker lives, or those that do have left them lying.
async fn waiting(call: &Call) -> Option<Finding> {
    let pending = match call.store().ok()?.pending_notices().await {
        Ok(pending) => pending,
        Err(error) => return Some(Finding::unknown(NOTICES, format!("the outbox cannot be read: {error}"))),
    };
    let nobody_lives = living_workers(call.home()).is_empty();
    let waiting = pending.iter().filter(|notice| nobody_lives || notice.next_at.after(PATIENCE) <= now()).count();
    let facts = format!("{waiting} wait to be delivered");
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

//! Programs that tasks need or like to have: git, the agents, and the one that keeps the machine awake.
//! One part of `doctor`. It asks git for its version and looks for the others, but runs none of them.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use longhaul_agents::{AGENTS, Agent, LaunchSpec};
use longhaul_worker::sleep_inhibitor;

use super::Patient;
use super::finding::Finding;
use crate::start::answer_of;

/// The oldest git whose worktrees we rely on.
const OLDEST_GIT: (u32, u32) = (2, 31);
/// Stands for this very program in an agent's argv.
const OWN: &str = "longhaul";

pub(super) fn look(patient: &Patient) -> Vec<Finding> {
    vec![git(), agents(patient), awake(patient)]
}

fn git() -> Finding {
    const GIT: &str = "git";
    let Some(path) = in_path("git") else {
        let advice = "install git; without it tasks work in place and progress is counted by ticks alone";
        return Finding::warning(GIT, "not found in PATH", advice);
    };
    let shown = path.display();
    let Some(text) = answer_of("git", &["--version"]) else {
        return Finding::problem(GIT, format!("`{shown}` does not run"), "mend the installation of git");
    };
    let facts = format!("{} at `{shown}`", text.trim());
    match version_of(&text) {
        Some(found) if found >= OLDEST_GIT => Finding::ok(GIT, facts),
        Some(_) => Finding::problem(GIT, facts, format!("install git {}.{} or newer", OLDEST_GIT.0, OLDEST_GIT.1)),
        None => Finding::unknown(GIT, facts),
    }
}

/// Major and minor number in `git version 2.39.5 (Apple Git-154)` and the like.
fn version_of(text: &str) -> Option<(u32, u32)> {
    let word = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut numbers = word.split('.').map(|part| part.parse::<u32>().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// Every agent of the table; that the configured one is missing is a problem, that another is, a fact.
fn agents(patient: &Patient) -> Finding {
    const SUBJECT: &str = "agents";
    let wanted = patient.config.as_ref().ok().map(|loaded| loaded.settings.agent.as_str());
    let mut facts = Vec::new();
    let mut missing = None;
    for agent in AGENTS {
        let name = agent.about().name;
        let program = program_of(*agent);
        match program.as_deref().map(in_path) {
            None => facts.push(format!("{name}: built in")),
            Some(Some(path)) => facts.push(format!("{name}: `{}`", path.display())),
            Some(None) => {
                facts.push(format!("{name}: not found"));
                missing = missing.or((wanted == Some(name)).then_some(name));
            }
        }
    }
    match missing {
        Some(name) => {
            let advice = format!("install `{name}`, or choose another with `agent` in the configuration");
            Finding::problem(SUBJECT, facts.join(", "), advice)
        }
        None => Finding::ok(SUBJECT, facts.join(", ")),
    }
}

/// The program an agent starts; none if it is this one.
fn program_of(agent: &dyn Agent) -> Option<String> {
    let launch = agent.launch(&LaunchSpec { own_program: OWN, resumes: None, model: None, writable: None });
    launch.argv.into_iter().next().filter(|program| program != OWN)
}

fn awake(patient: &Patient) -> Finding {
    const SUBJECT: &str = "awake";
    let wanted = patient.config.as_ref().map_or(true, |loaded| loaded.settings.session.inhibit_sleep);
    let program = sleep_inhibitor();
    match (wanted, in_path(program)) {
        (false, _) => Finding::ok(SUBJECT, "the machine may sleep during sessions, as configured"),
        (true, Some(_)) => Finding::ok(SUBJECT, format!("`{program}` found")),
        (true, None) => {
            let advice = "keep the machine awake by other means, or set `session.inhibit_sleep = false`";
            Finding::warning(
                SUBJECT,
                format!("`{program}` is not found: the machine may sleep during sessions"),
                advice,
            )
        }
    }
}

/// Where a program is, as a shell would find it.
pub(super) fn in_path(program: &str) -> Option<PathBuf> {
    let is_program =
        |path: &PathBuf| path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(is_program);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(program))
        .find(is_program)
}

#[cfg(test)]
mod tests {
    use super::version_of;

    #[test]
    fn versions_are_read_in_every_spelling() {
        assert_eq!(version_of("git version 2.39.5 (Apple Git-154)\n"), Some((2, 39)));
        assert_eq!(version_of("git version 2.31"), Some((2, 31)));
        assert_eq!(version_of("git version 2.47.windows.1"), Some((2, 47)));
        assert_eq!(version_of("git version x"), None);
        assert_eq!(version_of(""), None);
        assert!(version_of("git version 2.4.1") < Some((2, 31)), "numbers, not text");
    }
}

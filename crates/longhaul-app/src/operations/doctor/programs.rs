//! Programs that tasks use: git, the agents, and the one that keeps the machine awake.
//! One part of `doctor`. It asks git and the agents for their versions, offline; nothing is changed and no token is read.

use std::path::Path;
use std::time::Duration;

use crate::agent_status::{self, AgentStatus};
use crate::config::Settings;
use crate::processes::{Asked, System};
use crate::system_programs::sleep_inhibitor;
use crate::views::Finding;

/// The oldest git whose worktrees we rely on.
const OLDEST_GIT: (u32, u32) = (2, 31);

const AGENT: &str = "agent";

/// How long a program of the system may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn check(system: &System, settings: Option<&Settings>) -> Vec<Finding> {
    let mut findings = vec![git(system)];
    findings.extend(agents(system, settings));
    findings.push(awake(system, settings));
    findings
}

/// What a program of the system prints; none if it cannot be run, fails, or does not end soon.
pub(super) fn answer_of(system: &System, program: &str, arguments: &[&str]) -> Option<String> {
    match system.processes.ask(Path::new(program), arguments, PATIENCE) {
        Asked::Said(text) => Some(text),
        Asked::Failed | Asked::Late | Asked::Unknown => None,
    }
}

fn git(system: &System) -> Finding {
    const GIT: &str = "git";
    let Some(path) = system.environment.find_program("git") else {
        let advice = "install git; without it tasks work in place, and only ticked steps count as progress";
        return Finding::warning(GIT, "not found in PATH", advice);
    };
    let shown = path.display();
    let Some(text) = answer_of(system, "git", &["--version"]) else {
        return Finding::problem(GIT, format!("`{shown}` does not run"), "reinstall git");
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

/// Every agent. Only one that the configuration names can be a problem.
fn agents(system: &System, settings: Option<&Settings>) -> Vec<Finding> {
    let tables = settings.map(|settings| settings.agents.clone()).unwrap_or_default();
    let is_wanted =
        |name: &String| settings.is_some_and(|have| have.agent.as_ref() == Some(name) || have.fallbacks.contains(name));
    let found = agent_status::probe_agents(system, &tables);
    let check = |status: &AgentStatus| if is_wanted(&status.name) { wanted(status) } else { unused(status) };
    found.iter().map(check).collect()
}

fn wanted(status: &AgentStatus) -> Finding {
    match status.advice() {
        Some(advice) if !status.is_found() => {
            let other = "or choose another with `agent` or `fallbacks` in the configuration";
            Finding::problem(AGENT, status.line(), format!("{advice}, {other}"))
        }
        Some(advice) => Finding::warning(AGENT, status.line(), advice),
        None => Finding::ok(AGENT, status.line()),
    }
}

/// An agent that the configuration does not name needs no attention yet.
fn unused(status: &AgentStatus) -> Finding {
    let advice = status.advice().map(|advice| format!("only to use it: {advice}"));
    Finding { advice, ..Finding::ok(AGENT, status.line()) }
}

fn awake(system: &System, settings: Option<&Settings>) -> Finding {
    const SUBJECT: &str = "awake";
    let wanted = settings.is_none_or(|settings| settings.patience.keep_awake);
    let program = sleep_inhibitor()[0];
    match (wanted, system.environment.find_program(program)) {
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

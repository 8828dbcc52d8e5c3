//! Programs that tasks need or like to have: git, the agents, and the one that keeps the machine awake.
//! One part of `doctor`. It asks git and the agents for their versions, offline; nothing is changed and no token is read.

use longhaul_keeper::find_program;
use longhaul_worker::sleep_inhibitor;

use super::Patient;
use super::finding::Finding;
use crate::start::answer_of;
use longhaul_app::agent_status::{self, AgentStatus};

/// The oldest git whose worktrees we rely on.
const OLDEST_GIT: (u32, u32) = (2, 31);

const AGENT: &str = "agent";

pub(super) fn look(patient: &Patient) -> Vec<Finding> {
    let mut findings = vec![git()];
    findings.extend(agents(patient));
    findings.push(awake(patient));
    findings
}

fn git() -> Finding {
    const GIT: &str = "git";
    let Some(path) = find_program("git") else {
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

/// Every agent there is; that a configured one is missing is a problem, that another is, a fact.
fn agents(patient: &Patient) -> Vec<Finding> {
    let settings = patient.config.as_ref().ok().map(|loaded| &loaded.settings);
    let tables = settings.map(|settings| settings.agents.clone()).unwrap_or_default();
    let is_wanted = |name: &String| settings.is_some_and(|have| have.agent == *name || have.fallbacks.contains(name));
    let looks = agent_status::probe_agents(&patient.system, &tables);
    looks.iter().map(|look| if is_wanted(&look.name) { wanted(look) } else { unused(look) }).collect()
}

fn wanted(look: &AgentStatus) -> Finding {
    match look.advice() {
        Some(advice) if !look.is_found() => {
            let other = "or choose another with `agent` or `fallbacks` in the configuration";
            Finding::problem(AGENT, look.line(), format!("{advice}, {other}"))
        }
        Some(advice) => Finding::warning(AGENT, look.line(), advice),
        None => Finding::ok(AGENT, look.line()),
    }
}

/// An agent that the configuration does not name is nobody's trouble yet.
fn unused(look: &AgentStatus) -> Finding {
    let advice = look.advice().map(|advice| format!("only to use it: {advice}"));
    Finding { advice, ..Finding::ok(AGENT, look.line()) }
}

fn awake(patient: &Patient) -> Finding {
    const SUBJECT: &str = "awake";
    let wanted = patient.config.as_ref().map_or(true, |loaded| loaded.settings.patience.keep_awake);
    let program = sleep_inhibitor();
    match (wanted, find_program(program)) {
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

//! The tasks of a run: what each one does is in its name, so that submission, agent and checker agree on it without asking the product.
//! Which task does what depends on the seed alone.

use std::io;
use std::process::Output;

use super::scene::Scene;

/// Works in the repository's own checkout, which all such tasks share.
pub(super) const PLACE: &str = "-place";
/// Has its checks in a clean checkout, after a setup.
pub(super) const CLEAN: &str = "-clean";
/// Submits a child task, and has a limit for both.
pub(super) const FAMILY: &str = "-family";
/// A child task, whose name begins with that of its parent.
const KID: &str = ".kid";
/// What tasks do, and which share of them; together with nothing of it there are eight kinds.
pub(super) const TRAITS: [(&str, u64); 3] = [(PLACE, 5), (CLEAN, 3), (FAMILY, 4)];
/// The agent's sessions that a family may have: enough for two tasks, not for every murder.
pub(super) const FAMILY_SESSIONS: usize = 10;

/// The name of a run's task.
pub(super) fn name(seed: u64, number: u64) -> String {
    let has = |(_, share): &&(&str, u64)| seed.wrapping_add(number).is_multiple_of(*share);
    TRAITS.iter().filter(has).fold(format!("t{number}"), |name, (what, _)| name + what)
}

/// Whether a task does this. A child has nothing of its parent but its checks and its limits.
pub(super) fn is(name: &str, what: &str) -> bool {
    name.contains(what) && parent(name).is_none()
}

/// The name of the task that a child was submitted by.
pub(super) fn parent(name: &str) -> Option<&str> {
    name.strip_suffix(KID)
}

/// The first of a task's family.
pub(super) fn head(name: &str) -> &str {
    parent(name).unwrap_or(name)
}

/// The child that a task submits.
pub(super) fn kid(name: &str) -> Option<String> {
    is(name, FAMILY).then(|| format!("{name}{KID}"))
}

/// Submits a task.
pub(super) fn submit(scene: &Scene, name: &str) -> io::Result<Output> {
    let directory = scene.directory().display();
    let command = |place: &str| format!("sh {directory}/check.sh {directory} {place}");
    let (check, setup) = (command(if is(name, CLEAN) { "clean" } else { "workspace" }), command("setup"));
    let (file, sessions) = (format!("{name}/step-3.txt"), FAMILY_SESSIONS.to_string());
    let mut words = vec!["run", "-d", "--name", name, "--agent", "bot", "--check", &check, "--expect", &file];
    let (mut variables, chosen) = (Vec::new(), |what| is(name, what));
    if chosen(PLACE) {
        words.push("--in-place");
    }
    if chosen(FAMILY) {
        words.extend(["--max-sessions", &sessions]);
    }
    if chosen(CLEAN) {
        variables.extend([("VERIFY_WHERE", "clean"), ("WORKSPACE_SETUP", &setup)]);
    }
    words.push("Outlive it");
    scene.longhaul_with(&variables, &words)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_of_task_is_in_a_run_and_the_seed_repeats_them() {
        let names = |seed| (1..=60).map(|number| name(seed, number)).collect::<Vec<_>>();
        let kinds: BTreeSet<Vec<bool>> =
            names(7).iter().map(|name| TRAITS.iter().map(|(what, _)| is(name, what)).collect()).collect();
        assert_eq!(kinds.len(), 8);
        assert!(names(7) == names(7) && names(7) != names(8));
    }

    #[test]
    fn a_child_is_no_task_of_its_parents_kind() {
        let kid = kid("t1-place-family").unwrap();
        assert_eq!((parent(&kid), head(&kid)), (Some("t1-place-family"), "t1-place-family"));
        assert!(!is(&kid, PLACE) && super::kid(&kid).is_none() && super::kid("t1-place").is_none());
    }
}

//! What is left when everything has come to its end, and what is wrong with it. Gathered through the product's verbs, git, `/proc` and
//! the agent's own files; judged by a pure function, so that each complaint has a test that it can be made.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::scene::Scene;

/// What one task came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TaskEnd {
    pub(super) state: String,
    /// The exit code of `wait`: 0 for a task that is done as it should be.
    pub(super) code: i32,
    /// The sessions of the agent that its events say were started.
    pub(super) sessions: BTreeSet<String>,
    /// Whether its chain of events is whole.
    pub(super) is_whole: bool,
    /// The files of its branch that hold the work, by step.
    pub(super) steps: Vec<Option<String>>,
}

/// Everything that is judged.
#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    /// Tasks whose submission was answered.
    pub(super) acknowledged: BTreeSet<String>,
    /// How many signals met a process.
    pub(super) signals: usize,
    pub(super) tasks: BTreeMap<String, TaskEnd>,
    /// `task session` for each agent that ran, by the agent's own word.
    pub(super) ledger: String,
    /// The same for each agent that met another one of its task.
    pub(super) doubled: String,
    /// What `store check` said, if it was not content.
    pub(super) store: Option<String>,
    /// Command lines of processes that are still there.
    pub(super) left: Vec<String>,
    /// What went wrong on the way.
    pub(super) on_the_way: Vec<String>,
}

/// The steps of every plan.
const STEPS: u32 = 3;

impl Evidence {
    /// Looks at everything a scene left.
    pub(super) fn gather(scene: &Scene) -> io::Result<Evidence> {
        let mut tasks = BTreeMap::new();
        for task in scene.json(&["list", "--all"])?["tasks"].as_array().into_iter().flatten() {
            let name = task["name"].as_str().unwrap_or_default();
            tasks.insert(name.to_owned(), end_of(scene, name, task["state"].as_str().unwrap_or_default())?);
        }
        let checked = scene.longhaul(&["store", "check"])?;
        Ok(Evidence {
            tasks,
            ledger: scene.text("ledger"),
            doubled: scene.text("doubled"),
            store: (!checked.status.success()).then(|| String::from_utf8_lossy(&checked.stderr).into_owned()),
            left: scene.processes().into_iter().map(|process| process.command).collect(),
            ..Evidence::default()
        })
    }

    /// Everything that must not be.
    pub(super) fn violations(&self) -> Vec<String> {
        let mut found = self.on_the_way.clone();
        let nothing = [
            (self.acknowledged.is_empty(), "no task was acknowledged"),
            (self.ledger.is_empty(), "no agent ran"),
            (self.signals == 0, "no signal met a process"),
        ];
        // A run in which nothing happened proves nothing.
        found.extend(nothing.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what.to_owned()));
        found.extend(self.doubled.lines().map(|line| format!("two agents at once: {line}")));
        let mut ran = BTreeSet::new();
        for line in self.ledger.lines() {
            let (task, session) = line.split_once(' ').unwrap_or((line, ""));
            if !ran.insert(session) {
                found.push(format!("session run twice: {line}"));
            }
            if !self.tasks.get(task).is_some_and(|task| task.sessions.contains(session)) {
                found.push(format!("an agent ran whose start is in no event: {line}"));
            }
        }
        let lost = self.acknowledged.iter().filter(|name| !self.tasks.contains_key(*name));
        found.extend(lost.map(|name| format!("an acknowledged task is lost: {name}")));
        found.extend(self.tasks.iter().flat_map(|(name, task)| task.violations(name)));
        found.extend(self.store.iter().map(|what| format!("store check: {what}")));
        found.extend(self.left.iter().map(|command| format!("left behind: {command}")));
        found
    }
}

impl TaskEnd {
    fn violations(&self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        if self.state != "done" || self.code != 0 {
            found.push(format!("{name} is {}, `wait` ends with {}", self.state, self.code));
        }
        if !self.is_whole {
            found.push(format!("{name}: `events --verify` complains"));
        }
        for (step, content) in (1..).zip(&self.steps) {
            if content.as_deref() != Some(&format!("{name} {step}\n")) {
                found.push(format!("{name}: its branch has step {step} as {content:?}"));
            }
        }
        found
    }
}

fn end_of(scene: &Scene, name: &str, state: &str) -> io::Result<TaskEnd> {
    let events = scene.longhaul(&["events", name, "--json"])?;
    let started = String::from_utf8_lossy(&events.stdout).into_owned();
    let started = started.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let steps = (1..=STEPS).map(|step| scene.git(&["show", &format!("longhaul/{name}:step-{step}.txt")]));
    Ok(TaskEnd {
        state: state.to_owned(),
        code: scene.longhaul(&["wait", name, "--timeout", "1"])?.status.code().unwrap_or(-1),
        sessions: started
            .filter_map(|event| Some(event["data"]["event"]["session"]["id"].as_str()?.to_owned()))
            .collect(),
        is_whole: scene.longhaul(&["events", name, "--verify"])?.status.success(),
        steps: steps.collect::<io::Result<_>>()?,
    })
}

#[cfg(test)]
mod tests;

//! What is left when everything has come to its end, and what is wrong with it. Gathered through the product's verbs, git, `/proc` and
//! the agent's own files; judged by a pure function, so that each complaint has a test that it can be made.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::scene::Scene;
use super::tasks::{self, FAMILY_SESSIONS, PLACE, TRAITS};

/// What one task came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TaskEnd {
    pub(super) id: String,
    /// The id of the task that its submission names as its parent.
    pub(super) parent: Option<String>,
    pub(super) state: String,
    /// The exit code of `wait`: 0 for a task that is done as it should be.
    pub(super) code: i32,
    /// The sessions of the agent that its events say were started.
    pub(super) sessions: BTreeSet<String>,
    /// Whether its chain of events is whole.
    pub(super) is_whole: bool,
    /// The files that hold the work, by step: of its branch, or of the checkout for a task in place.
    pub(super) steps: Vec<Option<String>>,
}

/// Everything that is judged.
#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    /// Tasks whose submission was answered, child tasks included.
    pub(super) acknowledged: BTreeSet<String>,
    /// How many signals met a process.
    pub(super) signals: usize,
    pub(super) tasks: BTreeMap<String, TaskEnd>,
    /// `task session` for each agent that ran, by the agent's own word.
    pub(super) ledger: String,
    /// What agents and checks met that must not be: one complaint per line.
    pub(super) seen: String,
    /// By family, the sessions it had when its limit was raised.
    pub(super) raised: BTreeMap<String, usize>,
    /// Clean checkouts that `gc` did not remove.
    pub(super) checkouts: Vec<String>,
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
            seen: scene.text("seen"),
            checkouts: checkouts(scene)?,
            store: (!checked.status.success()).then(|| String::from_utf8_lossy(&checked.stderr).into_owned()),
            left: scene.processes().into_iter().map(|process| process.command).collect(),
            ..Evidence::default()
        })
    }

    /// Everything that must not be.
    pub(super) fn violations(&self) -> Vec<String> {
        let mut found = self.on_the_way.clone();
        let nothing = [(self.ledger.is_empty(), "no agent ran"), (self.signals == 0, "no signal met a process")];
        // A run in which nothing happened proves nothing.
        found.extend(nothing.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what.to_owned()));
        let missing = TRAITS.iter().filter(|(what, _)| !self.acknowledged.iter().any(|name| tasks::is(name, what)));
        found.extend(missing.map(|(what, _)| format!("no task is {what}")));
        found.extend(self.seen.lines().map(str::to_owned));
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
        found.extend(self.tasks.keys().filter_map(|name| self.family_violation(name)));
        found.extend(self.checkouts.iter().map(|path| format!("`gc` leaves a clean checkout: {path}")));
        found.extend(self.store.iter().map(|what| format!("store check: {what}")));
        found.extend(self.left.iter().map(|command| format!("left behind: {command}")));
        found
    }

    /// A task that submits a child ticks its first step only when it has done so, and both share one limit.
    fn family_violation(&self, name: &str) -> Option<String> {
        let (kid, task) = (tasks::kid(name)?, self.tasks.get(name)?);
        let Some(child) = self.tasks.get(&kid) else { return Some(format!("{name}: its child is lost")) };
        if child.parent.as_ref() != Some(&task.id) {
            return Some(format!("{kid} is no child of {name}"));
        }
        let used = self.raised.get(name).copied().unwrap_or_else(|| sessions_of(name, &self.ledger));
        // Two workers that each start a session of one family do not see each other's.
        (used > FAMILY_SESSIONS + 1).then(|| format!("{name}: its family had {used} of {FAMILY_SESSIONS} sessions"))
    }
}

/// The sessions of a family, by its first task.
pub(super) fn sessions_of(head: &str, ledger: &str) -> usize {
    ledger.lines().filter(|line| line.split(' ').next().is_some_and(|task| tasks::head(task) == head)).count()
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
                found.push(format!("{name}: it has step {step} as {content:?}"));
            }
        }
        found
    }
}

fn end_of(scene: &Scene, name: &str, state: &str) -> io::Result<TaskEnd> {
    let events = scene.longhaul(&["events", name, "--json"])?;
    let started = String::from_utf8_lossy(&events.stdout).into_owned();
    let started = started.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let steps = (1..=STEPS).map(|step| {
        let file = format!("{name}/step-{step}.txt");
        if tasks::is(name, PLACE) {
            return Ok(Some(scene.text(&format!("work/{file}"))));
        }
        scene.git(&["show", &format!("longhaul/{name}:{file}")])
    });
    let task = scene.json(&["show", name])?["task"].take();
    Ok(TaskEnd {
        id: task["id"].as_str().unwrap_or_default().to_owned(),
        parent: task["parent"].as_str().map(str::to_owned),
        state: state.to_owned(),
        code: scene.longhaul(&["wait", name, "--timeout", "1"])?.status.code().unwrap_or(-1),
        sessions: started
            .filter(|event| event["data"]["kind"] == "session_started")
            .filter_map(|event| Some(event["data"]["session_id"].as_str()?.to_owned()))
            .collect(),
        is_whole: scene.longhaul(&["events", name, "--verify"])?.status.success(),
        steps: steps.collect::<io::Result<_>>()?,
    })
}

/// What is left of clean checkouts after `gc`, which is there to remove them.
fn checkouts(scene: &Scene) -> io::Result<Vec<String>> {
    scene.longhaul(&["gc"])?;
    let entries = std::fs::read_dir(scene.path("home/checkouts")).into_iter().flatten().flatten();
    Ok(entries.map(|entry| entry.path().display().to_string()).collect())
}

#[cfg(test)]
mod tests;

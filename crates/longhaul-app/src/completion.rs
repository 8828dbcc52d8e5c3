//! What a shell completes: names of tasks with a word about each, agents, branches, states and configuration keys.
//! It runs at every Tab, so it reads columns only, makes nothing, starts no worker, and answers nothing where something fails.

use longhaul_core::task::State;
use longhaul_git::Git;
use longhaul_store::{Filter, Which};

use crate::app::Call;
use crate::config::Overrides;
use crate::lookup;
use crate::session::turns::cut;
use crate::text::safe;
use crate::views::words_of;

/// More names than anybody reads.
const MOST: u32 = 300;
/// The longest description, in characters.
const LONGEST: usize = 60;

/// A name, and what it is.
pub type Named = (String, String);

/// The tasks of this project, the newest first, with their states and goals. Of tasks with one name only the newest is found by it.
pub async fn tasks(call: &Call, which: Which) -> Vec<Named> {
    let Ok(here) = lookup::of_this_project(call).await else { return Vec::new() };
    let filter = Filter { which, without_past_follow_ups: true, limit: Some(MOST), ..here };
    let found = call.summaries(filter).await.map(|found| found.tasks).unwrap_or_default();
    let about = |task: &longhaul_store::TaskSummary| {
        let state = words_of(call, task);
        let state = state.split(" (").next().unwrap_or_default();
        safe(&cut(&format!("{state}: {}", task.goal), LONGEST))
    };
    let mut names: Vec<Named> = found.iter().map(|task| (task.name.clone(), about(task))).collect();
    let mut seen = std::collections::HashSet::new();
    names.retain(|(name, _)| seen.insert(name.clone()));
    names
}

/// The built-in agents and those the configuration declares.
pub fn agents(call: &Call) -> Vec<Named> {
    let built_in = longhaul_agents::AGENTS.iter().map(|agent| agent.about());
    let mut agents: Vec<Named> = built_in.map(|about| (about.name.to_string(), about.summary.to_string())).collect();
    if let Ok(loaded) = call.load_config(&Overrides::default()) {
        let declared = loaded.settings.agents.keys().filter(|name| !agents.iter().any(|(have, _)| have == *name));
        let declared: Vec<Named> =
            declared.map(|name| (name.clone(), "declared in the configuration".to_owned())).collect();
        agents.extend(declared);
    }
    agents
}

/// The local branches of the repository here. Without a home there is no git of ours to ask.
pub fn branches(call: &Call) -> Vec<String> {
    let Ok(directory) = call.caller.directory() else { return Vec::new() };
    if !call.home().root().is_dir() {
        return Vec::new();
    }
    let repository = Git::open(&call.home().git()).and_then(|git| git.find(directory)).ok().flatten();
    repository.and_then(|repository| repository.branches().ok()).unwrap_or_default()
}

/// The stored names of all states, as `list --state` takes them.
pub fn states() -> &'static [&'static str] {
    State::NAMES
}

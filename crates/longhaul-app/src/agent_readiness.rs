//! Which agents can work now: installed, and logged in or with a key variable set. Used by `submit` before anything is stored.
//!
//! A program is asked offline and for at most three seconds. That an agent is ready is remembered in the home for ten minutes; that it is
//! not ready is never remembered, because a person may be about to change it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_agents::{Chosen, Login};
use longhaul_core::time::Time;
use longhaul_keeper::files::replace;
use serde_json::Value;

use crate::agent_status::{LoggedIn, every, key_set, log_in, login};
use crate::app::Call;
use crate::home::Home;
use crate::processes::System;

const PATIENCE: Duration = Duration::from_secs(3);
const REMEMBERED: Duration = Duration::from_secs(600);
const MEMORY: &str = "ready-agents.json";

/// Whether an agent can work now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    Ready,
    /// It is installed, and cannot or did not say whether it is logged in.
    Unknown,
    NotLoggedIn,
    NotInstalled,
}

/// An agent, and whether it can work.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub name: String,
    pub readiness: Readiness,
    /// What a person does to make it ready.
    pub help: String,
}

/// Looks at every agent that is a program of its own, all at once. Not the built-in demo agent, which only simulates work.
pub(crate) fn of_all(call: &Call, tables: &BTreeMap<String, Value>) -> Vec<Candidate> {
    let mut agents = every(tables);
    agents.retain(|agent| agent.program().is_some());
    of(call, &agents)
}

/// Looks at this agent alone.
pub(crate) fn of_one(call: &Call, agent: &Chosen) -> Option<Candidate> {
    of(call, std::slice::from_ref(agent)).pop()
}

fn of(call: &Call, agents: &[Chosen]) -> Vec<Candidate> {
    let (system, now) = (&call.app.system, call.now());
    let memory = Memory::read(call.home(), now);
    let candidates: Vec<(Candidate, Option<String>)> = std::thread::scope(|scope| {
        let looks: Vec<_> = agents.iter().map(|agent| scope.spawn(|| look(system, &memory, agent))).collect();
        looks.into_iter().filter_map(|look| look.join().ok()).collect()
    });
    memory.add(call.home(), candidates.iter().filter_map(|(_, asked)| asked.clone()), now);
    candidates.into_iter().map(|(candidate, _)| candidate).collect()
}

/// The agent, and what to remember if its program was asked and is logged in.
fn look(system: &System, memory: &Memory, agent: &Chosen) -> (Candidate, Option<String>) {
    let about = agent.about();
    let path = agent.program().and_then(|program| system.environment.find_program(program));
    let is_missing = agent.program().is_some() && path.is_none();
    let account = account(system, agent, path.as_deref());
    let (readiness, asked) = match is_missing {
        true => (Readiness::NotInstalled, None),
        false if key_set(system, agent).is_some() || memory.knows(&account) => (Readiness::Ready, None),
        false => match login(system, agent, path.as_deref(), PATIENCE) {
            LoggedIn::Yes => (Readiness::Ready, matches!(about.login, Login::Command(_)).then_some(account)),
            LoggedIn::NotNeeded => (Readiness::Ready, None),
            LoggedIn::No => (Readiness::NotLoggedIn, None),
            LoggedIn::Unknown => (Readiness::Unknown, None),
        },
    };
    (Candidate { name: about.name.to_string(), readiness, help: help(agent, is_missing) }, asked)
}

fn help(agent: &Chosen, is_missing: bool) -> String {
    let (about, key) = (agent.about(), if agent.is_custom() { "argv" } else { "program" });
    match (is_missing, about.install_help) {
        (true, Some(command)) => format!("install it with {command}"),
        (true, None) => format!("install it, or set `{key}` in [agents.{}]", about.name),
        (false, _) => log_in(about.login_help),
    }
}

/// Whose login it is: the program, and the directories that hold the login. No keys, and nothing made from one.
fn account(system: &System, agent: &Chosen, path: Option<&Path>) -> String {
    let directories = ["HOME"].into_iter().chain(agent.about().homes.iter().map(|home| home.env));
    let directories = directories.map(|name| system.environment.get(name).unwrap_or_default().to_string_lossy());
    let path = path.map(Path::to_string_lossy).unwrap_or_default();
    [agent.about().name.clone(), path].into_iter().chain(directories).collect::<Vec<_>>().join("\n")
}

/// Which accounts were logged in, and when their programs reported it, in microseconds.
struct Memory(BTreeMap<String, i64>);

impl Memory {
    fn read(home: &Home, now: Time) -> Memory {
        let text = std::fs::read_to_string(place(home)).unwrap_or_default();
        let mut known: BTreeMap<String, i64> = serde_json::from_str(&text).unwrap_or_default();
        known.retain(|_, at| Time(*at) <= now && now.since(Time(*at)) < REMEMBERED);
        Memory(known)
    }

    fn knows(&self, account: &str) -> bool {
        self.0.contains_key(account)
    }

    /// Without a home nothing is remembered: a refused request makes none.
    fn add(mut self, home: &Home, accounts: impl Iterator<Item = String>, now: Time) {
        let before = self.0.len();
        self.0.extend(accounts.map(|account| (account, now.0)));
        if self.0.len() > before && home.root().is_dir() {
            let bytes = serde_json::to_vec(&self.0).unwrap_or_default();
            // Only speed is lost if it cannot be written.
            replace(home.root(), MEMORY, &bytes).ok();
        }
    }
}

fn place(home: &Home) -> PathBuf {
    home.root().join(MEMORY)
}

//! What is known about every agent without a session: found, version, known good, logged in. For `agents` and `doctor`.
//! Programs are asked offline and with a deadline; their tokens are never read, and nothing is changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_agents::{AGENTS, Chosen, Login, choose};
use serde_json::Value;

use crate::config::Settings;
use crate::operations::AgentView;
use crate::processes::{Asked, System};

/// How long a program may take to report its version or its login.
const PATIENCE: Duration = Duration::from_secs(10);
const LONGEST_VERSION: usize = 60;
const KNOWN: &str = "known good";
const STRANGE: &str = "not tested";

/// What was seen of one agent.
#[derive(Debug, Clone)]
pub(crate) struct AgentStatus {
    pub name: String,
    pub summary: String,
    /// Whether the configuration declares it.
    custom: bool,
    /// The program, by its name or path; none when it is this very binary.
    program: Option<String>,
    path: Option<PathBuf>,
    pub version: VersionAnswer,
    /// The versions it was tried with.
    known: &'static [&'static str],
    login: LoggedIn,
    /// What a person does to log in.
    login_help: Option<&'static str>,
    /// The command that installs it.
    install_help: Option<&'static str>,
    /// A variable with a key that is set; only a session shows whether the key is good.
    key: Option<String>,
}

/// What a program answers when asked for its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VersionAnswer {
    Version(String),
    /// It did not answer in time.
    Silent,
    /// It was not asked, or said nothing that could be one.
    Nothing,
}

impl VersionAnswer {
    /// In words, if there is anything to say.
    pub(crate) fn words(&self) -> Option<String> {
        match self {
            VersionAnswer::Version(version) => Some(version.clone()),
            VersionAnswer::Silent => Some(format!("no answer within {} s", PATIENCE.as_secs())),
            VersionAnswer::Nothing => None,
        }
    }

    fn version(&self) -> Option<&str> {
        match self {
            VersionAnswer::Version(version) => Some(version),
            VersionAnswer::Silent | VersionAnswer::Nothing => None,
        }
    }
}

/// Whether a program is logged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoggedIn {
    Yes,
    No,
    NotNeeded,
    Unknown,
}

impl LoggedIn {
    /// The word for it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            LoggedIn::Yes => "yes",
            LoggedIn::No => "no",
            LoggedIn::NotNeeded => "not needed",
            LoggedIn::Unknown => "unknown",
        }
    }
}

/// Every agent, those of the table first, then those that these tables declare.
pub(crate) fn every(tables: &BTreeMap<String, Value>) -> Vec<Chosen> {
    let built_in = AGENTS.iter().map(|agent| agent.about().name.to_string());
    let declared = tables.keys().filter(|name| longhaul_agents::find(name).is_err()).cloned();
    built_in.chain(declared).filter_map(|name| choose(&name, tables).ok()).collect()
}

/// Looks at every agent.
pub(crate) fn probe_agents(system: &System, tables: &BTreeMap<String, Value>) -> Vec<AgentStatus> {
    let agents = every(tables);
    // Each program may take its whole time; together they take no longer.
    std::thread::scope(|scope| {
        let looks: Vec<_> = agents.iter().map(|agent| scope.spawn(|| of(system, agent))).collect();
        looks.into_iter().filter_map(|look| look.join().ok()).collect()
    })
}

fn of(system: &System, agent: &Chosen) -> AgentStatus {
    let about = agent.about();
    let path = agent.program().and_then(|program| system.environment.find_program(program));
    AgentStatus {
        name: about.name.to_string(),
        summary: about.summary.to_string(),
        custom: agent.is_custom(),
        program: agent.program().map(str::to_owned),
        version: path.as_deref().map_or(VersionAnswer::Nothing, |path| version(system, agent, path)),
        known: about.version.known,
        login: login(system, agent, path.as_deref(), PATIENCE),
        login_help: about.login_help,
        install_help: about.install_help,
        key: key_set(system, agent),
        path,
    }
}

/// What the program says, on one line.
fn version(system: &System, agent: &Chosen, path: &Path) -> VersionAnswer {
    let arguments: Vec<&str> = agent.about().version.arguments.iter().map(|argument| &**argument).collect();
    if arguments.is_empty() {
        return VersionAnswer::Nothing;
    }
    let text = match system.processes.ask(path, &arguments, PATIENCE) {
        Asked::Said(text) => text,
        Asked::Late => return VersionAnswer::Silent,
        Asked::Failed | Asked::Unknown => return VersionAnswer::Nothing,
    };
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.map_or(VersionAnswer::Nothing, |line| VersionAnswer::Version(line.chars().take(LONGEST_VERSION).collect()))
}

/// Whether it is logged in, as far as it answers in time.
pub(crate) fn login(system: &System, agent: &Chosen, path: Option<&Path>, patience: Duration) -> LoggedIn {
    match (agent.about().login, path) {
        (Login::NotNeeded, _) => LoggedIn::NotNeeded,
        (Login::Command(arguments), Some(path)) => match system.processes.ask(path, arguments, patience) {
            Asked::Said(_) => LoggedIn::Yes,
            // Without a login a key may do as well; only a session shows whether it is good.
            Asked::Failed if key_set(system, agent).is_none() => LoggedIn::No,
            Asked::Failed | Asked::Late | Asked::Unknown => LoggedIn::Unknown,
        },
        (Login::Command(_) | Login::Unknown, _) => LoggedIn::Unknown,
    }
}

/// A variable that is set and holds a key of the agent: a secret by its name, or named by the program's own configuration.
pub(crate) fn key_set(system: &System, agent: &Chosen) -> Option<String> {
    let is_set = |name: &String| system.environment.get(name).is_some_and(|value| !value.is_empty());
    let own = agent.about().env.iter().filter(|name| longhaul_redact::is_secret_name(name));
    own.map(ToString::to_string).chain(provider_keys(system, agent)).find(is_set)
}

/// The variables that any agent takes its login and configuration from, and those that a task needs; names, each once.
pub fn agent_variables(system: &System, settings: &Settings) -> Vec<String> {
    let of = |agent: &Chosen| -> Vec<String> {
        agent.about().env.iter().map(ToString::to_string).chain(provider_keys(system, agent)).collect()
    };
    let agents = every(&settings.agents);
    let names: BTreeSet<String> = agents.iter().flat_map(of).chain(settings.env.need.iter().cloned()).collect();
    names.into_iter().collect()
}

/// The variables with keys of other providers.
fn provider_keys(system: &System, agent: &Chosen) -> Vec<String> {
    let Some(keys) = agent.provider_keys() else { return Vec::new() };
    let set = system.environment.get(keys.env).filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = set.or_else(|| Some(PathBuf::from(system.environment.get("HOME")?).join(keys.default)));
    let text = directory.and_then(|directory| std::fs::read_to_string(directory.join(keys.file)).ok());
    text.map_or_else(Vec::new, |text| keys.names_in(&text))
}

/// What a person does to log in.
pub(crate) fn log_in(help: Option<&str>) -> String {
    format!("log in with {}", help.unwrap_or("the program itself; see its help"))
}

impl AgentStatus {
    /// Whether it can be started.
    pub(crate) fn is_found(&self) -> bool {
        self.program.is_none() || self.path.is_some()
    }

    /// Where it is.
    fn place(&self) -> String {
        match (&self.program, &self.path) {
            (None, _) => "built in".to_owned(),
            (Some(_), Some(path)) => path.display().to_string(),
            (Some(_), None) => "not found".to_owned(),
        }
    }

    /// Whether its version is one it was tried with; none if unknown.
    fn known_good(&self) -> Option<bool> {
        let version = self.version.version().filter(|_| !self.known.is_empty())?;
        let words = version.split(|c: char| !c.is_ascii_alphanumeric() && !".-+".contains(c));
        Some(words.map(|word| word.strip_prefix('v').unwrap_or(word)).any(|word| self.known.contains(&word)))
    }

    /// What to do about it, if anything.
    pub(crate) fn advice(&self) -> Option<String> {
        let name = &self.name;
        if !self.is_found() {
            let program = self.program.as_deref().unwrap_or(name);
            let key = if self.custom { "argv" } else { "program" };
            let how = self.install_help.map_or_else(String::new, |command| format!(" ({command})"));
            return Some(format!("install `{program}`{how}, or set `{key}` in [agents.{name}]"));
        }
        if self.login == LoggedIn::No {
            return Some(log_in(self.login_help));
        }
        if let (LoggedIn::Unknown, None, Some(help)) = (&self.login, &self.key, self.login_help) {
            return Some(format!("if it is not logged in: {}", log_in(Some(help))));
        }
        if self.known_good() == Some(false) {
            return Some(format!("tested with {}; other versions may work", self.known.join(", ")));
        }
        None
    }

    /// On one line, for `doctor`.
    pub(crate) fn line(&self) -> String {
        let mut facts = vec![self.place()];
        facts.extend(self.version.words());
        facts.extend(self.known_good().map(|good| if good { KNOWN.to_owned() } else { STRANGE.to_owned() }));
        if self.is_found() && self.login != LoggedIn::NotNeeded {
            facts.push(format!("logged in: {}", self.login.word()));
            facts.extend(self.key_words());
        }
        format!("{}: {}", self.name, facts.join("; "))
    }

    /// The variable with a key, in words.
    fn key_words(&self) -> Option<String> {
        self.key.as_ref().map(|name| format!("{name} is set"))
    }

    /// As front ends show it, without its usage limits.
    pub(crate) fn view(&self) -> AgentView {
        AgentView {
            name: self.name.clone(),
            summary: self.summary.clone(),
            declared: self.custom,
            program: self.program.clone(),
            found: self.is_found(),
            path: self.path.as_ref().map(|path| path.display().to_string()),
            version: self.version.version().map(str::to_owned),
            version_timed_out: self.version == VersionAnswer::Silent,
            known: self.known.iter().map(ToString::to_string).collect(),
            known_good: self.known_good(),
            logged_in: self.login.word().replace(' ', "_"),
            key_variable: self.key.clone(),
            advice: self.advice(),
            limits: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(version: &str, known: &'static [&'static str]) -> AgentStatus {
        AgentStatus {
            name: "x".into(),
            summary: String::new(),
            custom: false,
            program: Some("x".into()),
            path: Some("/bin/x".into()),
            version: VersionAnswer::Version(version.to_owned()),
            known,
            login: LoggedIn::Unknown,
            login_help: None,
            install_help: None,
            key: None,
        }
    }

    #[test]
    fn a_known_version_is_found_in_every_spelling() {
        for text in ["codex-cli 1.2.3", "1.2.3 (Some Code)", "v1.2.3", "x/1.2.3 linux"] {
            assert_eq!(status(text, &["1.2.3"]).known_good(), Some(true), "{text}");
        }
        for text in ["1.2.30", "11.2.3", "1.2.3-beta", ""] {
            assert_eq!(status(text, &["1.2.3"]).known_good(), Some(false), "{text}");
        }
        assert_eq!(status("1.2.3", &[]).known_good(), None);
    }

    #[test]
    fn what_to_do_is_said_once_and_the_worst_first() {
        let missing = AgentStatus { path: None, login: LoggedIn::No, ..status("9", &["1"]) };
        assert!(missing.advice().unwrap().contains("install `x`"));
        let stranger = AgentStatus { login: LoggedIn::No, ..status("9", &["1"]) };
        assert!(stranger.advice().unwrap().contains("log in with the program itself"));
        let helped = AgentStatus { login_help: Some("`x login`"), ..stranger };
        assert_eq!(helped.advice().unwrap(), "log in with `x login`");
        assert!(status("9", &["1"]).advice().unwrap().contains("tested with 1"));
        assert_eq!(status("1", &["1"]).advice(), None);
    }

    #[test]
    fn the_line_has_every_fact() {
        let key = AgentStatus { key: Some("X_KEY".into()), ..status("9", &["1"]) };
        assert_eq!(key.line(), "x: /bin/x; 9; not tested; logged in: unknown; X_KEY is set");
        let silent = AgentStatus { version: VersionAnswer::Silent, ..status("1", &["1"]) };
        assert_eq!(silent.line(), "x: /bin/x; no answer within 10 s; logged in: unknown");
        assert!(status("1", &["1"]).line().contains("; 1; known good;"));
    }
}

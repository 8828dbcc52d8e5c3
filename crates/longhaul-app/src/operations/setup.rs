//! `setup`: what was found on this machine and in this project that a person may want to configure. Changes nothing: the verb asks, and writes
//! with `config_change`.

use std::path::Path;

use longhaul_core::task::{Action, Right};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::agent_readiness::{self, Readiness};
use crate::app::Call;
use crate::blocking;
use crate::config::{Overrides, Sources};
use crate::error::AppError;
use crate::operation::{About, Answer, COMMAND_LINE, NoInput, Operation, Permit, View};
use crate::submit::notify_targets::has_desktop;

/// The operation `setup`.
pub struct Setup;

/// What was found, and what is configured now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SetupView {
    /// The agents, those that can work first.
    pub agents: Vec<FoundAgent>,
    /// The configured agent; null if one is chosen for each task.
    pub agent: Option<String>,
    /// The project's root, if this is a git repository whose `longhaul.toml` counts.
    pub project: Option<String>,
    /// The configured checks.
    pub checks: Vec<String>,
    /// Checks that fit the files of the project, the best first.
    pub suggested_checks: Vec<String>,
    /// Whether new tasks send desktop notifications, as configured or because they would be shown.
    pub desktop: bool,
    /// Whether the program and the session that they need were found.
    pub desktop_works: bool,
}

/// An agent that is a program of its own.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundAgent {
    /// Its name.
    pub name: String,
    /// `ready`, `login unknown`, `not logged in` or `not installed`.
    pub state: &'static str,
    /// What makes it ready; null if it is.
    pub help: Option<String>,
}

impl View for SetupView {
    const KIND: &'static str = "setup";
}

impl Operation for Setup {
    const ABOUT: About = About::new(
        "setup",
        "Show the agents, checks and notifications that can be configured here",
        Action::Read,
        COMMAND_LINE,
    )
    .needs(Right::Admin);
    type Input = NoInput;
    type Output = SetupView;

    async fn run(call: &Call, _: Permit, _: NoInput) -> Result<Answer<SetupView>, AppError> {
        let loaded = call.load_config(&Overrides::default())?;
        let warnings: Vec<String> = loaded.warnings().collect();
        let settings = loaded.settings;
        let (here, tables) = (call.clone(), settings.agents);
        let agents = blocking(move || agents(&here, &tables)).await;
        let root = call.caller.project()?.root;
        let sources = Sources::of(&call.app.system.environment, &call.caller, &root)?;
        let root = sources.project.filter(|root| root.join(".git").exists());
        let desktop_works = has_desktop(&call.app.system.environment);
        let view = SetupView {
            agents,
            agent: settings.agent,
            suggested_checks: root.as_deref().map(suggested_checks).unwrap_or_default(),
            project: root.map(|root| root.display().to_string()),
            checks: settings.verify.commands,
            desktop: settings.notify.desktop.unwrap_or(desktop_works),
            desktop_works,
        };
        Ok(Answer::new(view).warn(warnings))
    }
}

fn agents(call: &Call, tables: &std::collections::BTreeMap<String, Value>) -> Vec<FoundAgent> {
    let mut found = agent_readiness::of_all(call, tables);
    found.sort_by_key(|one| one.readiness as u8);
    let view = |one: agent_readiness::Candidate| {
        let state = match one.readiness {
            Readiness::Ready => "ready",
            Readiness::Unknown => "login unknown",
            Readiness::NotLoggedIn => "not logged in",
            Readiness::NotInstalled => "not installed",
        };
        FoundAgent { name: one.name, state, help: (one.readiness != Readiness::Ready).then_some(one.help) }
    };
    found.into_iter().map(view).collect()
}

/// The usual command of each kind of project, by a file at its root and words in it.
const USUAL: &[(&str, &str, &str)] = &[
    ("Makefile", "\ntest:", "make test"),
    ("justfile", "\ntest:", "just test"),
    ("Cargo.toml", "[", "cargo test"),
    ("go.mod", "module", "go test ./..."),
    ("package.json", "\"test\":", "npm test"),
    ("pyproject.toml", "pytest", "python -m pytest"),
    ("pytest.ini", "", "python -m pytest"),
    ("mix.exs", "", "mix test"),
    ("Gemfile", "rspec", "bundle exec rspec"),
];
/// What `npm init` writes for a package without tests.
const NO_TESTS: &str = "no test specified";

fn suggested_checks(root: &Path) -> Vec<String> {
    let fits = |(file, words, _): &&(&str, &str, &str)| {
        let text = std::fs::read_to_string(root.join(file)).map(|text| format!("\n{text}"));
        text.is_ok_and(|text| text.contains(words) && !text.contains(NO_TESTS))
    };
    USUAL.iter().filter(fits).map(|(_, _, command)| (*command).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::suggested_checks;

    #[test]
    fn the_files_of_a_project_suggest_its_checks() {
        let directory = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        assert!(suggested_checks(directory.path()).is_empty());
        put("package.json", "{\"scripts\":{\"test\":\"echo \\\"Error: no test specified\\\" && exit 1\"}}");
        assert!(suggested_checks(directory.path()).is_empty());
        put("Cargo.toml", "[package]\n");
        put("Makefile", "test:\n\tcargo test\n");
        assert_eq!(suggested_checks(directory.path()), ["make test", "cargo test"]);
        put("Makefile", "pytest:\n");
        assert_eq!(suggested_checks(directory.path()), ["cargo test"]);
    }
}

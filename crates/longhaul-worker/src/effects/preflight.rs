//! Before a session of an agent: is its program installed, are its directories usable, and is Longhaul's home out of its reach?
//! Called while a session is prepared, so that what only a person can fix is found before anything is started.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use longhaul_agents::{AgentHome, Chosen};
use longhaul_core::task::{Cause, Sandbox, Submission};

use longhaul_app::{as_seen, passed};
use longhaul_keeper::Environment;

/// What an agent's session depends on outside of its task.
pub(super) struct Surroundings<'a> {
    /// Longhaul's own home.
    pub(super) home: &'a Path,
    /// Where its program is looked for.
    pub(super) environment: &'a Environment,
    /// A variable as the agent will see it.
    pub(super) variable: &'a dyn Fn(&str) -> Option<OsString>,
}

/// Whether the agent can be started, or what a person has to fix first.
pub(super) fn check(name: &str, submission: &Submission, home: &Path, environment: &Environment) -> Result<(), Cause> {
    let agent = longhaul_agents::choose(name, &submission.declared).map_err(|error| program(error.to_string()))?;
    let passed = passed(submission, Some(&agent));
    let variable = |variable: &str| as_seen(environment, variable, passed.as_deref());
    if !submission.driver.conduct().checks_everything_first {
        return found(&agent, environment);
    }
    Surroundings { home, environment, variable: &variable }.check(&agent, submission.sandbox)
}

impl Surroundings<'_> {
    fn check(&self, agent: &Chosen, sandbox: Sandbox) -> Result<(), Cause> {
        found(agent, self.environment)?;
        agent.about().homes.iter().try_for_each(|home| self.directory(agent, home, sandbox))
    }

    fn directory(&self, agent: &Chosen, home: &AgentHome, sandbox: Sandbox) -> Result<(), Cause> {
        let name = &agent.about().name;
        let set = (self.variable)(home.env).map(PathBuf::from);
        if let Some(path) = set.as_ref().filter(|path| home.must_exist && !path.is_dir()) {
            let shown = path.display();
            return Err(program(format!(
                "{} is `{shown}`, which is not a directory; create it, or unset the variable",
                home.env
            )));
        }
        let Some(why) = home.not_in_temp.filter(|_| sandbox != Sandbox::Full) else { return Ok(()) };
        let used = set.or_else(|| Some(PathBuf::from((self.variable)("HOME")?).join(home.default)));
        if let Some(path) = used.filter(|path| self.is_temporary(path)) {
            let shown = path.display();
            return Err(program(format!(
                "{} is `{shown}`, inside the temp directory: {why}; move it, or use `--sandbox full`",
                home.env
            )));
        }
        if self.is_temporary(self.home) {
            let shown = self.home.display();
            return Err(program(format!(
                "Longhaul's home `{shown}` is inside the temp directory, where a sandboxed `{name}` can write; set LONGHAUL_HOME to \
                 another directory, or use `--sandbox full`"
            )));
        }
        Ok(())
    }

    /// Whether a path is where sandboxed commands may write outside their workspace.
    fn is_temporary(&self, path: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let named = (self.variable)("TMPDIR").map(PathBuf::from);
        // What is not there yet will be made below what is.
        let path = real(path.ancestors().find(|path| path.exists()).unwrap_or(path));
        named.into_iter().chain([PathBuf::from("/tmp")]).any(|temp| path.starts_with(real(&temp)))
    }
}

fn found(agent: &Chosen, environment: &Environment) -> Result<(), Cause> {
    let Some(wanted) = agent.program() else { return Ok(()) };
    if environment.find_program(wanted).is_some() {
        return Ok(());
    }
    let what = if wanted.contains('/') { "is not an executable program" } else { "is not on PATH" };
    let name = &agent.about().name;
    let key = if agent.is_custom() { "argv" } else { "program" };
    Err(program(format!(
        "`{wanted}` {what}; install it, or set `{key}` in [agents.{name}] and run `longhaul edit TASK --agent {name}`"
    )))
}

fn program(why: String) -> Cause {
    Cause::Program { why }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use longhaul_agents::choose;
    use serde_json::{Value, json};

    use super::*;

    /// A directory that is everywhere, and nowhere below a temp directory; a checkout may lie in one.
    const ELSEWHERE: &str = "/usr";

    fn codex(table: Value) -> Chosen {
        choose("codex", &BTreeMap::from([("codex".to_owned(), table)])).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A codex whose program is installed.
    fn found_codex() -> Chosen {
        codex(json!({ "program": "/bin/sh" }))
    }

    fn checked(agent: &Chosen, codex_home: Option<&str>, home: &str, sandbox: Sandbox) -> Result<(), String> {
        checked_for(ELSEWHERE, agent, codex_home, home, sandbox)
    }

    /// For somebody whose own directory this is.
    fn checked_for(
        person: &str,
        agent: &Chosen,
        codex_home: Option<&str>,
        home: &str,
        sandbox: Sandbox,
    ) -> Result<(), String> {
        let variable = |name: &str| match name {
            "CODEX_HOME" => codex_home.map(OsString::from),
            "HOME" => Some(OsString::from(person)),
            "TMPDIR" => Some(OsString::from("/var/tmp")),
            _ => None,
        };
        let environment = Environment::of_process();
        let surroundings = Surroundings { home: Path::new(home), environment: &environment, variable: &variable };
        surroundings.check(agent, sandbox).map_err(|cause| cause.to_string())
    }

    #[test]
    fn a_missing_program_is_told_with_what_to_do() {
        let missing = |table| checked(&codex(table), None, ELSEWHERE, Sandbox::Workspace).unwrap_err();
        let error = missing(json!({ "program": "no-such-program-here" }));
        assert!(error.contains("`no-such-program-here` is not on PATH; install it"), "{error}");
        assert!(error.contains("`program` in [agents.codex]"), "{error}");
        let error = missing(json!({ "program": "/no/such/program" }));
        assert!(error.contains("is not an executable program"), "{error}");
        assert_eq!(checked(&found_codex(), None, ELSEWHERE, Sandbox::Workspace), Ok(()), "the control");
    }

    #[test]
    fn a_declared_agent_is_told_by_its_own_key() {
        let table = json!({ "argv": ["no-such-program-here"] });
        let agent = choose("mine", &BTreeMap::from([("mine".to_owned(), table)])).unwrap_or_else(|e| panic!("{e}"));
        let error = checked(&agent, None, ELSEWHERE, Sandbox::Workspace).unwrap_err();
        assert!(error.contains("`argv` in [agents.mine]"), "{error}");
    }

    #[test]
    fn the_demo_agent_needs_nothing() {
        let demo = choose("demo", &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(checked(&demo, None, "/tmp", Sandbox::Workspace), Ok(()));
    }

    #[test]
    fn a_directory_of_the_agent_must_be_there_and_out_of_the_temp_directory() {
        let agent = found_codex();
        let error = checked(&agent, Some("/no/such/directory"), ELSEWHERE, Sandbox::Full).unwrap_err();
        assert!(error.contains("CODEX_HOME") && error.contains("not a directory"), "{error}");
        for temp in ["/tmp", "/var/tmp"] {
            let error = checked(&agent, Some(temp), ELSEWHERE, Sandbox::ReadOnly).unwrap_err();
            assert!(error.contains("inside the temp directory") && error.contains("--sandbox full"), "{error}");
            assert_eq!(checked(&agent, Some(temp), ELSEWHERE, Sandbox::Full), Ok(()));
        }
        assert_eq!(checked(&agent, Some(ELSEWHERE), ELSEWHERE, Sandbox::Workspace), Ok(()), "the control");
    }

    #[test]
    fn a_home_of_longhaul_that_a_sandboxed_agent_can_write_is_refused() {
        let directory = tempfile::tempdir_in("/tmp").unwrap();
        let home = directory.path().to_str().unwrap();
        let error = checked(&found_codex(), None, home, Sandbox::Workspace).unwrap_err();
        assert!(error.contains("LONGHAUL_HOME") && error.contains(home), "{error}");
        assert_eq!(checked(&found_codex(), None, home, Sandbox::Full), Ok(()));
    }

    #[test]
    fn a_directory_that_nobody_named_lies_in_the_home_of_the_person() {
        let agent = found_codex();
        let person = tempfile::tempdir_in("/tmp").unwrap();
        let person = person.path().to_str().unwrap();
        let error = checked_for(person, &agent, None, ELSEWHERE, Sandbox::Workspace).unwrap_err();
        assert!(error.contains(&format!("CODEX_HOME is `{person}/.codex`, inside the temp directory")), "{error}");
        assert_eq!(checked_for(person, &agent, None, ELSEWHERE, Sandbox::Full), Ok(()));
        assert_eq!(
            checked_for(person, &agent, Some(ELSEWHERE), ELSEWHERE, Sandbox::Workspace),
            Ok(()),
            "named elsewhere"
        );
    }
}

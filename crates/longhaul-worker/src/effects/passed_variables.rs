//! Which variables of its task's environment an agent will see: for a session's spec and for the look at what it depends on before it starts.
//! Names only; it never keeps a value.

use std::ffi::OsString;

use longhaul_agents::Chosen;
use longhaul_core::task::Submission;

use longhaul_keeper::Environment;

/// In strict mode the named variables, and those the agent takes its login and configuration from. None means all.
pub(crate) fn passed(submission: &Submission, agent: Option<&Chosen>) -> Option<Vec<String>> {
    let mut names = submission.env_only.clone()?;
    names.extend(agent.into_iter().flat_map(|agent| agent.about().env.iter().map(ToString::to_string)));
    Some(names)
}

/// The variable as the agent will see it; an empty one is none.
pub(super) fn as_seen(environment: &Environment, name: &str, passed: Option<&[String]>) -> Option<OsString> {
    let passes = passed.is_none_or(|names| names.iter().any(|one| one == name));
    environment.get(name).filter(|value| passes && !value.is_empty()).map(OsString::from)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use longhaul_core::names::TaskName;

    use super::*;

    #[test]
    fn in_strict_mode_an_agent_still_sees_what_it_names() {
        let codex = longhaul_agents::choose("codex", &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}"));
        let open = Submission::new("goal".into(), TaskName::new("t").unwrap(), "/p".into(), "codex".into());
        assert_eq!(passed(&open, Some(&codex)), None);
        let strict = Submission { env_only: Some(vec!["LANG".into()]), ..open };
        assert_eq!(passed(&strict, None), Some(vec!["LANG".to_owned()]));
        let names = passed(&strict, Some(&codex)).unwrap();
        assert!(names.iter().any(|name| name == "CODEX_HOME") && !names.iter().any(|name| name == "PATH"));
        let environment = Environment::of_process();
        assert!(as_seen(&environment, "PATH", None).is_some(), "the control");
        assert_eq!(as_seen(&environment, "PATH", Some(&names)), None);
    }
}

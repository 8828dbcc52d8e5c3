//! What every program of a task's agent is started with, for a session or for a person who takes over: its launch values, and which
//! variables of the task's environment it will see. Names only; no value is kept.

use std::ffi::OsString;

use longhaul_agents::{Chosen, LaunchSpec, Network, User};
use longhaul_core::task::{Submission, Task};

use longhaul_keeper::Environment;

use crate::task_dir::task_dir_of;

/// In strict mode the named variables, and those the agent takes its login and configuration from. None means all.
pub fn passed(submission: &Submission, agent: Option<&Chosen>) -> Option<Vec<String>> {
    let mut names = submission.env_only.clone()?;
    names.extend(agent.into_iter().flat_map(|agent| agent.about().env.iter().map(ToString::to_string)));
    Some(names)
}

/// The variable as the agent will see it; an empty one is none.
pub fn as_seen(environment: &Environment, name: &str, passed: Option<&[String]>) -> Option<OsString> {
    let passes = passed.is_none_or(|names| names.iter().any(|one| one == name));
    environment.get(name).filter(|value| passes && !value.is_empty()).map(OsString::from)
}

/// What every program of the task's agent is started with, a session's or a person's; nothing of a session is in it.
pub fn spec_of<'a>(agent: &'a Chosen, task: &'a Task, writable: Option<&'a str>) -> LaunchSpec<'a> {
    let submission = &task.submission;
    LaunchSpec {
        own_program: "",
        program: agent.declared().program.as_deref(),
        extra: &[],
        session: "",
        mark: "",
        resumes: None,
        model: submission.model.as_deref(),
        cwd: task.cwd(),
        writable,
        sandbox: submission.sandbox,
        network: if submission.network { Network::Open } else { Network::AsSandboxed },
        user: if rustix::process::geteuid().is_root() { User::Root } else { User::Plain },
        prompt_file: "",
        argument: None,
        server: None,
    }
}

/// The task directory, when the agent starts below the root that contains it and may be confined to where it starts.
pub fn writable(task: &Task) -> Option<String> {
    let below = task.cwd() != task.root();
    below.then(|| task_dir_of(task))
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

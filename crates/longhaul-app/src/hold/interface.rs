//! What a person gets who takes a task over: the agent's own program in the task's conversation, as data.
//! Made for `longhaul takeover`, which starts it. Its environment is that of a session, with the marker of the hold.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use longhaul_agents::{Chosen, Interactive, UnknownAgent};
use longhaul_core::task::{SessionRecord, SessionRun, Task};
use longhaul_keeper::{Environment, HOME_VARIABLE, SESSION_VARIABLE, is_own_variable};

use super::marker;
use crate::agent_launch::{passed, spec_of, writable};
use crate::home::Home;

/// What a program needs of its terminal, also where the task names every variable that its agents may see.
const OF_THE_TERMINAL: [&str; 3] = ["TERM", "COLORTERM", "TERM_PROGRAM"];

/// A program that a person can work in.
#[derive(Debug)]
pub struct Interface {
    /// Whose it is.
    pub agent: String,
    /// The agent's own conversation.
    pub conversation: String,
    /// Where the program is.
    pub program: PathBuf,
    /// Its name and arguments.
    pub argv: Vec<String>,
    /// Everything it sees of the environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// Where it starts.
    pub cwd: PathBuf,
}

/// Why there is nothing for a person to work in.
#[derive(Debug, thiserror::Error)]
pub enum NoInterface {
    /// No session has had one.
    #[error("none of its sessions has had a conversation yet")]
    NoConversation,
    /// The live session is too young.
    #[error("its session has not reported its conversation yet")]
    NotReported,
    /// The agent cannot be found.
    #[error(transparent)]
    Unknown(#[from] UnknownAgent),
    /// The agent has none.
    #[error("the agent `{agent}` has no interactive program that can continue a conversation")]
    None {
        /// Which.
        agent: String,
        /// Its conversation, for whoever knows a way.
        conversation: String,
    },
    /// The program is missing.
    #[error("the program `{program}` was not found")]
    NotFound {
        /// Its name or path.
        program: String,
    },
    /// The directory is missing.
    #[error("its directory `{path}` no longer exists")]
    NoDirectory {
        /// Which.
        path: PathBuf,
    },
}

/// The program for this task: in its live session's conversation, else the one that its next session would resume, else the last there
/// was.
pub fn interface_of(
    home: &Home,
    task: &Task,
    history: &[SessionRecord],
    shell: &Environment,
) -> Result<Interface, NoInterface> {
    let (agent, conversation) = conversation_of(task, history)?;
    let chosen = longhaul_agents::choose(&agent, &task.submission.declared)?;
    let Some(interactive) = interactive(&chosen, task, &conversation) else {
        return Err(NoInterface::None { agent, conversation });
    };
    let name = interactive.argv.first().cloned().unwrap_or_default();
    let program = shell.find_program(&name).ok_or(NoInterface::NotFound { program: name })?;
    let cwd = PathBuf::from(task.cwd());
    if !cwd.is_dir() {
        return Err(NoInterface::NoDirectory { path: cwd });
    }
    let environment = environment(home, task, &chosen, shell, interactive.env_set);
    Ok(Interface { agent, conversation, program, argv: interactive.argv, environment, cwd })
}

fn conversation_of(task: &Task, history: &[SessionRecord]) -> Result<(String, String), NoInterface> {
    let of_run = |run: &SessionRun| {
        let id = run.conversation.as_ref().or(run.resumes.as_ref())?;
        Some((run.agent.clone(), id.clone()))
    };
    if let Some(live) = task.state.session().filter(|live| live.purpose.is_agent()) {
        return of_run(live).ok_or(NoInterface::NotReported);
    }
    let next = task.conversations.last().map(|talk| (talk.agent.clone(), talk.id.clone()));
    let last =
        || history.iter().rev().filter(|record| record.run.purpose.is_agent()).find_map(|record| of_run(&record.run));
    next.or_else(last).ok_or(NoInterface::NoConversation)
}

fn interactive(agent: &Chosen, task: &Task, conversation: &str) -> Option<Interactive> {
    let writable = writable(task);
    agent.interactive(conversation, &spec_of(agent, task, writable.as_deref()))
}

/// This shell's environment as a session would get it, without what speaks for us, and what marks the hold.
fn environment(
    home: &Home,
    task: &Task,
    agent: &Chosen,
    shell: &Environment,
    set: Vec<(String, String)>,
) -> BTreeMap<OsString, OsString> {
    let names = passed(&task.submission, Some(agent));
    let of_notices = task.submission.notify.variables();
    let passes = |name: &OsStr| {
        let listed = |names: &[String]| names.iter().any(|one| OsStr::new(one) == name);
        let wanted = names.as_deref().is_none_or(listed) || OF_THE_TERMINAL.iter().any(|one| OsStr::new(one) == name);
        wanted && !listed(&of_notices)
    };
    let mut environment: BTreeMap<OsString, OsString> = shell
        .iter()
        .filter(|(name, _)| !is_own_variable(name) && passes(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    environment.extend(set.into_iter().map(|(name, value)| (name.into(), value.into())));
    let fixed: [(&str, &Path); 2] = [(HOME_VARIABLE, home.root()), ("PWD", Path::new(task.cwd()))];
    environment.extend(fixed.map(|(name, path)| (name.into(), path.into())));
    environment.insert(SESSION_VARIABLE.into(), marker(task.id).to_string().into());
    environment
}

//! Who calls an operation, from where, and what they may see: a person everything, something below an agent session only that session's
//! task and its children. Made by each front end and passed with every call; there is no process-wide caller.
//! Visibility is asked by `app` for every listing and lookup, so that no operation can forget to. What may be changed is decided by the core.

use std::path::{Path, PathBuf};

use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::task::{Actor, Channel, Rights, Scope, Task};
use longhaul_keeper::SessionDir;
use longhaul_store::{ApiKey, Tenant};

use crate::error::{AppError, ErrorKind};
use crate::home::Home;
use crate::operation::FrontEnd;
use crate::project::Project;

/// Who calls.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Who the core takes them for.
    pub actor: Actor,
    /// Whose tasks are meant. It comes from how the caller was recognised, never from a request.
    pub tenant: Tenant,
    /// Through what it calls.
    pub channel: FrontEnd,
    /// What it was given; its scope may allow less.
    pub rights: Rights,
    /// The directory the call comes from, or why there is none.
    directory: Result<PathBuf, String>,
    /// The tasks a person chose when they were asked which one they mean by a text, or by none.
    meant: Vec<(Option<String>, TaskId)>,
}

impl Caller {
    /// This actor at the command line in this directory, with the tasks of the person whose home it is and every right that its scope
    /// allows.
    pub fn new(actor: Actor, directory: Result<PathBuf, String>) -> Caller {
        let (tenant, channel, rights) = (Tenant::default(), FrontEnd::CommandLine, Rights::ALL);
        Caller { actor, tenant, channel, rights, directory, meant: Vec::new() }
    }

    /// Whoever presents this key: in its tenant, with its rights, through HTTP and from no directory.
    pub(crate) fn of_key(key: ApiKey) -> Caller {
        let actor = Actor { key: Some(key.id), ..Actor::person(key.name) };
        let caller = Caller::new(actor, Err("it came with an API key".to_owned()));
        Caller { tenant: key.tenant, ..caller }.through(FrontEnd::Http, key.rights)
    }

    /// The same through another channel, with these rights. Its events say through which.
    #[must_use]
    pub fn through(self, channel: FrontEnd, rights: Rights) -> Caller {
        let recorded = match channel {
            FrontEnd::CommandLine => None,
            FrontEnd::Mcp => Some(Channel::Mcp),
            FrontEnd::Http => Some(Channel::Http),
        };
        Caller { actor: Actor { channel: recorded, ..self.actor }, channel, rights, ..self }
    }

    /// The same, who means this task by a text that fits several, or by naming none.
    #[must_use]
    pub fn meaning(mut self, wanted: Option<String>, task: TaskId) -> Caller {
        self.meant.push((wanted, task));
        self
    }

    /// The task that was chosen for a text.
    pub(crate) fn meant(&self, wanted: Option<&str>) -> Option<TaskId> {
        self.meant.iter().find(|(text, _)| text.as_deref() == wanted).map(|(_, task)| *task)
    }

    /// Whether it runs on this machine as the user whose home it is; not with an API key, which may be used from anywhere.
    pub fn is_local(&self) -> bool {
        self.actor.key.is_none()
    }

    /// Whether a person calls, as far as is known.
    pub fn is_person(&self) -> bool {
        self.actor.scope == Scope::Person
    }

    /// The directory the call comes from.
    pub fn directory(&self) -> Result<&Path, AppError> {
        self.directory.as_deref().map_err(|why| {
            let (what, hint) = match self.is_local() {
                true => ("the current directory cannot be used", "change to a directory that exists"),
                false => ("this request comes from no directory", "name the task, and write paths in full"),
            };
            AppError { because: vec![why.clone()], ..AppError::new(ErrorKind::Usage, what) }.hint(hint)
        })
    }

    /// The project the call comes from.
    pub fn project(&self) -> Result<Project, AppError> {
        Project::of(self.directory()?)
    }

    /// A path of a request, absolute: relative ones start at the directory the call comes from. A caller with an API key reaches no file
    /// this way, only through `Call::path`.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, AppError> {
        if !self.is_local() {
            let what = "a caller with an API key cannot name a file here";
            return Err(AppError::new(ErrorKind::Forbidden, what).hint("ask a person to do it on the command line"));
        }
        if path.as_os_str().is_empty() {
            return Err(AppError::new(ErrorKind::Usage, "a path is empty").hint("name a file or a directory"));
        }
        let whole = if path.is_absolute() { path.to_owned() } else { self.directory()?.join(path) };
        Ok(std::path::absolute(&whole).unwrap_or(whole))
    }

    /// The task in whose worktree below this home the call comes from, if it does.
    pub fn worktree_task(&self, home: &Home) -> Option<TaskId> {
        let directory = self.project().ok()?.directory;
        let below = directory.strip_prefix(home.worktrees().canonicalize().ok()?).ok()?.to_owned();
        below.components().next()?.as_os_str().to_str()?.parse().ok()
    }
}

/// What a caller may see of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// A person.
    Everything,
    /// Below a session of this task: it and its children.
    Family(TaskId),
    /// Below a session that this home does not know.
    Nothing,
}

impl Visibility {
    /// What this actor may see of this home.
    pub fn of(actor: &Actor, home: &Home) -> Visibility {
        match actor.session {
            None => Visibility::Everything,
            Some(session) => task_of(home, session).map_or(Visibility::Nothing, Visibility::Family),
        }
    }

    /// Whether this task may be seen.
    pub fn allows(self, task: &Task) -> bool {
        match self {
            Visibility::Everything => true,
            Visibility::Family(own) => task.id == own || task.submission.parent == Some(own),
            Visibility::Nothing => false,
        }
    }

    /// Whether a damaged row may be named. Whose child it is can not be read from it, so only the own one is.
    pub fn allows_row(self, row: &str) -> bool {
        match self {
            Visibility::Everything => true,
            Visibility::Family(own) => row.contains(&own.to_string()),
            Visibility::Nothing => false,
        }
    }
}

/// The task a session of this home works for, or the one that a person has taken over: what runs then is marked with the task's id.
pub fn task_of(home: &Home, session: SessionId) -> Option<TaskId> {
    task_of_session(home, session).or_else(|| held_task(home, session))
}

fn held_task(home: &Home, marker: SessionId) -> Option<TaskId> {
    let task = marker.to_string().parse().ok()?;
    home.hold(task).symlink_metadata().is_ok().then_some(task)
}

fn task_of_session(home: &Home, session: SessionId) -> Option<TaskId> {
    let spec = SessionDir::at(&home.session(session)).ok()?.spec().ok()??;
    spec.task.parse().ok()
}

//! What the caller may see: a person everything, something below an agent session only that session's task and its children.
//! Asked by `opened` for every listing and lookup, so that no verb can forget to. What may be changed is decided by the core.

use longhaul_app::Home;
use longhaul_core::ids::{SessionId, TaskId};
use longhaul_core::task::Task;
use longhaul_keeper::SessionDir;
use longhaul_store::TaskSummary;

use crate::place;

/// What a caller may see of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    /// A person.
    Everything,
    /// Below a session of this task: it and its children.
    Family(TaskId),
    /// Below a session that this home does not know.
    Nothing,
}

impl Visibility {
    /// What the calling process may see of this home.
    pub(crate) fn of_caller(home: &Home) -> Visibility {
        match place::actor().session {
            None => Visibility::Everything,
            Some(session) => task_of(home, session).map_or(Visibility::Nothing, Visibility::Family),
        }
    }

    /// Whether this task may be seen.
    pub(crate) fn allows(self, task: &Task) -> bool {
        match self {
            Visibility::Everything => true,
            Visibility::Family(own) => task.id == own || task.submission.parent == Some(own),
            Visibility::Nothing => false,
        }
    }

    /// Whether this task may be seen in lists.
    pub(crate) fn allows_outline(self, outline: &TaskSummary) -> bool {
        match self {
            Visibility::Everything => true,
            Visibility::Family(own) => outline.task == own || outline.parent == Some(own),
            Visibility::Nothing => false,
        }
    }

    /// Whether a damaged row may be named. Whose child it is can not be read from it, so only the own one is.
    pub(crate) fn allows_row(self, row: &str) -> bool {
        match self {
            Visibility::Everything => true,
            Visibility::Family(own) => row.contains(&own.to_string()),
            Visibility::Nothing => false,
        }
    }
}

/// The task a session of this home works for, or the one that a person has taken over: what runs then is marked with the task's id.
pub(crate) fn task_of(home: &Home, session: SessionId) -> Option<TaskId> {
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

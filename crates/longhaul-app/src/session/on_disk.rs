//! Every session directory of a home: whose it is, how large, and what in it is not ours.
//! Used by `gc`, `store check` and `doctor`. Only looks; a directory that vanishes meanwhile is left out.

use std::collections::HashMap;
use std::io;

use crate::error::{AppError, ErrorKind};
use crate::home::Home;
use longhaul_core::ids::{SessionId, TaskId};
use longhaul_keeper::files::if_exists;
use longhaul_keeper::{SessionDir, SessionFiles, survey_session};

/// One session directory.
#[derive(Debug)]
pub(crate) struct SessionOnDisk {
    pub(crate) id: SessionId,
    /// The task its spec names; none without a spec that can be read.
    pub(crate) task: Option<TaskId>,
    pub(crate) files: SessionFiles,
}

/// Everything in `sessions`.
#[derive(Debug, Default)]
pub(crate) struct OnDisk {
    pub(crate) sessions: Vec<SessionOnDisk>,
    /// Names that are no sessions.
    pub(crate) strange: Vec<String>,
    /// Places in `sessions`.
    by_task: HashMap<TaskId, Vec<usize>>,
}

impl OnDisk {
    /// What all of a task's directories hold, in bytes.
    pub(crate) fn bytes_of(&self, task: TaskId) -> u64 {
        self.of(task).map(|session| session.files.bytes).sum()
    }

    /// The directories of a task.
    pub(crate) fn of(&self, task: TaskId) -> impl Iterator<Item = &SessionOnDisk> {
        self.by_task.get(&task).into_iter().flatten().map(|place| &self.sessions[*place])
    }

    /// What all directories hold, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.sessions.iter().map(|session| session.files.bytes).sum()
    }
}

/// Looks at every directory of a home's sessions.
pub(crate) fn survey(home: &Home) -> Result<OnDisk, AppError> {
    read(home)
        .map_err(|error| AppError::new(ErrorKind::Failure, "the session directories cannot be read").because(&error))
}

fn read(home: &Home) -> io::Result<OnDisk> {
    let mut found = OnDisk::default();
    for entry in if_exists(std::fs::read_dir(home.sessions()))?.into_iter().flatten() {
        let path = entry?.path();
        let is_directory = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        match SessionDir::at(&path) {
            Ok(directory) if is_directory => found.sessions.extend(inspect(home, &directory)?),
            _ => found.strange.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned()),
        }
    }
    found.sessions.sort_by_key(|session| session.id);
    found.strange.sort();
    for (place, session) in found.sessions.iter().enumerate() {
        if let Some(task) = session.task {
            found.by_task.entry(task).or_default().push(place);
        }
    }
    Ok(found)
}

fn inspect(home: &Home, directory: &SessionDir) -> io::Result<Option<SessionOnDisk>> {
    let id = directory.session();
    let Some(files) = survey_session(&home.sessions(), id)? else { return Ok(None) };
    let task = directory.spec().ok().flatten().and_then(|spec| spec.task.parse().ok());
    Ok(Some(SessionOnDisk { id, task, files }))
}

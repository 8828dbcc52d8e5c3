//! `.autonomous/<task>/` in the workspace: the agent's plan and progress files, and our few beside them.
//!
//! Everything here is read as input and written as view; lifecycle truth is the store. All access goes through a directory
//! handle, beneath only and without links, because an agent can put anything into its workspace.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_core::causes::with_causes;
use longhaul_core::fingerprint;
use longhaul_core::names::STATE_DIR;
use longhaul_core::task::{Cause, PlanFiles, Restore, Task, TaskListFile};
use longhaul_keeper::{Beneath, BeneathError, Environment, process};

/// Clocks of processes and of files differ by so much at most; in doubt a runner lives.
const SAME_MOMENT: Duration = Duration::from_secs(2);

const LIST: &str = "task_list.md";
const PROGRESS: &str = "progress.md";
const LIST_CAP: u64 = 4 << 20;
const KEPT_CAP: u64 = 64 << 20;
const LOG_CAP: u64 = 64 << 20;

/// One task's directory in its workspace.
#[derive(Debug)]
pub struct TaskDir {
    root: Beneath,
    below: String,
    path: PathBuf,
    secret_names: Vec<String>,
    environment: Environment,
}

/// Whether the path of the directory of a task with this name is taken. Creates nothing.
pub(crate) fn task_dir_exists(project: &Path, name: &str) -> bool {
    project.join(STATE_DIR).join(name).symlink_metadata().is_ok()
}

/// The lock of the existing shell runner, `.runner.lock/pid`. Ours is another; this one is only heeded, never made or taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellLock {
    /// There is none.
    None,
    /// Its process lives.
    Living(u32),
    /// Its process is dead.
    Stale(u32),
    /// It names no process yet: a runner is about to write it.
    Unnamed,
}

/// Where a task has its directory.
pub fn task_dir_of(task: &Task) -> String {
    format!("{}/{STATE_DIR}/{}", task.root(), task.directory_name())
}

impl TaskDir {
    /// Opens the directory of a task in its workspace, making it if it is missing. What is read there is masked by the secrets of
    /// this environment.
    pub fn open(task: &Task, environment: Environment) -> Result<TaskDir, Cause> {
        let project = Path::new(task.root());
        let workspace = |error: io::Error| Cause::Workspace { why: format!("{}: {error}", project.display()) };
        let root = Beneath::open(project).map_err(workspace)?;
        let below = format!("{STATE_DIR}/{}", task.directory_name());
        for part in [STATE_DIR, below.as_str()] {
            root.make_dir(part).map_err(|error| cause(&error))?;
            own(&project.join(part))?;
        }
        let secret_names = task.submission.secret_names.clone();
        Ok(TaskDir { root, path: project.join(&below), below, secret_names, environment })
    }

    /// Where it is, for prompts and people.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The plan's files as they are now.
    pub fn sight(&self) -> PlanFiles {
        let list = match self.root.read(&self.inside(LIST), LIST_CAP) {
            Ok(None) => TaskListFile::Missing,
            Ok(Some(bytes)) => self.text_of(bytes),
            Err(error) => TaskListFile::Unreadable { why: error.to_string() },
        };
        let progress = self.root.read(&self.inside(PROGRESS), LIST_CAP);
        let progress_exists = matches!(progress, Ok(Some(_)) | Err(BeneathError::TooLarge { .. }));
        PlanFiles { list, progress_exists }
    }

    /// Puts a plan back and keeps what it replaces. A file that is no longer the one refused is left alone.
    pub fn restore(&self, restore: &Restore) -> Result<(), Cause> {
        let still_refused = match (self.sight().list, &restore.expect) {
            (TaskListFile::Text { hash, text }, Some(expected)) if hash == *expected => {
                self.replace(&rejected(restore), text.as_bytes())?;
                true
            }
            (TaskListFile::Unreadable { .. }, None) => {
                self.keep_unreadable(restore)?;
                true
            }
            (TaskListFile::Missing, None) => true,
            (TaskListFile::Text { .. } | TaskListFile::Missing | TaskListFile::Unreadable { .. }, _) => false,
        };
        longhaul_keeper::fail_point::reach("worker.plan_kept");
        if still_refused {
            self.replace(LIST, restore.text.as_bytes())?;
        }
        longhaul_keeper::fail_point::reach("worker.plan_restored");
        Ok(())
    }

    /// Keeps a list that is too large or not UTF-8, byte for byte. A link or a pipe holds nothing of its own; a file too large
    /// even to be kept is not replaced.
    fn keep_unreadable(&self, restore: &Restore) -> Result<(), Cause> {
        match self.root.read(&self.inside(LIST), KEPT_CAP) {
            Ok(Some(bytes)) => self.replace(&rejected(restore), &bytes),
            Ok(None) | Err(BeneathError::NotPlain { .. }) => Ok(()),
            Err(error) => Err(cause(&error)),
        }
    }

    /// The agent's own conversation id, for people and for the existing shell runner.
    pub fn write_conversation(&self, id: &str) -> Result<(), Cause> {
        self.replace("session.id", format!("{id}\n").as_bytes())
    }

    /// The conversation that is saved there, if it is one that can be resumed.
    pub fn conversation(&self) -> Option<String> {
        let bytes = self.root.read(&self.inside("session.id"), 4096).ok()??;
        longhaul_agents::conversation_id(String::from_utf8(bytes).ok()?.trim())
    }

    /// Appends to `session.log`, up to its cap. A view only: it is never read back, and a failure changes nothing.
    pub fn append_log(&self, bytes: &[u8]) {
        let length = self.path.join("session.log").symlink_metadata().map_or(0, |meta| meta.len());
        if length + (bytes.len() as u64) < LOG_CAP {
            self.root.append(&self.inside("session.log"), bytes).ok();
        }
    }

    /// What the lock of the existing shell runner says.
    pub fn shell_lock(&self) -> ShellLock {
        let Ok(meta) = self.path.join(".runner.lock").symlink_metadata() else { return ShellLock::None };
        let Some(pid) = self.shell_pid() else { return ShellLock::Unnamed };
        let Ok(Some(age)) = process::age(pid) else { return ShellLock::Stale(pid) };
        // A process that began after the lock was made is another one, with the same number.
        let made = meta.modified().ok().and_then(|made| made.elapsed().ok()).unwrap_or_default();
        if age + SAME_MOMENT >= made { ShellLock::Living(pid) } else { ShellLock::Stale(pid) }
    }

    fn text_of(&self, bytes: Vec<u8>) -> TaskListFile {
        let hash = fingerprint::of_bytes(&bytes);
        match String::from_utf8(bytes) {
            // What is stored and shown is masked; the hash stays that of the file, so that a change is still a change.
            Ok(text) => TaskListFile::Text { hash, text: self.environment.mask(&text, &self.secret_names).0 },
            Err(_) => TaskListFile::Unreadable { why: "not UTF-8".into() },
        }
    }

    fn shell_pid(&self) -> Option<u32> {
        let text = self.root.read(&self.inside(".runner.lock/pid"), 64).ok()??;
        String::from_utf8(text).ok()?.trim().parse().ok()
    }

    fn inside(&self, name: &str) -> String {
        format!("{}/{name}", self.below)
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), Cause> {
        self.root.replace(&self.inside(name), bytes).map_err(|error| cause(&error))
    }
}

fn rejected(restore: &Restore) -> String {
    format!("task_list.rejected-{}.md", restore.keep_as)
}

fn own(path: &Path) -> Result<(), Cause> {
    let foreign = |why: String| Cause::TaskDirectory { why: format!("{}: {why}", path.display()) };
    let meta = path.symlink_metadata().map_err(|error| foreign(error.to_string()))?;
    if !meta.is_dir() {
        return Err(foreign("not a directory".into()));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(foreign("it belongs to another user".into()));
    }
    Ok(())
}

fn cause(error: &BeneathError) -> Cause {
    Cause::TaskDirectory { why: with_causes(error) }
}

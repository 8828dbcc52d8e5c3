//! A home with a crowd of tasks that were submitted by `longhaul run --detach`, and whose agents do nothing but sleep.
//! Used by the measures of `scale`. Everything that it started has ended when it is dropped.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use longhaul_core::ids::WorkerId;
use longhaul_keeper::process::Process;
use longhaul_keeper::{SessionDir, Stop, signal_keeper};
use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{Filter, Store, TaskSummary};
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, Signal, kill_process};
use tokio::runtime::Runtime;

use super::scene::{BenchError, Scene, failed, finish, milliseconds, runtime, wait_for};

const AGENT: &str = "[agents.sleeper]\nargv = [\"/bin/sleep\", \"1200\"]\n";

/// The home, its tasks and who carries them out.
pub(super) struct Crowd<'scene> {
    scene: &'scene Scene,
    home: PathBuf,
    config: PathBuf,
    /// The repository of all tasks; without one each has a directory of its own, because in the same one they would wait for each other.
    repository: Option<PathBuf>,
    name: String,
    runtime: Runtime,
    store: SqliteStore,
}

/// A worker that lives.
#[derive(Clone, Copy)]
pub(super) struct Worker {
    id: WorkerId,
    process: Process,
}

/// What a worker takes.
pub(super) struct Taken {
    pub(super) threads: f64,
    /// Resident.
    pub(super) kilobytes: f64,
}

impl Crowd<'_> {
    /// An empty home that lets so many sessions live at once.
    pub(super) fn new<'scene>(scene: &'scene Scene, name: &str, sessions: usize) -> Result<Crowd<'scene>, BenchError> {
        let home = scene.directory(name)?;
        let config = scene.path(&format!("{name}.toml"));
        fs::write(&config, AGENT).map_err(failed("write a configuration"))?;
        finish(scene.longhaul(&home, &["worker", "--only", "--sessions", &sessions.to_string()]))?;
        let (runtime, store) = (runtime()?, SqliteStore::open(&home)?);
        Ok(Crowd { scene, home, config, repository: None, name: name.to_owned(), runtime, store })
    }

    /// Gives all tasks one git repository with one commit, in which each gets a worktree.
    pub(super) fn in_git(mut self) -> Result<Self, BenchError> {
        let repository = self.scene.directory(&format!("{}-repository", self.name))?;
        fs::write(repository.join("README"), "hello\n").map_err(failed("write a file"))?;
        let identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
        for arguments in [&["init", "--quiet"][..], &["add", "README"], &["commit", "--quiet", "-m", "first"]] {
            let mut git = Command::new("git");
            git.args(identity).args(arguments).current_dir(&repository);
            finish(git)?;
        }
        self.repository = Some(repository);
        Ok(self)
    }

    fn workspace(&self, number: usize) -> Result<PathBuf, BenchError> {
        match &self.repository {
            Some(repository) => Ok(repository.clone()),
            None => self.scene.directory(&format!("{}-workspace-{number}", self.name)),
        }
    }

    /// The milliseconds of one `run --detach`.
    pub(super) fn submit(&self, number: usize) -> Result<f64, BenchError> {
        let name = format!("task-{number}");
        let mut run = self.longhaul(&["run", "--detach", "--agent", "sleeper", "--name", &name, "Sleep"]);
        run.current_dir(self.workspace(number)?);
        milliseconds(|| finish(run))
    }

    /// Starts a worker that stays.
    pub(super) fn start_worker(&self) -> Result<(), BenchError> {
        finish(self.longhaul(&["worker", "--stay", "--detach"]))
    }

    fn longhaul(&self, arguments: &[&str]) -> Command {
        let mut command = self.scene.longhaul(&self.home, arguments);
        command.env("LONGHAUL_CONFIG", &self.config).env("LONGHAUL_SESSION_SCOPES", "false");
        command
    }

    /// Waits until so many sessions live, by their keepers' own word.
    pub(super) fn wait_until_live(&self, count: usize) -> Result<(), BenchError> {
        let live = || self.sessions().iter().filter(|session| matches!(session.identity(), Ok(Some(_)))).count();
        wait_for("the agents of all tasks", || Ok((live() >= count).then_some(())))
    }

    /// Waits until the one worker that lives owns all tasks.
    pub(super) fn wait_until_adopted(&self) -> Result<(), BenchError> {
        wait_for("the adoption of every task", || {
            let worker = self.only_worker().ok().map(|worker| worker.id);
            let is_owned = |task: &TaskSummary| task.owner.is_some() && task.owner == worker;
            Ok(self.tasks()?.iter().all(is_owned).then_some(()))
        })
    }

    fn tasks(&self) -> Result<Vec<TaskSummary>, BenchError> {
        Ok(self.runtime.block_on(self.store.summaries(Filter::default()))?.tasks)
    }

    /// The one worker of the home. More than one, or none, is a failure of the measure.
    pub(super) fn only_worker(&self) -> Result<Worker, BenchError> {
        match self.workers()[..] {
            [worker] => Ok(worker),
            ref others => {
                Err(BenchError::Unexpected { what: "the number of workers", found: others.len().to_string() })
            }
        }
    }

    fn workers(&self) -> Vec<Worker> {
        let entries = fs::read_dir(self.home.join("workers")).into_iter().flatten().flatten();
        let named = entries.filter_map(|entry| {
            let id = entry.file_name().to_str()?.strip_suffix(".lock")?.parse().ok()?;
            Some(Worker { id, process: serde_json::from_slice(&fs::read(entry.path()).ok()?).ok()? })
        });
        named.filter(Worker::is_alive).collect()
    }

    fn sessions(&self) -> Vec<SessionDir> {
        let entries = fs::read_dir(self.home.join("sessions")).into_iter().flatten().flatten();
        entries.filter_map(|entry| SessionDir::at(&entry.path()).ok()).collect()
    }

    /// The processor seconds of all workers, keepers and agents, and of what they have waited for.
    pub(super) fn processor_seconds(&self) -> f64 {
        let identities = self.sessions().into_iter().filter_map(|session| session.identity().ok().flatten());
        let kept = identities.flat_map(|identity| [identity.keeper, identity.child]);
        self.workers()
            .into_iter()
            .map(|worker| worker.process)
            .chain(kept)
            .map(|process| ticks(process.pid))
            .sum::<f64>()
            / clock_ticks_per_second() as f64
    }

    /// Ends the worker as the machine would.
    pub(super) fn kill_worker(&self, worker: &Worker) -> Result<(), BenchError> {
        worker.kill();
        wait_for("the worker's death", || Ok((!worker.is_alive()).then_some(())))
    }
}

impl Drop for Crowd<'_> {
    fn drop(&mut self) {
        // The workers first, or they would start the sessions again.
        self.workers().iter().for_each(Worker::kill);
        wait_for("the death of all workers", || Ok(self.workers().is_empty().then_some(()))).ok();
        let sessions = self.sessions();
        for identity in sessions.iter().filter_map(|session| session.identity().ok().flatten()) {
            signal_keeper(&identity, Stop::Immediate).ok();
        }
        let ended =
            |session: &SessionDir| !matches!(session.identity(), Ok(Some(_))) || matches!(session.end(), Ok(Some(_)));
        wait_for("the end of every session", || Ok(sessions.iter().all(ended).then_some(()))).ok();
    }
}

impl Worker {
    /// What it takes now.
    pub(super) fn taken(&self) -> Result<Taken, BenchError> {
        let read = |field: &'static str| {
            let found = status(self.process.pid, field).ok_or_else(|| "nothing".to_owned());
            found.map_err(|found| BenchError::Unexpected { what: "the status of the worker", found })
        };
        Ok(Taken { threads: read("Threads")?, kilobytes: read("VmRSS")? })
    }

    fn is_alive(&self) -> bool {
        status(self.process.pid, "Threads").is_some()
    }

    fn kill(&self) {
        let pid = i32::try_from(self.process.pid).ok().and_then(Pid::from_raw);
        pid.map(|pid| kill_process(pid, Signal::KILL).ok());
    }
}

/// A figure of `/proc/PID/status`; none once the process has ended.
fn status(pid: u32, field: &str) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let is_zombie = text.lines().any(|line| line.starts_with("State:") && line.contains('Z'));
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).filter(|_| !is_zombie)?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// The ticks that a process and the children it waited for have run.
fn ticks(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name may contain blanks and brackets; the last bracket ends it.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ').skip(11).take(4);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum()
}

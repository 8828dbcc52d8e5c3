//! A home with a crowd of tasks submitted by `longhaul run --detach`, whose agents do nothing but sleep.
//! Used by `adoption` and `scale`. Everything it started has ended when it is dropped.

use std::fs;
use std::ops::Range;
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

use super::compare::milliseconds;
use super::scene::{Outcome, Scene, ensure, finish, runtime, wait_for};

const AGENT: &str = "[agents.sleeper]\nargv = [\"/bin/sleep\", \"1200\"]\n";

/// The home, its tasks and its workers.
pub(super) struct Crowd<'scene> {
    scene: &'scene Scene,
    home: PathBuf,
    config: PathBuf,
    /// The repository of all tasks; without one each has its own directory, because in the same one they would take turns.
    repository: Option<PathBuf>,
    name: String,
    runtime: Runtime,
    store: SqliteStore,
}

#[derive(Clone, Copy)]
struct Worker {
    id: WorkerId,
    process: Process,
}

/// What a process uses.
pub(super) struct Usage {
    pub(super) threads: f64,
    pub(super) resident_kb: f64,
}

impl Crowd<'_> {
    /// An empty home that lets so many sessions live at once.
    pub(super) fn new<'scene>(scene: &'scene Scene, name: &str, sessions: usize) -> Outcome<Crowd<'scene>> {
        let home = scene.directory(name)?;
        let config = scene.path(&format!("{name}.toml"));
        fs::write(&config, AGENT)?;
        finish(&mut scene.longhaul(&home, &["worker", "--only", "--sessions", &sessions.to_string()]))?;
        let (runtime, store) = (runtime()?, SqliteStore::open(&home)?);
        Ok(Crowd { scene, home, config, repository: None, name: name.to_owned(), runtime, store })
    }

    /// Gives all tasks one git repository, in which each gets a worktree.
    pub(super) fn in_git(mut self) -> Outcome<Self> {
        self.repository = Some(self.scene.git_repository(&format!("{}-repository", self.name))?);
        Ok(self)
    }

    /// The milliseconds of one `run --detach`.
    pub(super) fn submit(&self, number: usize) -> Outcome<f64> {
        let workspace = match &self.repository {
            Some(repository) => repository.clone(),
            None => self.scene.directory(&format!("{}-workspace-{number}", self.name))?,
        };
        let name = format!("task-{number}");
        let mut run = self.longhaul(&["run", "--detach", "--agent", "sleeper", "--name", &name, "Sleep"]);
        milliseconds(|| finish(run.current_dir(workspace)))
    }

    pub(super) fn submit_all(&self, mut numbers: Range<usize>) -> Outcome {
        numbers.try_for_each(|number| self.submit(number).map(drop))
    }

    fn longhaul(&self, arguments: &[&str]) -> Command {
        let mut command = self.scene.longhaul(&self.home, arguments);
        command.env("LONGHAUL_CONFIG", &self.config).env("LONGHAUL_SESSION_SCOPES", "false");
        command
    }

    /// Waits until so many keepers report a live agent.
    pub(super) fn wait_until_live(&self, count: usize) -> Outcome {
        let live = || self.sessions().iter().filter(|session| matches!(session.identity(), Ok(Some(_)))).count();
        wait_for("live agent for every task", || Ok((live() >= count).then_some(())))
    }

    /// Starts a worker and waits until it owns all tasks.
    pub(super) fn adopt(&self) -> Outcome {
        finish(&mut self.longhaul(&["worker", "--stay", "--detach"]))?;
        wait_for("adoption of every task", || {
            let worker = self.only_worker().ok().map(|worker| worker.id);
            let is_owned = |task: &TaskSummary| task.owner.is_some() && task.owner == worker;
            Ok(self.tasks()?.iter().all(is_owned).then_some(()))
        })
    }

    fn tasks(&self) -> Outcome<Vec<TaskSummary>> {
        Ok(self.runtime.block_on(self.store.summaries(Filter::default()))?.tasks)
    }

    fn only_worker(&self) -> Outcome<Worker> {
        match self.workers()[..] {
            [worker] => Ok(worker),
            ref others => Err(format!("the home has {} workers instead of one", others.len()).into()),
        }
    }

    /// What the one worker of the home uses. More than one, or none, is a failure of the measure.
    pub(super) fn worker_usage(&self) -> Outcome<Usage> {
        let pid = self.only_worker()?.process.pid;
        let read = |field| status(pid, field).ok_or(format!("no `{field}` in the status of the worker"));
        Ok(Usage { threads: read("Threads")?, resident_kb: read("VmRSS")? })
    }

    /// Ends the worker as the machine would.
    pub(super) fn kill_worker(&self) -> Outcome {
        let worker = self.only_worker()?;
        worker.kill();
        wait_for("death of the worker", || Ok((!worker.is_alive()).then_some(())))
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

    /// The processor seconds of all workers, keepers and agents, and of the children they waited for.
    pub(super) fn processor_seconds(&self) -> f64 {
        let identities = self.sessions().into_iter().filter_map(|session| session.identity().ok().flatten());
        let kept = identities.flat_map(|identity| [identity.keeper, identity.child]);
        let all = self.workers().into_iter().map(|worker| worker.process).chain(kept);
        all.map(|process| ticks(process.pid)).sum::<f64>() / clock_ticks_per_second() as f64
    }

    /// Adoption that lost or restarted a session would be no adoption.
    pub(super) fn check_first_sessions(&self) -> Outcome {
        let restarted = self.tasks()?.iter().filter(|task| task.sessions != 1).count();
        let ended = self.sessions().iter().filter(|session| !matches!(session.exit(), Ok(None))).count();
        ensure(restarted == 0 && ended == 0, || format!("{restarted} sessions were restarted, {ended} ended"))
    }

    /// An owner that does not notice the end of a session would have adopted it only in name.
    pub(super) fn check_watch(&self) -> Outcome {
        if let Some(identity) = self.sessions().first().and_then(|session| session.identity().ok().flatten()) {
            signal_keeper(&identity, Stop::Immediate)?;
        }
        let is_over = |task: &TaskSummary| task.sessions > 1 || !task.live;
        wait_for("notice of the ended session", || Ok(self.tasks()?.iter().any(is_over).then_some(())))
    }
}

impl Drop for Crowd<'_> {
    fn drop(&mut self) {
        // The workers first, or they would start the sessions again.
        self.workers().iter().for_each(Worker::kill);
        wait_for("end of all workers", || Ok(self.workers().is_empty().then_some(()))).ok();
        let sessions = self.sessions();
        for identity in sessions.iter().filter_map(|session| session.identity().ok().flatten()) {
            signal_keeper(&identity, Stop::Immediate).ok();
        }
        let ended =
            |session: &SessionDir| !matches!(session.identity(), Ok(Some(_))) || matches!(session.end(), Ok(Some(_)));
        wait_for("end of every session", || Ok(sessions.iter().all(ended).then_some(()))).ok();
    }
}

impl Worker {
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

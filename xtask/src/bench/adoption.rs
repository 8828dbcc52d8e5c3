//! How long tasks stay alone after kill -9 of their worker: from the start of the next worker until it owns them all.
//! Called by `plan`. The sessions live through all rounds; each round kills the worker of the one before. Beside it as many
//! bare processes are spawned and waited for.

use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use longhaul_core::ids::WorkerId;
use longhaul_keeper::{SessionDir, Stop, signal_keeper};
use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{Filter, Store, Stored};
use tokio::runtime::Runtime;

use super::figures::{Samples, Unit};
use super::sample_task::submit;
use super::scene::{BenchError, Scene, failed, milliseconds, runtime, wait_for};
use super::table::{Comparison, Row, Target};
use super::wishes::Effort;

const ROUNDS: usize = 10;
const TASKS: usize = 100;

/// Measures adoption.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    let mut fleet = Fleet::start(scene)?;
    let [mut measured, mut reference] = [const { Samples::new() }; 2];
    for _ in 0..effort.rounds(ROUNDS) {
        reference.push(milliseconds(spawn_as_many)? / TASKS as f64);
        fleet.kill_worker()?;
        measured.push(milliseconds(|| fleet.adopt())? / TASKS as f64);
    }
    fleet.check_sessions()?;
    fleet.check_watch()?;
    let what = format!("adopting one of {TASKS} live sessions of a killed worker, the new worker's start included");
    let beside = format!("spawning one of {TASKS} processes");
    let comparison = Comparison { unit: Unit::Milliseconds, measured, beside, reference };
    Ok(vec![Row::new(what, comparison, Target::Free)])
}

fn spawn_as_many() -> Result<(), BenchError> {
    let spawn = |_| Command::new("/bin/true").spawn().map_err(failed("spawn `true`"));
    let children = (0..TASKS).map(spawn).collect::<Result<Vec<Child>, BenchError>>()?;
    for mut child in children {
        child.wait().map_err(failed("wait for `true`"))?;
    }
    Ok(())
}

/// A home with live sessions and the worker that owns them; all are ended when it is dropped.
struct Fleet<'scene> {
    scene: &'scene Scene,
    home: PathBuf,
    runtime: Runtime,
    store: SqliteStore,
    worker: Child,
    owner: Option<WorkerId>,
    sessions: Vec<SessionDir>,
}

impl Fleet<'_> {
    fn start(scene: &Scene) -> Result<Fleet<'_>, BenchError> {
        let home = scene.directory("adoption")?;
        let runtime = runtime()?;
        let store = SqliteStore::open(&home)?;
        for number in 0..TASKS {
            // One directory each: in the same one they would wait for each other.
            let workspace = scene.directory(&format!("adoption-workspace-{number}"))?;
            runtime.block_on(submit(&store, &workspace, &format!("task-{number}")))?;
        }
        let worker = start_worker(scene, &home)?;
        let mut fleet = Fleet { scene, home, runtime, store, worker, owner: None, sessions: Vec::new() };
        fleet.wait_until_live()?;
        Ok(fleet)
    }

    fn wait_until_live(&mut self) -> Result<(), BenchError> {
        let sessions = wait_for("a live session for every task", || {
            let tasks = self.tasks()?;
            let live = tasks.iter().filter_map(|stored| self.live_session(stored));
            let live: Vec<SessionDir> = live.collect();
            Ok((live.len() == TASKS).then_some(live))
        })?;
        self.sessions = sessions;
        self.owner = self.only_owner()?;
        Ok(())
    }

    fn live_session(&self, stored: &Stored) -> Option<SessionDir> {
        let session = stored.task.state.session()?;
        let directory = SessionDir::at(&self.home.join("sessions").join(session.id.to_string())).ok()?;
        directory.identity().ok().flatten().map(|_| directory)
    }

    fn kill_worker(&mut self) -> Result<(), BenchError> {
        self.worker.kill().map_err(failed("kill the worker"))?;
        self.worker.wait().map(drop).map_err(failed("wait for the worker"))
    }

    fn adopt(&mut self) -> Result<(), BenchError> {
        let before = self.owner;
        self.worker = start_worker(self.scene, &self.home)?;
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut changes = self.store.changes()?;
        while self.owner == before || self.owner.is_none() {
            if Instant::now() > deadline {
                return Err(BenchError::Late { what: "the adoption of every task" });
            }
            let rung = async { tokio::time::timeout(Duration::from_millis(100), changes.rung()).await };
            // A missed ring only costs the rest of the tenth of a second.
            self.runtime.block_on(rung).ok();
            self.owner = self.only_owner()?.or(before);
        }
        Ok(())
    }

    /// Who owns every task, if it is one worker.
    fn only_owner(&self) -> Result<Option<WorkerId>, BenchError> {
        let tasks = self.tasks()?;
        let mut owners = tasks.iter().map(|stored| stored.owner.as_ref().map(|owner| owner.worker));
        let first = owners.next().flatten();
        Ok(first.filter(|_| owners.all(|owner| owner == first)))
    }

    fn tasks(&self) -> Result<Vec<Stored>, BenchError> {
        Ok(self.runtime.block_on(self.store.list(Filter::default()))?.tasks)
    }

    /// Adoption that lost or restarted a session would be no adoption.
    fn check_sessions(&self) -> Result<(), BenchError> {
        let restarted = self.tasks()?.iter().filter(|stored| stored.task.tally.sessions != 1).count();
        let ended = self.sessions.iter().filter(|session| !matches!(session.exit(), Ok(None))).count();
        if restarted == 0 && ended == 0 {
            return Ok(());
        }
        let found = format!("{restarted} started again, {ended} ended");
        Err(BenchError::Unexpected { what: "what became of the sessions", found })
    }
}

impl Fleet<'_> {
    /// An owner that does not see its sessions end would have adopted only in name.
    fn check_watch(&self) -> Result<(), BenchError> {
        let Some(session) = self.sessions.first() else { return Ok(()) };
        if let Some(identity) = session.identity()? {
            signal_keeper(&identity, Stop::Immediate)
                .map_err(|error| failed("end a session")(std::io::Error::other(error)))?;
        }
        let is_seen = || Ok(self.tasks()?.iter().any(|stored| self.is_over(stored)).then_some(()));
        wait_for("the owner's sight of an ended session", is_seen)
    }

    /// Whether the task's first session is over in the store too.
    fn is_over(&self, stored: &Stored) -> bool {
        stored.task.tally.sessions > 1 || stored.task.state.session().is_none()
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        // The worker first, or it would start the sessions again.
        self.kill_worker().ok();
        let entries = std::fs::read_dir(self.home.join("sessions"));
        let all: Vec<SessionDir> =
            entries.into_iter().flatten().flatten().filter_map(|entry| SessionDir::at(&entry.path()).ok()).collect();
        for session in &all {
            if let Ok(Some(identity)) = session.identity() {
                signal_keeper(&identity, Stop::Immediate).ok();
            }
        }
        let ended =
            |session: &SessionDir| !matches!(session.identity(), Ok(Some(_))) || matches!(session.end(), Ok(Some(_)));
        wait_for("the end of every session", || Ok(all.iter().all(ended).then_some(()))).ok();
    }
}

fn start_worker(scene: &Scene, home: &std::path::Path) -> Result<Child, BenchError> {
    let mut command = scene.longhaul(home, &["worker", "--stay", "--sessions", "200"]);
    command.env("DEMO_FAULT", "hang").spawn().map_err(failed("start a worker"))
}

//! Attending a session from its committed start to its observed end: start it (once, ever) or adopt it in the middle, read its output
//! as it grows, and answer how it ended. It never calls a session ended that may still have a process.

use std::path::Path;
use std::time::Duration;

use longhaul_core::ids::SessionId;
use longhaul_core::task::{
    Actor, Cause, Ended, Exit, Failure, Gap, ListSight, Observation, Outcome, PlanSight, SessionRun, StoppedBy, Task,
};
use longhaul_keeper::{SessionDir, fail_point};

use super::read_output::Listener;
use super::session_end::{self, Observed};
use super::{Job, keeper_death, start_session};
use crate::clock::now;
use crate::task_dir::TaskDir;

pub(super) async fn attend(job: Job, id: SessionId) {
    let Some(session) = job.task.state.live(id) else { return };
    let ended = if job.fresh == Some(id) {
        fail_point::reach("worker.session_committed");
        start(&job, session).await
    } else {
        adopt(&job, session).await
    };
    let plan = plan_now(&job.task);
    job.answer(Observation::SessionEnded { session: id, ended, plan }, Actor::worker()).await;
}

/// This process committed the start, so it is the one that may spawn.
async fn start(job: &Job, session: &SessionRun) -> Ended {
    job.context.stagger().await;
    let not_started = |why: String| nothing_ran(Exit::NotExecutable(why));
    let agent = match longhaul_agents::find(&job.task.submission.agent) {
        Ok(agent) => agent,
        Err(unknown) => return not_started(unknown.to_string()),
    };
    let view = match task_dir(&job.task) {
        Ok(view) => view,
        Err(cause) => return not_started(cause.to_string()),
    };
    announce(session, &view);
    let (dir, child) = match start_session::start(job, session, agent, &view) {
        Ok(started) => started,
        Err(error) => return not_started(error.to_string()),
    };
    let listener = Listener::new(job, session, Some(agent), Some(&view));
    follow(job, session, dir, listener, keeper_death::of_child(child)).await
}

/// Another process committed the start and is dead; what became of it is on disk, or nowhere.
async fn adopt(job: &Job, session: &SessionRun) -> Ended {
    let agent = longhaul_agents::find(&job.task.submission.agent);
    if let Err(unknown) = &agent {
        job.context.report(&format!("session {}: {unknown}", session.id));
    }
    let view = task_dir(&job.task).ok();
    let listener = Listener::new(job, session, agent.ok(), view.as_ref());
    let path = job.context.home.session(session.id);
    // The lock file is made before anything is spawned; without it a keeper never was, or its directory was taken away.
    let locked = path.join("session.lock").try_exists().unwrap_or(true);
    match SessionDir::at(&path) {
        Ok(dir) if locked => follow(job, session, dir.clone(), listener, keeper_death::of_adopted(dir)).await,
        Ok(_) | Err(_) => {
            let id = session.id;
            let observed = observe(job, session, move |tell| session_end::gone(id, tell)).await;
            finish(job, session, listener, observed).await
        }
    }
}

/// Reads as the log grows until the keeper is gone, then tells the end.
async fn follow(
    job: &Job,
    session: &SessionRun,
    dir: SessionDir,
    mut listener: Listener<'_>,
    death: impl Future<Output = ()>,
) -> Ended {
    let ear = job.context.bell.listen(dir.path());
    tokio::pin!(death);
    loop {
        listener.read_on().await;
        tokio::select! {
            () = &mut death => break,
            () = ear.changed() => {}
        }
    }
    let observed = observe(job, session, move |tell| session_end::observe(&dir, tell)).await;
    finish(job, session, listener, observed).await
}

/// Looks at the end on a thread that may block, because a sweep insists.
async fn observe(
    job: &Job,
    session: &SessionRun,
    look: impl FnOnce(&dyn Fn(&str)) -> Observed + Send + 'static,
) -> Observed {
    let context = job.context.clone();
    let id = session.id;
    let tell = move |what: &str| context.report(&format!("session {id}: {what}"));
    match tokio::task::spawn_blocking(move || look(&tell)).await {
        Ok(observed) => observed,
        // A bug of ours is no observation: the hub breaks, and a new one looks again.
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => std::future::pending().await,
    }
}

async fn finish(job: &Job, session: &SessionRun, listener: Listener<'_>, observed: Observed) -> Ended {
    fail_point::reach("worker.end_seen");
    let outcome = listener.finish(&observed.exit).await;
    let lasted = lasted(job, session, &observed);
    if let Ok(view) = task_dir(&job.task) {
        view.append_log(format!("=== session {}: {} ===\n", session.number, observed.exit).as_bytes());
    }
    Ended {
        exit: observed.exit,
        stopped_by: observed.stopped_by,
        outcome,
        leftovers: observed.leftovers,
        gap: observed.gap,
        lasted_ms: u64::try_from(lasted.as_millis()).unwrap_or(u64::MAX),
    }
}

/// Working time up to the observed exit. When nobody observed it, the last output counts, not the night the machine was off.
fn lasted(job: &Job, session: &SessionRun, observed: &Observed) -> Duration {
    if let Some(at) = observed.at {
        return at.since(session.started);
    }
    let dir = SessionDir::at(&job.context.home.session(session.id)).ok();
    let silent = dir.and_then(|dir| dir.last_output()).and_then(|at| at.elapsed().ok());
    silent.map_or(Duration::ZERO, |silent| now().since(session.started).saturating_sub(silent))
}

fn nothing_ran(exit: Exit) -> Ended {
    Ended {
        exit,
        stopped_by: StoppedBy::Itself,
        outcome: Outcome::Failed(Failure::Crashed),
        leftovers: 0,
        gap: Gap::None,
        lasted_ms: 0,
    }
}

/// The view's boundary of a session, and what a person should know before it.
fn announce(session: &SessionRun, view: &TaskDir) {
    if let Some(pid) = view.other_runner() {
        view.append_log(format!("=== stale lock: the runner of .runner.lock (pid {pid}) is dead ===\n").as_bytes());
    }
    let started = session.started.rfc3339();
    view.append_log(format!("=== session {} ({}) {started} ===\n", session.number, session.purpose).as_bytes());
}

fn plan_now(task: &Task) -> PlanSight {
    match task_dir(task) {
        Ok(dir) => dir.sight(),
        Err(cause) => PlanSight { list: ListSight::Unreadable { why: cause.to_string() }, progress_exists: false },
    }
}

fn task_dir(task: &Task) -> Result<TaskDir, Cause> {
    TaskDir::open(Path::new(&task.submission.project), task.submission.name.as_ref())
}

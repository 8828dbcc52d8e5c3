//! Attending a session from its committed start to its observed end: start it (once, ever) or adopt it in the middle, read its output
//! as it grows, and answer how it ended. It never calls a session ended that may still have a process.

use std::time::Duration;

use longhaul_agents::{Ids, TurnEnd};
use longhaul_core::ids::SessionId;
use longhaul_core::task::{
    Actor, CheckOutput, Delivered, Ended, Exit, Failure, Observation, Outcome, PlanFiles, Said, SessionRun, StoppedBy,
    Task, TaskListFile, Usage,
};
use longhaul_keeper::process::boot_id;
use longhaul_keeper::{SessionDir, Stop, fail_point};

use super::account::account_of;
use super::read_output::Listener;
use super::session_end::{self, Observed};
use super::start_session::{self, Program};
use super::{Job, check_output, keep_work, keeper_death, prepare_workspace, stop_session};
use crate::exit_watch::reap;
use crate::or_never::or_never;
use longhaul_app::{ShellLock, TaskDir, check_floors, now};

pub(super) async fn attend(job: Job, id: SessionId) {
    let Some(session) = job.task.state.live(id) else { return };
    let ended = if job.fresh == Some(id) {
        fail_point::reach("worker.session_committed");
        start(&job, session).await
    } else {
        adopt(&job, session).await
    };
    session_end::tidy(&job.context.home.session(id));
    let ended = if session.purpose.is_agent() { ended } else { after_check(&job.task, ended) };
    let plan = plan_now(&job);
    job.answer(Observation::SessionEnded { session: id, ended: Box::new(ended), plan }, Actor::worker()).await;
}

/// What counts for the round besides: under which boot the end was seen, and what a check in a clean checkout has built.
fn after_check(task: &Task, ended: Ended) -> Ended {
    let expected =
        task.checkout().map(|checkout| prepare_workspace::hash_expected(task, &checkout.cwd)).unwrap_or_default();
    Ended { boot: boot_id().ok(), expected, ..ended }
}

/// This process committed the start, so it is the one that may spawn.
async fn start(job: &Job, session: &SessionRun) -> Ended {
    job.context.stagger().await;
    let not_started = |why: String| nothing_ran(session, Exit::NotExecutable(why));
    let program = match Program::of(&job.task, session) {
        Ok(program) => program,
        Err(unknown) => return not_started(unknown.to_string()),
    };
    let view = match job.task_dir() {
        Ok(view) => view,
        Err(cause) => return not_started(cause.to_string()),
    };
    announce(session, &view);
    let preset = preset(job, session, &program).await;
    let _awake = job.context.awake.hold(job.task.submission.patience.keep_awake);
    let (dir, child) = match start_session::start(job, session, &program, &view) {
        Ok(started) => started,
        // Nothing ran, and nothing is wrong with the program: the machine is out of something for now.
        Err(error) if error.is_transient() => {
            job.report(&format!("session {}: {error}", session.id));
            let starved = check_floors(&job.task, &job.context.home).err();
            return Ended { starved, delivered: preset, ..nothing_ran(session, Exit::NeverStarted) };
        }
        Err(error) => return Ended { delivered: preset, ..not_started(error.to_string()) },
    };
    let listener = Listener::new(job, session, program.agent(), Some(&view));
    let death = reap(child);
    follow(job, session, dir, listener, async move { drop(death.await) }).await
}

/// Another process committed the start and is dead; what became of it is on disk, or nowhere.
async fn adopt(job: &Job, session: &SessionRun) -> Ended {
    let program = Program::of(&job.task, session);
    if let Err(unknown) = &program {
        job.report(&format!("session {}: {unknown}", session.id));
    }
    let _awake = job.context.awake.hold(job.task.submission.patience.keep_awake);
    let view = job.task_dir().ok();
    let listener = Listener::new(job, session, program.ok().and_then(|program| program.agent()), view.as_ref());
    let path = job.context.home.session(session.id);
    // The lock file is made before anything is spawned; without it a keeper never was, or its directory was removed.
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
    let mut told = false;
    loop {
        dir.reclaim();
        listener.read_on().await;
        let patience = listener.patience().filter(|_| !told);
        tokio::select! {
            () = &mut death => break,
            () = ear.changed() => {}
            () = or_never(patience.map(tokio::time::sleep)) => {
                stop_session::tell(job, session.id, Stop::Graceful).await;
                told = true;
            }
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
    let (reporting, id) = (job.clone(), session.id);
    let tell = move |what: &str| reporting.report(&format!("session {id}: {what}"));
    match tokio::task::spawn_blocking(move || look(&tell)).await {
        Ok(observed) => observed,
        // A bug of ours is no observation: the hub breaks, and a new one looks again.
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => std::future::pending().await,
    }
}

async fn finish(job: &Job, session: &SessionRun, listener: Listener<'_>, observed: Observed) -> Ended {
    fail_point::reach("worker.end_seen");
    let heard = listener.finish(&observed.exit).await;
    let outcome = outcome_of(session, &observed.exit, heard.end.outcome);
    let lasted = lasted(job, session, &observed);
    if let Ok(view) = job.task_dir() {
        view.append_log(format!("=== session {}: {} ===\n", session.number, observed.exit).as_bytes());
    }
    let failed = outcome != Outcome::Completed || observed.exit != Exit::Code(0);
    let kept = keep_work::keep(job, session).await;
    Ended {
        stopped_by: stopped_by(observed.stopped_by, heard.over),
        leftovers: observed.leftovers,
        gap: observed.gap,
        lasted_ms: u64::try_from(lasted.as_millis()).unwrap_or(u64::MAX),
        tree: kept.tree,
        saved: kept.saved,
        starved: failed.then(|| check_floors(&job.task, &job.context.home).err()).flatten(),
        printed: printed(job, session),
        files: kept.files,
        delivered: heard.transcript.delivered,
        denied: heard.end.denied,
        carry: heard.carry,
        account: account(job, session),
        ..Ended::new(observed.exit, outcome)
    }
}

/// Only who started a session knows the environment it got.
fn account(job: &Job, session: &SessionRun) -> Option<String> {
    let program = Program::of(&job.task, session).ok().filter(|_| job.fresh == Some(session.id));
    program?.agent().map(|agent| account_of(job, &agent))
}

/// The keeper cannot know why it was asked to stop; a program whose turn was over was not interrupted.
fn stopped_by(observed: StoppedBy, over: Option<TurnEnd>) -> StoppedBy {
    match (observed, over) {
        (StoppedBy::Shutdown, Some(_)) => StoppedBy::Lingered,
        (observed, _) => observed,
    }
}

/// An id that we choose is durable before the program can use it. Says what is known of the prompt if the program never starts: then
/// no conversation of that id exists.
async fn preset(job: &Job, session: &SessionRun, program: &Program<'_>) -> Delivered {
    let presets = program.agent().is_some_and(|agent| agent.about().ids == Ids::Preset);
    if !presets || session.resumes.is_some() {
        return Delivered::Unknown;
    }
    let said = Said { conversation: Some(session.id.to_string()), usage: Usage::default() };
    let read = session.read.clone();
    job.answer(Observation::SessionRead { session: session.id, read, said }, Actor::worker()).await;
    Delivered::NoTranscript
}

fn printed(job: &Job, session: &SessionRun) -> Option<CheckOutput> {
    let dir = SessionDir::at(&job.context.home.session(session.id)).ok().filter(|_| !session.purpose.is_agent());
    dir.map(|dir| check_output::read(&dir))
}

/// Working time up to the observed exit. When nobody observed it, the last output counts, not the night the machine was off.
fn lasted(job: &Job, session: &SessionRun, observed: &Observed) -> Duration {
    if let Some(ran_ms) = observed.ran_ms {
        return Duration::from_millis(ran_ms);
    }
    if let Some(at) = observed.at {
        return at.since(session.started);
    }
    let dir = SessionDir::at(&job.context.home.session(session.id)).ok();
    let silent = dir.and_then(|dir| dir.last_output()).and_then(|at| at.elapsed().ok());
    silent.map_or(Duration::ZERO, |silent| now().since(session.started).saturating_sub(silent))
}

/// What the reader remembered is unchanged: nothing was read.
fn nothing_ran(session: &SessionRun, exit: Exit) -> Ended {
    Ended { carry: session.carry.clone(), ..Ended::new(exit, Outcome::Failed(Failure::Crashed)) }
}

/// A check that exits has done its work, whatever it printed; an agent's outcome is judged by its own reader.
fn outcome_of(session: &SessionRun, exit: &Exit, read: Outcome) -> Outcome {
    match exit {
        _ if session.purpose.is_agent() => read,
        Exit::Code(_) => Outcome::Completed,
        Exit::Signal(_) | Exit::NotExecutable(_) | Exit::NeverStarted | Exit::Unknown => {
            Outcome::Failed(Failure::Crashed)
        }
    }
}

/// The view's boundary of a session, and what a person should know before it.
fn announce(session: &SessionRun, view: &TaskDir) {
    if let ShellLock::Stale(pid) = view.shell_lock() {
        view.append_log(format!("=== stale lock: the runner of .runner.lock (pid {pid}) is dead ===\n").as_bytes());
    }
    let started = session.started.rfc3339();
    view.append_log(format!("=== session {} ({}) {started} ===\n", session.number, session.purpose).as_bytes());
}

fn plan_now(job: &Job) -> PlanFiles {
    match job.task_dir() {
        Ok(dir) => dir.sight(),
        Err(cause) => PlanFiles { list: TaskListFile::Unreadable { why: cause.to_string() }, progress_exists: false },
    }
}

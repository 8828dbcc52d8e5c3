//! `longhaul run-session`: the drop-in for the existing shell runner. It is itself the worker of its task, in the same engine as every
//! other, and by the runner's rules. Whatever goes wrong ends with exit code 1, a failed session with the agent's own code.

mod directory;
mod list;
mod name;
mod outcome;
mod printer;
mod record;

use std::sync::Arc;

use longhaul_app::{AppError, Call, ErrorKind, Project, ShellLock, TaskDir, ownership, usual_span};
use longhaul_core::task::{Action, State, StopMode, Submission, Task, permit};
use longhaul_keeper::{Executable, find_program};
use longhaul_store::{Filter, Stored, Which};
use longhaul_worker::{Context, RunnerProcess};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::cli::RunSession;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::out;
use longhaul_app::directory_wait::DirectoryWait;

use directory::{Directories, Directory, Found};
use list::Marks;
use name::Name;
use outcome::Outcome;
use printer::{Ears, RunnerPrinter};
use record::{Ground, Invocation, Record};

pub(crate) async fn run_session(line: &CommandLine, args: &RunSession) -> Result<Code, AppError> {
    // The runner knows two codes of its own: it went well, or it did not.
    carry_out(line, args).await.map_err(|error| AppError { kind: ErrorKind::Failure, ..error })
}

async fn carry_out(line: &CommandLine, args: &RunSession) -> Result<Code, AppError> {
    let place = line.caller.project()?;
    let directories = Directories::of(&place.root);
    if args.list {
        list::print(&directories, &marks(line, &place).await);
        return Ok(Code::Done);
    }
    let (name, record) = Record::settle(line, name::choose(args, &directories)?, &place, &directories).await?;
    let found = directories.task(name.as_str()).look();
    let goal = fit(args, &name, &found, record.as_ref())?;
    name.announce();
    if let Found::Plan(plan) = &found
        && plan.is_complete()
        && record.is_none()
    {
        outcome::complete(&directories.task(name.as_str()));
        return Ok(Code::Done);
    }
    see_to_program()?;
    permit(&line.caller.actor, &Action::Manage("run-session"))?;
    drive(line, args, &place, &directories, Invocation { name, goal, record }).await
}

/// The goal of the task, when its directory is fit to be worked on; what is wrong otherwise. Makes nothing.
fn fit(args: &RunSession, name: &Name, found: &Found, record: Option<&Record>) -> Result<String, AppError> {
    let described = args.description.clone().or_else(|| record.map(Record::goal));
    match found {
        // What a session that may be alive has half written is judged when it has ended.
        Found::Unfit(why) if !record.is_some_and(Record::is_in_session) => {
            Err(AppError::new(ErrorKind::Failure, why.clone()).hint("mend it by hand; nothing was changed"))
        }
        Found::Plan(_) | Found::Unfit(_) => {
            Ok(described.unwrap_or_else(|| format!("Finish the task list of `{}`", name.as_str())))
        }
        Found::Nothing | Found::NoList { .. } => described.ok_or_else(|| unknown(name, found)),
    }
}

fn unknown(name: &Name, found: &Found) -> AppError {
    let name = out::safe(name.as_str());
    let what = match found {
        Found::NoList { left: Some(left) } => {
            format!("invalid state: task `{name}` has a {left}, but its task_list.md is missing")
        }
        Found::NoList { left: None } => format!("the task_list.md of task `{name}` is missing"),
        Found::Nothing | Found::Plan(_) | Found::Unfit(_) => {
            format!("there is no task `{name}`: its directory is missing")
        }
    };
    AppError::new(ErrorKind::Failure, what).hint("give a description to begin it, or see `longhaul run-session --list`")
}

fn see_to_program() -> Result<(), AppError> {
    match find_program("codex") {
        Some(_) => Ok(()),
        None => Err(AppError::new(ErrorKind::Failure, "`codex` is not on PATH")
            .hint("install it: npm install -g @openai/codex")),
    }
}

async fn drive(
    line: &CommandLine,
    args: &RunSession,
    place: &Project,
    directories: &Directories,
    invocation: Invocation,
) -> Result<Code, AppError> {
    let mut asks = pauses()?;
    let executable = Executable::open_own()
        .map_err(|error| AppError::new(ErrorKind::Failure, "cannot open our own executable").because(&error))?;
    let call = line.open()?;
    let voice = Arc::new(RunnerPrinter::default());
    let context = Context::new(Arc::clone(call.app.store_for(&call.caller)?), call.home().clone(), executable, report);
    let driving = RunnerProcess::begin(context.watched_by(Box::new(Ears(Arc::clone(&voice)))))?;
    let stored = invocation.take_up(&Ground { line, args, place, directories, driving: &driving, call: &call }).await?;
    if let Some(session) = stored.task.state.session() {
        voice.adopt(&stored.task, session);
    }
    warn_directory(&call, &stored.task).await?;
    warn(line, args, &stored.task, &directories.task(stored.task.submission.name.as_str()));
    let Submission { agent, project, .. } = &*stored.task.submission;
    out::note(&usual_span::sentence(&call, agent, project).await);
    let name = stored.task.submission.name.clone();
    let asked = asks.asked.clone();
    let task =
        driving.run(stored, &call.caller.actor, &mut asks.receiver).await.map_err(|error| record::failed(&error))?;
    let outcome =
        Outcome { args, task: &task, voice: &voice, directory: directories.task(name.as_str()), asked: &asked };
    let code = outcome.tell(&call).await;
    driving.leave(&task, &mut asks.receiver).await.map_err(|error| record::failed(&error))?;
    code
}

/// An invocation waits for nobody, because somebody waits for it in a terminal.
async fn warn_directory(call: &Call, task: &Task) -> Result<(), AppError> {
    if let Some(taken) = DirectoryWait::of(call, task.id).await? {
        let who = out::safe(&taken.who());
        out::note(&format!("warning: {who} works in this directory too, and run-session does not wait for it"));
    }
    Ok(())
}

/// What a person should know before the first session.
fn warn(line: &CommandLine, args: &RunSession, task: &Task, directory: &Directory) {
    if args.network {
        out::note("warning: --network runs codex without any sandbox: it can write and reach everything that you can");
    }
    let Ok(dir) = TaskDir::open(task, line.system.environment.clone()) else { return };
    if let ShellLock::Stale(pid) = dir.shell_lock() {
        out::note(&format!("warning: stale lock: the runner of .runner.lock (pid {pid}) is dead; it is left as it is"));
    }
    if args.resume_last && directory.saved().is_some() && dir.conversation().is_none() {
        out::note("Resume failed (session.id holds no id of a conversation); starting a fresh session.");
    }
}

/// What the store knows of the tasks of this project.
async fn marks(line: &CommandLine, place: &Project) -> Marks {
    let Ok(call) = line.open_existing() else { return Marks::new() };
    let project = Some(place.root.display().to_string());
    let filter = Filter { project, which: Which::Unfinished, ..Filter::default() };
    let listed = call.list(filter).await.map(|listed| listed.tasks).unwrap_or_default();
    let named = |stored: &Stored| (stored.task.submission.name.to_string(), mark(&call, stored));
    listed.iter().map(named).filter_map(|(name, mark)| Some((name, mark?))).collect()
}

fn mark(call: &Call, stored: &Stored) -> Option<&'static str> {
    let failed = stored.task.tally.failures > 0;
    match (&stored.owner, &stored.task.state) {
        (Some(_), _) if ownership::is_dead(call.home(), stored) => Some("stale"),
        (Some(_), _) => Some("running"),
        (None, State::Paused) if failed => Some("failed"),
        (None, _) => None,
    }
}

/// The signals that pause an invocation.
struct Asks {
    receiver: mpsc::Receiver<StopMode>,
    /// Set once one has come.
    asked: Arc<std::sync::atomic::AtomicBool>,
}

/// INT and TERM pause, the second one at once; HUP is ignored, because a runner outlives its terminal.
fn pauses() -> Result<Asks, AppError> {
    let listen = |kind| {
        signal(kind).map_err(|error| AppError::new(ErrorKind::Failure, "cannot listen for signals").because(&error))
    };
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    let mut hang_up = listen(SignalKind::hangup())?;
    let (sender, receiver) = mpsc::channel(4);
    let asked = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let told = Arc::clone(&asked);
    tokio::spawn(async move {
        let mut mode = StopMode::Graceful;
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hang_up.recv() => continue,
            }
            told.store(true, std::sync::atomic::Ordering::SeqCst);
            if sender.send(mode).await.is_err() {
                return;
            }
            mode = StopMode::Immediate;
        }
    });
    Ok(Asks { receiver, asked })
}

fn report(message: &str) {
    out::note(&format!("longhaul run-session: {}", out::safe(message)));
}

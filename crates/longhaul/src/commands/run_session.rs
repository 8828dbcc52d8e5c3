//! `longhaul run-session`: a drop-in replacement for the shell runner of the autonomous-skill. This process is the worker of its task: it
//! runs the same engine with the shell runner's rules. Errors end with exit code 1, a failed session with the agent's own code.

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

use directory::{Directories, Directory, DirectoryState};
use list::Marks;
use name::Name;
use outcome::Outcome;
use printer::RunnerPrinter;
use record::{Invocation, InvocationContext, Record};

pub(crate) async fn run_session(line: &CommandLine, args: &RunSession) -> Result<Code, AppError> {
    // The shell runner itself has only two exit codes: success and failure.
    run(line, args).await.map_err(|mut error| {
        error.kind = ErrorKind::Failure;
        error
    })
}

async fn run(line: &CommandLine, args: &RunSession) -> Result<Code, AppError> {
    let place = line.caller.project()?;
    let directories = Directories::of(&place.root);
    if args.list {
        list::print(&directories, &marks(line, &place).await);
        return Ok(Code::Done);
    }
    let (name, record) = Record::resolve(line, name::choose(args, &directories)?, &place, &directories).await?;
    let state = directories.task(name.as_str()).inspect();
    let goal = goal(args, &name, &state, record.as_ref())?;
    name.announce();
    if let DirectoryState::Plan(plan) = &state
        && plan.is_complete()
        && record.is_none()
    {
        outcome::print_complete(&directories.task(name.as_str()));
        return Ok(Code::Done);
    }
    require_codex()?;
    permit(&line.caller.actor, &Action::Manage("run-session"))?;
    run_task(line, args, &place, &directories, Invocation { name, goal, record }).await
}

/// The task's goal, or what is wrong with its directory. Creates nothing.
fn goal(args: &RunSession, name: &Name, state: &DirectoryState, record: Option<&Record>) -> Result<String, AppError> {
    let described = args.description.clone().or_else(|| record.map(Record::goal));
    match state {
        // A session may be writing these files; they are checked when it has ended.
        DirectoryState::Invalid(why) if !record.is_some_and(Record::is_in_session) => {
            Err(AppError::new(ErrorKind::Failure, why.clone()).hint("fix it by hand; nothing was changed"))
        }
        DirectoryState::Plan(_) | DirectoryState::Invalid(_) => {
            Ok(described.unwrap_or_else(|| format!("Finish the task list of `{}`", name.as_str())))
        }
        DirectoryState::Missing | DirectoryState::NoList { .. } => described.ok_or_else(|| no_task(name, state)),
    }
}

fn no_task(name: &Name, state: &DirectoryState) -> AppError {
    let name = out::safe(name.as_str());
    let what = match state {
        DirectoryState::NoList { left: Some(left) } => {
            format!("invalid state: task `{name}` has a {left}, but its task_list.md is missing")
        }
        DirectoryState::NoList { left: None } => format!("the task_list.md of task `{name}` is missing"),
        DirectoryState::Missing | DirectoryState::Plan(_) | DirectoryState::Invalid(_) => {
            format!("there is no task `{name}`: its directory is missing")
        }
    };
    AppError::new(ErrorKind::Failure, what).hint("give a description to start it, or see `longhaul run-session --list`")
}

fn require_codex() -> Result<(), AppError> {
    match find_program("codex") {
        Some(_) => Ok(()),
        None => Err(AppError::new(ErrorKind::Failure, "`codex` is not on PATH")
            .hint("install it: npm install -g @openai/codex")),
    }
}

async fn run_task(
    line: &CommandLine,
    args: &RunSession,
    place: &Project,
    directories: &Directories,
    invocation: Invocation,
) -> Result<Code, AppError> {
    let mut signals = pause_signals()?;
    let executable = Executable::open_own()
        .map_err(|error| AppError::new(ErrorKind::Failure, "cannot open our own executable").because(&error))?;
    let call = line.open()?;
    let printer = Arc::new(RunnerPrinter::default());
    let context = Context::new(Arc::clone(call.app.whole_store()?), call.home().clone(), executable, report);
    let process = RunnerProcess::begin(context.watched_by(Arc::<RunnerPrinter>::clone(&printer)))?;
    let context = InvocationContext { line, args, place, directories, process: &process, call: &call };
    let stored = invocation.take_up(&context).await?;
    if let Some(session) = stored.task.state.session() {
        printer.adopt(&stored.task, session);
    }
    warn_directory(&call, &stored.task).await?;
    warn(line, args, &stored.task, &directories.task(stored.task.submission.name.as_str()));
    let Submission { agent, project, .. } = &*stored.task.submission;
    out::note(&usual_span::sentence(&call, agent, project, None).await);
    let name = stored.task.submission.name.clone();
    let asked = signals.asked.clone();
    let task =
        process.run(stored, &call.caller.actor, &mut signals.receiver).await.map_err(|error| record::failed(&error))?;
    let outcome =
        Outcome { args, task: &task, printer: &printer, directory: directories.task(name.as_str()), asked: &asked };
    let code = outcome.print(&call).await;
    process.leave(&task, &mut signals.receiver).await.map_err(|error| record::failed(&error))?;
    code
}

/// Warns about other tasks in this directory; does not wait for them, because a person waits in the terminal.
async fn warn_directory(call: &Call, task: &Task) -> Result<(), AppError> {
    if let Some(taken) = DirectoryWait::of(call, task.id).await? {
        let who = out::safe(&taken.who());
        out::note(&format!("warning: {who} also works in this directory; run-session does not wait for it"));
    }
    Ok(())
}

/// Prints warnings before the first session.
fn warn(line: &CommandLine, args: &RunSession, task: &Task, directory: &Directory) {
    if args.network {
        out::note("warning: --network runs codex without any sandbox: it can change and reach everything you can");
    }
    let Ok(dir) = TaskDir::open(task, line.system.environment.clone()) else { return };
    if let ShellLock::Stale(pid) = dir.shell_lock() {
        out::note(&format!("warning: stale lock: the process of .runner.lock (pid {pid}) is dead; left unchanged"));
    }
    if args.resume_last && directory.saved().is_some() && dir.conversation().is_none() {
        out::note("Resume failed (session.id contains no conversation id); starting a fresh session.");
    }
}

/// The marks of this project's tasks, from the store.
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
struct PauseSignals {
    receiver: mpsc::Receiver<StopMode>,
    /// Set once a signal has arrived.
    asked: Arc<std::sync::atomic::AtomicBool>,
}

/// INT and TERM pause, the second one kills the agent; HUP is ignored, because a runner outlives its terminal.
fn pause_signals() -> Result<PauseSignals, AppError> {
    let listen = |kind| {
        signal(kind).map_err(|error| AppError::new(ErrorKind::Failure, "cannot listen for signals").because(&error))
    };
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    let mut hang_up = listen(SignalKind::hangup())?;
    let (sender, receiver) = mpsc::channel(4);
    let asked = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let received = Arc::clone(&asked);
    tokio::spawn(async move {
        let mut mode = StopMode::Graceful;
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hang_up.recv() => continue,
            }
            received.store(true, std::sync::atomic::Ordering::SeqCst);
            if sender.send(mode).await.is_err() {
                return;
            }
            mode = StopMode::Immediate;
        }
    });
    Ok(PauseSignals { receiver, asked })
}

fn report(message: &str) {
    out::note(&format!("longhaul run-session: {}", out::safe(message)));
}

//! `longhaul worker`: the process that owns tasks. On TERM it exits cleanly; its sessions keep running until another worker adopts them.
//! `longhaul-worker` does the work; this file handles signals and the hand-over of a task.

use std::sync::Arc;

use longhaul_app::{Answer, Handover, NewWorker};
use longhaul_keeper::Executable;
use longhaul_worker::{Context, Options, run};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::Worker;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::housekeeping::keep_house;
use crate::{out, worker_log};
use longhaul_app::Call;
use longhaul_app::{AppError, ErrorKind};

pub(crate) async fn worker(line: &CommandLine, args: &Worker) -> Result<Code, AppError> {
    if args.detach {
        return detached(line, args);
    }
    let leave = leave_on_signal()?;
    let call = line.open()?;
    remember_cap(&call, args)?;
    let handover = if args.handover { Some(read_handover()?) } else { None };
    worker_log::keep_bounded(call.home().root());
    let options = Options { only: args.only, stay: args.stay, handover };
    let stay = options.stay;
    let worked = run(context(&call)?, options, answer, leave);
    if stay {
        with_housekeeping(&call, worked).await?;
    } else {
        worked.await?;
    }
    Ok(Code::Done)
}

/// A worker in this process that stays until `leave` resolves.
pub(crate) async fn resident(call: &Call, leave: impl Future<Output = ()>) -> Result<(), AppError> {
    let options = Options { stay: true, ..Options::default() };
    Ok(with_housekeeping(call, run(context(call)?, options, |_| {}, leave)).await?)
}

/// A worker that stays also sweeps, until its work ends.
async fn with_housekeeping<T>(call: &Call, worked: impl Future<Output = T>) -> T {
    tokio::select! {
        ended = worked => ended,
        never = keep_house(call) => match never {},
    }
}

fn context(call: &Call) -> Result<Arc<Context>, AppError> {
    let executable = Executable::open_own()
        .map_err(|error| AppError::new(ErrorKind::Failure, "cannot open our own executable").because(&error))?;
    let store = Arc::clone(call.app.whole_store()?);
    Ok(Arc::new(Context::new(store, call.home().clone(), executable, worker_log::report)))
}

fn detached(line: &CommandLine, args: &Worker) -> Result<Code, AppError> {
    let call = line.open()?;
    remember_cap(&call, args)?;
    let pid = call.app.system.processes.start_worker(&call.app, NewWorker { only: args.only, stay: args.stay })?;
    out::data(&pid.to_string());
    Ok(Code::Done)
}

fn remember_cap(call: &Call, args: &Worker) -> Result<(), AppError> {
    let Some(cap) = args.sessions else { return Ok(()) };
    call.home()
        .set_session_cap(cap)
        .map_err(|error| AppError::new(ErrorKind::Failure, "cannot save the session cap").because(&error))?;
    // Tasks may be waiting for one of the slots.
    Ok(call.store()?.ring()?)
}

fn read_handover() -> Result<Handover, AppError> {
    let bad =
        |error: &dyn std::error::Error| AppError::new(ErrorKind::Usage, "cannot read the hand-over").because(error);
    let text = std::io::read_to_string(std::io::stdin().lock()).map_err(|error| bad(&error))?;
    serde_json::from_str(&text).map_err(|error| bad(&error))
}

/// Prints one line, then closes stdout: whoever reads the answer must not wait until the worker ends.
fn answer(answer: &Answer) {
    if let Ok(line) = serde_json::to_string(answer) {
        out::data(&line);
    }
    if let Ok(null) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
        rustix::stdio::dup2_stdout(null).ok();
    }
}

/// TERM and INT ask for a clean exit; HUP is ignored, because a worker outlives its terminal.
pub(crate) fn leave_on_signal() -> Result<impl Future<Output = ()>, AppError> {
    let listen = |kind| {
        signal(kind).map_err(|error| AppError::new(ErrorKind::Failure, "cannot listen for signals").because(&error))
    };
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut hang_up = listen(SignalKind::hangup())?;
    Ok(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => return,
                _ = interrupt.recv() => return,
                _ = hang_up.recv() => {}
            }
        }
    })
}

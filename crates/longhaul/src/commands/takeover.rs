//! `longhaul takeover`: opens the agent's conversation in the agent's own program, as a child process in this terminal.
//! `longhaul-app` changes the task; this file handles the terminal and the program. It never kills the program.

use std::os::fd::AsFd;

use longhaul_app::send_command::send_command;
use longhaul_app::takeover::{Begun, Ended, Takeover, begin, end, find};
use longhaul_app::views::Outcome;
use longhaul_app::{AppError, Call, ErrorKind, describe};
use longhaul_core::task::{Command, State};
use longhaul_keeper::fail_point;
use longhaul_store::Stored;
use rustix::process::WaitStatus;

use crate::cli;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::foreground::{self, Foreground};
use crate::out;
use crate::start::in_terminal;

pub(crate) async fn takeover(line: &CommandLine, args: &cli::Takeover) -> Result<Code, AppError> {
    let call = line.call()?;
    match take_over(&call, args.which.task.as_deref()).await? {
        Taken::Released(stored, terminal) => resume(&call, &stored, &terminal).await,
        Taken::Overtaken(stored) => Ok(overtaken(&stored)),
    }
}

/// How a takeover ended.
pub(crate) enum Taken {
    /// The task is free again, and this process has its terminal back.
    Released(Box<Stored>, Foreground),
    /// Somebody else changed the task meanwhile.
    Overtaken(Box<Stored>),
}

/// Opens the conversation of a task in this terminal, until the person leaves the agent's program.
pub(crate) async fn take_over(call: &Call, task: Option<&str>) -> Result<Taken, AppError> {
    let stored = find(call, task).await?;
    foreground::permit()?;
    // From here on Ctrl+C pauses the task instead of killing this process.
    let mut interrupt = foreground::interrupts()?;
    let interrupted = async move {
        interrupt.recv().await;
    };
    let stopping = || out::note("stopping the session");
    let takeover = match begin(call, stored, interrupted, stopping).await? {
        Begun::Held(takeover) => *takeover,
        Begun::Overtaken(stored) => return Ok(Taken::Overtaken(stored)),
    };
    let (name, agent) = (&takeover.stored.task.submission.name, takeover.interface.agent.clone());
    out::note(&format!("opening task {name} in {agent}; the task is paused when you exit"));
    let worked = work(&takeover);
    let ended = end(call, takeover).await;
    let (status, terminal) = worked?;
    out::note(&format!("{agent} ended{}", words(status)));
    let Ended { stored, released, left } = ended?;
    if !left.is_empty() {
        let pids: Vec<String> = left.iter().map(ToString::to_string).collect();
        out::note(&format!("processes started there are still running: {}", pids.join(", ")));
    }
    let stored = Box::new(stored);
    Ok(if released { Taken::Released(stored, terminal) } else { Taken::Overtaken(stored) })
}

/// Runs the program in this terminal, then restores the terminal.
fn work(takeover: &Takeover) -> Result<(WaitStatus, Foreground), AppError> {
    let terminal = Foreground::take()?;
    let status = tokio::task::block_in_place(|| run(takeover))?;
    terminal.take_back();
    fail_point::reach("takeover.ended");
    Ok((status, terminal))
}

fn run(takeover: &Takeover) -> Result<WaitStatus, AppError> {
    let program = &takeover.interface.program;
    let failed = |error: std::io::Error| {
        AppError::new(ErrorKind::Failure, format!("cannot run `{}`", program.display())).because(&error)
    };
    let child = in_terminal(&takeover.interface, takeover.hold.as_fd()).map_err(failed)?;
    fail_point::reach("takeover.started");
    foreground::wait(child).map_err(failed)
}

/// Offers to continue the task at once.
async fn resume(call: &Call, stored: &Stored, terminal: &Foreground) -> Result<Code, AppError> {
    let name = &stored.task.submission.name;
    let is_paused = matches!(stored.task.state, State::Paused);
    out::note(&format!("task {name} is {}; {}", describe::state(&stored.task), describe::next_command(stored)));
    // A `run-session` task continues with `run-session`, or when a person resumes it.
    if !is_paused || stored.task.submission.driver.is_runner() {
        return Ok(Code::Done);
    }
    out::question("Resume the task now? [y/N]");
    let answer = terminal.answer().await?.unwrap_or_default();
    if !matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(Code::Done);
    }
    send_command(call, stored, Command::Resume { reason: None, settings: Vec::new() }).await?;
    out::note(&format!("task {name} continues; follow it with `longhaul attach {name}`"));
    Ok(Code::Done)
}

fn overtaken(stored: &Stored) -> Code {
    let (name, state) = (&stored.task.submission.name, out::safe(&describe::state(&stored.task)));
    out::note(&format!("someone else changed task {name} in the meantime: {state}"));
    out::note(&describe::next_command(stored));
    Outcome::of(&stored.task.state).into()
}

fn words(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(0), _) => String::new(),
        (Some(code), _) => format!(" with exit code {code}"),
        (None, Some(signal)) => format!(" by signal {signal}"),
        (None, None) => " for an unknown reason".to_owned(),
    }
}

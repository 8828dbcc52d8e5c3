//! `longhaul takeover`: a person works in the agent's conversation, in the agent's own program, as a child in this terminal.
//!
//! The hold on the task is taken before it is asked for, and the program inherits it: whatever dies, nobody starts a session while somebody
//! may be in the conversation. What follows is always a pause. It never ends the program.

use std::os::fd::AsFd;

use longhaul_app::{ChangeError, Hold, Interface, NoInterface, in_conversation, interface_of, now, release};
use longhaul_core::task::{Command, State, StopMode, Then, decide};
use longhaul_keeper::fail_point;
use longhaul_store::Stored;
use rustix::process::WaitStatus;

use super::show::sessions_of;
use crate::cli::Takeover;
use crate::command_line::CommandLine;
use crate::exit::Code;
use crate::foreground::{self, Foreground};
use crate::out;
use crate::start::in_terminal;
use crate::viewer::{code_of, until};
use longhaul_app::Call;
use longhaul_app::send_command::send_command;
use longhaul_app::stop::{PATIENCE, not_stopped, stopped};
use longhaul_app::{AppError, ErrorKind};
use longhaul_app::{describe, lookup};

pub(crate) async fn takeover(line: &CommandLine, args: &Takeover) -> Result<Code, AppError> {
    let call = line.open_existing()?;
    let stored = lookup::find(&call, args.which.task.as_deref()).await?;
    // Nothing is stopped for somebody who may not, can not, or would find nothing to work in.
    decide(&stored.task, &Command::TakeOver.into(), &call.caller.actor, now())?;
    foreground::permit()?;
    interface(&call, &stored).await?;
    let hold = take(&call, &stored)?;
    fail_point::reach("takeover.locked");
    let worked = work(&call, &stored, &hold).await;
    // Of a task that is not held, for whatever reason, nothing is changed by this.
    let released = release(call.store()?, stored.task.id, hold, &call.caller.actor).await;
    let Some((agent, status, terminal)) = worked? else { return overtaken(&call, &stored).await };
    out::note(&format!("{agent} ended{}", words(status)));
    tell_left_behind(&stored);
    match released {
        Ok(stored) => go_on(&call, &stored, &terminal).await,
        // Cancelled meanwhile.
        Err(ChangeError::Refused(_)) => overtaken(&call, &stored).await,
        Err(error) => Err(error.into()),
    }
}

fn take(call: &Call, stored: &Stored) -> Result<Hold, AppError> {
    let hold = Hold::take(call.home(), stored.task.id)
        .map_err(|error| AppError::new(ErrorKind::Failure, "cannot take the task over").because(&error))?;
    hold.ok_or_else(|| {
        AppError::new(ErrorKind::Conflict, "somebody takes this task over already")
            .hint("`longhaul show` tells by whom")
    })
}

/// Stops the session, waits for its observed end and runs the program; none when somebody else had another idea meanwhile.
async fn work(call: &Call, stored: &Stored, hold: &Hold) -> Result<Option<(String, WaitStatus, Foreground)>, AppError> {
    // Before anything is asked for: a Ctrl+C from here on pauses the task and does not kill this process.
    let mut interrupt = foreground::interrupts()?;
    let asked = send_command(call, stored, Command::TakeOver).await?;
    fail_point::reach("takeover.asked");
    if !stopped(&asked.task) {
        out::note("the session is being stopped");
    }
    let held = tokio::select! {
        held = until(call, stored.task.id, PATIENCE, stopped) => {
            held?.ok_or_else(|| not_stopped(call, &asked).hint("the task is paused when its session has ended; then try again"))
        }
        Some(()) = interrupt.recv() => {
            Err(AppError::new(ErrorKind::Interrupted, "interrupted: the task is paused when its session has ended"))
        }
    };
    let held = match held {
        Ok(held) => held,
        Err(error) => {
            pause_instead(call, stored).await?;
            return Err(error);
        }
    };
    if !held.task.state.is_held() {
        return Ok(None);
    }
    fail_point::reach("takeover.held");
    let interface = interface(call, &held).await?;
    let name = &held.task.submission.name;
    out::note(&format!("task {name} is yours in {}; it is paused when that ends", interface.agent));
    let terminal = Foreground::take()?;
    let status = tokio::task::block_in_place(|| run(&interface, hold))?;
    terminal.take_back();
    fail_point::reach("takeover.ended");
    Ok(Some((interface.agent, status, terminal)))
}

/// Nobody will be in the conversation when the session has ended. What somebody else wants of the task meanwhile stays.
async fn pause_instead(call: &Call, stored: &Stored) -> Result<(), AppError> {
    let now = call.store()?.load(stored.task.id).await?.ok_or(ChangeError::NotFound)?;
    if !matches!(now.task.state, State::Stopping { then: Then::Hold { .. }, .. }) {
        return Ok(());
    }
    match send_command(call, &now, Command::Pause { mode: StopMode::Graceful }).await {
        // Held in this very moment: giving it back is a pause too.
        Err(error) if error.kind == ErrorKind::Conflict => Ok(()),
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

fn run(interface: &Interface, hold: &Hold) -> Result<WaitStatus, AppError> {
    let failed = |error: std::io::Error| {
        AppError::new(ErrorKind::Failure, format!("cannot run `{}`", interface.program.display())).because(&error)
    };
    let child = in_terminal(interface, hold.as_fd()).map_err(failed)?;
    fail_point::reach("takeover.started");
    foreground::wait(child).map_err(failed)
}

async fn interface(call: &Call, stored: &Stored) -> Result<Interface, AppError> {
    let events = call.store()?.events(stored.task.id, 0, u32::MAX).await?;
    interface_of(call.home(), &stored.task, &sessions_of(&events), &call.app.system.environment)
        .map_err(|error| nothing(stored, &error))
}

fn nothing(stored: &Stored, error: &NoInterface) -> AppError {
    let name = &stored.task.submission.name;
    let hint = match error {
        NoInterface::NoConversation => format!("let a session begin with `longhaul resume {name}`, then take it over"),
        NoInterface::Untold => "try again in a moment".to_owned(),
        NoInterface::None { conversation, .. } => format!(
            "`longhaul pause {name}`, work in `{}` yourself, then `longhaul resume {name}`; the conversation is `{conversation}`",
            stored.task.cwd()
        ),
        NoInterface::NotFound { .. } | NoInterface::Unknown(_) => "`longhaul agents` tells what is missing".to_owned(),
        NoInterface::NoDirectory { .. } => format!("`longhaul show {name}` tells where it worked"),
    };
    AppError::new(ErrorKind::Conflict, format!("task {name} cannot be taken over"))
        .because(error)
        .hint(out::safe(&hint))
}

/// What the agent started and left is not ended: it may be a server that the person wants.
fn tell_left_behind(stored: &Stored) {
    let left = in_conversation(stored.task.id).unwrap_or_default();
    if !left.is_empty() {
        let pids: Vec<String> = left.iter().map(|process| process.pid.to_string()).collect();
        out::note(&format!("what was started there still runs: {}", pids.join(", ")));
    }
}

async fn go_on(call: &Call, stored: &Stored, terminal: &Foreground) -> Result<Code, AppError> {
    let name = &stored.task.submission.name;
    let is_paused = matches!(stored.task.state, State::Paused);
    out::note(&format!("task {name} is {}; {}", describe::state(&stored.task), describe::next_command(stored)));
    // A task of the runner goes on with the runner, or by a decision of its own.
    if !is_paused || stored.task.submission.driver.is_runner() {
        return Ok(Code::Done);
    }
    out::question("Go on with the task now? [y/N]");
    let answer = terminal.answer().await?.unwrap_or_default();
    if !matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(Code::Done);
    }
    send_command(call, stored, Command::Resume { reason: None, settings: Vec::new() }).await?;
    out::note(&format!("task {name} goes on; follow it with `longhaul attach {name}`"));
    Ok(Code::Done)
}

async fn overtaken(call: &Call, stored: &Stored) -> Result<Code, AppError> {
    let now = call.store()?.load(stored.task.id).await?.ok_or(ChangeError::NotFound)?;
    let name = &now.task.submission.name;
    out::note(&format!("task {name} is not yours, but {}", out::safe(&describe::state(&now.task))));
    out::note(&describe::next_command(&now));
    Ok(code_of(&now.task.state))
}

fn words(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(0), _) => String::new(),
        (Some(code), _) => format!(" with exit code {code}"),
        (None, Some(signal)) => format!(" by signal {signal}"),
        (None, None) => " in an unknown way".to_owned(),
    }
}

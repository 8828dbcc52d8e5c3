//! `longhaul takeover`: a person works in the agent's conversation, in the agent's own program, as a child in this terminal.
//!
//! The hold on the task is taken before it is asked for, and the program inherits it: whatever dies, nobody starts a session while somebody
//! may be in the conversation. What follows is always a pause. It never ends the program.

use std::os::fd::AsFd;

use longhaul_core::task::{Command, State, StopMode, Then, decide};
use longhaul_keeper::fail_point;
use longhaul_store::Stored;
use longhaul_worker::{ChangeError, Hold, Interface, NoInterface, in_conversation, interface_of, now, release};
use rustix::process::WaitStatus;

use super::act::act;
use super::pause::{PATIENCE, not_stopped, stopped};
use super::show::sessions_of;
use super::{Opened, open_existing};
use crate::cli::Takeover;
use crate::error::CliError;
use crate::exit::Code;
use crate::foreground::{self, Foreground};
use crate::start::in_terminal;
use crate::viewer::{code_of, until};
use crate::{describe, lookup, out, place};

pub(crate) async fn takeover(args: &Takeover) -> Result<Code, CliError> {
    let opened = open_existing()?;
    let stored = lookup::find(&opened, args.which.task.as_deref()).await?;
    // Nothing is stopped for somebody who may not, can not, or would find nothing to work in.
    decide(&stored.task, &Command::TakeOver.into(), &place::actor(), now())?;
    foreground::permit()?;
    interface(&opened, &stored).await?;
    let hold = take(&opened, &stored)?;
    fail_point::reach("takeover.locked");
    let worked = work(&opened, &stored, &hold).await;
    // Of a task that is not held, for whatever reason, nothing is changed by this.
    let released = release(&*opened.store, stored.task.id, hold, &place::actor()).await;
    let Some((agent, status, terminal)) = worked? else { return overtaken(&opened, &stored).await };
    out::note(&format!("{agent} ended{}", words(status)));
    tell_left_behind(&stored);
    match released {
        Ok(stored) => go_on(&opened, &stored, &terminal).await,
        // Cancelled meanwhile.
        Err(ChangeError::Refused(_)) => overtaken(&opened, &stored).await,
        Err(error) => Err(error.into()),
    }
}

fn take(opened: &Opened, stored: &Stored) -> Result<Hold, CliError> {
    let hold = Hold::take(&opened.home, stored.task.id)
        .map_err(|error| CliError::new(Code::Failure, "cannot take the task over").because(&error))?;
    hold.ok_or_else(|| {
        CliError::new(Code::Conflict, "somebody takes this task over already").hint("`longhaul show` tells by whom")
    })
}

/// Stops the session, waits for its observed end and runs the program; none when somebody else had another idea meanwhile.
async fn work(
    opened: &Opened,
    stored: &Stored,
    hold: &Hold,
) -> Result<Option<(String, WaitStatus, Foreground)>, CliError> {
    // Before anything is asked for: a Ctrl+C from here on pauses the task and does not kill this process.
    let mut interrupt = foreground::interrupts()?;
    let asked = act(opened, stored, Command::TakeOver).await?;
    fail_point::reach("takeover.asked");
    if !stopped(&asked.task) {
        out::note("the session is being stopped");
    }
    let held = tokio::select! {
        held = until(opened, stored.task.id, PATIENCE, stopped) => {
            held?.ok_or_else(|| not_stopped(opened, &asked).hint("the task is paused when its session has ended; then try again"))
        }
        Some(()) = interrupt.recv() => {
            Err(CliError::new(Code::Interrupted, "interrupted: the task is paused when its session has ended"))
        }
    };
    let held = match held {
        Ok(held) => held,
        Err(error) => {
            pause_instead(opened, stored).await?;
            return Err(error);
        }
    };
    if !held.task.state.is_held() {
        return Ok(None);
    }
    fail_point::reach("takeover.held");
    let interface = interface(opened, &held).await?;
    let name = &held.task.submission.name;
    out::note(&format!("task {name} is yours in {}; it is paused when that ends", interface.agent));
    let terminal = Foreground::take()?;
    let status = tokio::task::block_in_place(|| run(&interface, hold))?;
    terminal.take_back();
    fail_point::reach("takeover.ended");
    Ok(Some((interface.agent, status, terminal)))
}

/// Nobody will be in the conversation when the session has ended. What somebody else wants of the task meanwhile stays.
async fn pause_instead(opened: &Opened, stored: &Stored) -> Result<(), CliError> {
    let now = opened.store.load(stored.task.id).await?.ok_or(ChangeError::NotFound)?;
    if !matches!(now.task.state, State::Stopping { then: Then::Hold { .. }, .. }) {
        return Ok(());
    }
    match act(opened, &now, Command::Pause { mode: StopMode::Graceful }).await {
        // Held in this very moment: giving it back is a pause too.
        Err(error) if error.code == Code::Conflict => Ok(()),
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

fn run(interface: &Interface, hold: &Hold) -> Result<WaitStatus, CliError> {
    let failed = |error: std::io::Error| {
        CliError::new(Code::Failure, format!("cannot run `{}`", interface.program.display())).because(&error)
    };
    let child = in_terminal(interface, hold.as_fd()).map_err(failed)?;
    fail_point::reach("takeover.started");
    foreground::wait(child).map_err(failed)
}

async fn interface(opened: &Opened, stored: &Stored) -> Result<Interface, CliError> {
    let events = opened.store.events(stored.task.id, 0, u32::MAX).await?;
    interface_of(&opened.home, &stored.task, &sessions_of(&events)).map_err(|error| nothing(stored, &error))
}

fn nothing(stored: &Stored, error: &NoInterface) -> CliError {
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
    CliError::new(Code::Conflict, format!("task {name} cannot be taken over")).because(error).hint(out::safe(&hint))
}

/// What the agent started and left is not ended: it may be a server that the person wants.
fn tell_left_behind(stored: &Stored) {
    let left = in_conversation(stored.task.id).unwrap_or_default();
    if !left.is_empty() {
        let pids: Vec<String> = left.iter().map(|process| process.pid.to_string()).collect();
        out::note(&format!("what was started there still runs: {}", pids.join(", ")));
    }
}

async fn go_on(opened: &Opened, stored: &Stored, terminal: &Foreground) -> Result<Code, CliError> {
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
    act(opened, stored, Command::Resume { reason: None, settings: Vec::new() }).await?;
    out::note(&format!("task {name} goes on; follow it with `longhaul attach {name}`"));
    Ok(Code::Done)
}

async fn overtaken(opened: &Opened, stored: &Stored) -> Result<Code, CliError> {
    let now = opened.store.load(stored.task.id).await?.ok_or(ChangeError::NotFound)?;
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

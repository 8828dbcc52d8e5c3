//! `run` while it is attached: shows events as they come, turns Ctrl+C into pause, and starts a worker again when the owner is dead.
//! Called by `run` and `demo`. It holds no lease and moves nothing except by commands like everyone else's.

use std::time::{Duration, Instant};

use longhaul_core::ids::TaskId;
use longhaul_core::task::{Command, Haste};
use longhaul_store::Stored;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::code_of;
use super::keys::Keys;
use super::screen::Screen;
use crate::commands::{Opened, act, next_command};
use crate::error::CliError;
use crate::exit::Code;

/// How often the owner's life is looked at when nothing rings.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How long a started worker has to take the task over before another one is started.
const START_AGAIN: Duration = Duration::from_secs(3);
const PAGE: u32 = 200;

/// Someone who wants to see every step, beside the screen.
pub(crate) trait Watched {
    /// Called with the task after everything new was shown.
    fn moved(&mut self, stored: &Stored, say: &dyn Fn(&str));
}

struct Nobody;

impl Watched for Nobody {
    fn moved(&mut self, _stored: &Stored, _say: &dyn Fn(&str)) {}
}

/// Follows a task until it is done or needs someone.
pub(crate) async fn follow(opened: &Opened, task: TaskId) -> Result<Code, CliError> {
    follow_with(opened, task, &mut Nobody).await
}

/// The same, with someone who watches.
pub(crate) async fn follow_with(opened: &Opened, task: TaskId, watched: &mut dyn Watched) -> Result<Code, CliError> {
    let interrupts = signal(SignalKind::interrupt())
        .map_err(|error| CliError::new(Code::Failure, "cannot listen for Ctrl+C").because(&error))?;
    let mut viewer = Viewer { opened, task, screen: Screen::new(), seen: 0, interrupted: 0, started: None };
    let outcome = viewer.watch(interrupts, Keys::listen(), watched).await;
    viewer.screen.close();
    match outcome? {
        Leave::Detached => {
            crate::out::note("detached; the task goes on");
            Ok(Code::Done)
        }
        Leave::Settled(stored) => Ok(viewer.farewell(&stored)),
    }
}

enum Leave {
    Detached,
    Settled(Box<Stored>),
}

struct Viewer<'a> {
    opened: &'a Opened,
    task: TaskId,
    screen: Screen,
    seen: u64,
    interrupted: u32,
    /// When a worker was started for a dead owner, so that one death does not start a crowd.
    started: Option<Instant>,
}

impl Viewer<'_> {
    async fn watch(
        &mut self,
        mut interrupts: Signal,
        mut keys: Keys,
        watched: &mut dyn Watched,
    ) -> Result<Leave, CliError> {
        let mut changes = self.opened.store.changes()?;
        loop {
            let stored = self.show_new().await?;
            watched.moved(&stored, &|text| self.screen.line(text));
            if !stored.task.state.wants_owner() {
                return Ok(Leave::Settled(Box::new(stored)));
            }
            self.see_to_owner(&stored)?;
            tokio::select! {
                () = changes.rung() => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                Some(()) = interrupts.recv() => self.interrupt(&stored).await?,
                key = keys.next() => if key == b'd' { return Ok(Leave::Detached) },
            }
        }
    }

    async fn show_new(&mut self) -> Result<Stored, CliError> {
        loop {
            let page = self.opened.store.events(self.task, self.seen, PAGE).await?;
            for event in &page {
                self.screen.event(event);
                self.seen = event.seq;
            }
            if page.len() < PAGE as usize {
                break;
            }
        }
        let stored = self.opened.store.load(self.task).await?;
        let stored = stored.ok_or_else(|| CliError::new(Code::NotFound, "the task is gone"))?;
        self.screen.task(&stored.task);
        Ok(stored)
    }

    fn see_to_owner(&mut self, stored: &Stored) -> Result<(), CliError> {
        let lately = self.started.is_some_and(|started| started.elapsed() < START_AGAIN);
        if act::owner_is_dead(&self.opened.home, stored) && !lately {
            self.screen.line("its worker is dead; starting another one");
            self.started = Some(Instant::now());
            act::see_to_owner(self.opened, stored)?;
        }
        Ok(())
    }

    /// The first Ctrl+C pauses, the second ends the agent at once.
    async fn interrupt(&mut self, stored: &Stored) -> Result<(), CliError> {
        self.interrupted += 1;
        let haste = if self.interrupted == 1 { Haste::Recipe } else { Haste::Now };
        self.screen.line(match haste {
            Haste::Recipe => "pausing; Ctrl+C again ends the agent at once",
            Haste::Now => "ending the agent at once",
        });
        // Refused only when it settled meanwhile, which the next round shows.
        match act::act(self.opened, stored, Command::Pause { haste }).await {
            Err(error) if error.code != Code::Conflict => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn farewell(&self, stored: &Stored) -> Code {
        let state = &stored.task.state;
        crate::out::note(&format!("{}: {}", stored.task.submission.name, crate::out::safe(&state_words(stored))));
        crate::out::note(&next_command(stored));
        if self.interrupted > 0 && matches!(state, longhaul_core::task::State::Paused { .. }) {
            return Code::Interrupted;
        }
        code_of(state)
    }
}

fn state_words(stored: &Stored) -> String {
    use longhaul_core::task::State;
    match &stored.task.state {
        State::Done { verdict } => verdict.to_string(),
        State::NeedsHelp { reason, .. } => format!("needs help: {reason}"),
        State::Blocked { cause, .. } => format!("blocked: {cause}"),
        other => other.name().to_owned(),
    }
}

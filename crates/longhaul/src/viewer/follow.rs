//! `run` while it is attached: shows events as they come, turns Ctrl+C into pause, and starts a worker again when the owner is dead.
//! Called by `run`, `attach`, `retry` and `demo`. It holds no lease and moves nothing except by commands like everyone else's.

use std::time::Duration;

use longhaul_app::now;
use longhaul_core::ids::TaskId;
use longhaul_core::task::{Command, State, StopMode};
use longhaul_store::{Stored, StoredEvent};

use super::code_of;
use super::keys::Keys;
use super::screen::Screen;
use super::signals::{Asked, Signals};
use crate::exit::Code;
use crate::out;
use longhaul_app::Call;
use longhaul_app::ownership::WorkerKeepalive;
use longhaul_app::send_command::send_command;
use longhaul_app::session::agents::Agents;
use longhaul_app::session::turns::Turns;
use longhaul_app::{AppError, ErrorKind};
use longhaul_app::{describe, ownership, slot_wait};

/// How often the owner's life is looked at when nothing rings.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
const PAGE: u32 = 200;

/// What a viewer may do to the task it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Pauses it by Ctrl+C, sees that it has an owner, and ends when it needs someone.
    Steers,
    /// Nothing: it only shows, until the task is finished.
    Looks,
}

impl Reach {
    /// Whether there is no more to show.
    pub(crate) fn is_over(self, state: &State) -> bool {
        match self {
            Reach::Steers => !state.wants_owner(),
            Reach::Looks => state.is_final(),
        }
    }
}

/// Someone who wants to see every step, beside the screen.
pub(crate) trait Watched {
    /// Called with the task after everything new was shown.
    fn moved(&mut self, stored: &Stored, say: &dyn Fn(&str));

    /// What a person is told to do next when the viewer leaves; none where that is told otherwise.
    fn next_command(&self, stored: &Stored) -> Option<String> {
        Some(describe::next_command(stored))
    }
}

struct Nobody;

impl Watched for Nobody {
    fn moved(&mut self, _stored: &Stored, _say: &dyn Fn(&str)) {}
}

/// Follows a task until it is done or needs someone.
pub(crate) async fn follow(call: &Call, task: TaskId, signals: Signals) -> Result<Code, AppError> {
    watch_from(call, task, 0, Reach::Steers, signals, &mut Nobody).await
}

/// The same from the middle on: what is after this event. It may only look.
pub(crate) async fn follow_after(
    call: &Call,
    task: TaskId,
    seen: u64,
    reach: Reach,
    signals: Signals,
) -> Result<Code, AppError> {
    watch_from(call, task, seen, reach, signals, &mut Nobody).await
}

/// The same, with someone who watches.
pub(crate) async fn follow_with(
    call: &Call,
    task: TaskId,
    signals: Signals,
    watched: &mut dyn Watched,
) -> Result<Code, AppError> {
    watch_from(call, task, 0, Reach::Steers, signals, watched).await
}

async fn watch_from(
    call: &Call,
    task: TaskId,
    seen: u64,
    reach: Reach,
    signals: Signals,
    watched: &mut dyn Watched,
) -> Result<Code, AppError> {
    let submission = call.store()?.load(task).await?.map(|stored| stored.task.submission);
    let turns = Turns::new(call.home(), submission.as_deref().map(Agents::of_task).unwrap_or_default());
    let caretaker = WorkerKeepalive::default();
    let (screen, waits_for) = (Screen::new(), None);
    let mut viewer = Viewer { call, task, screen, turns, seen, reach, interrupted: 0, caretaker, waits_for };
    let outcome = viewer.watch(signals, Keys::listen(), watched).await;
    viewer.screen.close();
    Ok(match outcome? {
        Leave::Detached(stored) => {
            out::note(match reach {
                Reach::Steers => "detached; the task goes on",
                Reach::Looks => "left; the task is not touched",
            });
            tell_next(watched, &stored);
            Code::Done
        }
        Leave::Settled(stored) => {
            let words = out::safe(&describe::state(&stored.task));
            out::note(&format!("{}: {words}", stored.task.submission.name));
            tell_next(watched, &stored);
            viewer.code(&stored.task.state)
        }
        Leave::Sent(code) => code,
    })
}

fn tell_next(watched: &dyn Watched, stored: &Stored) {
    if let Some(next) = watched.next_command(stored) {
        out::note(&next);
    }
}

enum Leave {
    /// By a key.
    Detached(Box<Stored>),
    /// The task is done or needs someone.
    Settled(Box<Stored>),
    /// By a signal: whoever sent it wants no words.
    Sent(Code),
}

struct Viewer<'a> {
    call: &'a Call,
    task: TaskId,
    screen: Screen,
    turns: Turns<'a>,
    seen: u64,
    reach: Reach,
    interrupted: u32,
    caretaker: WorkerKeepalive,
    /// What was last said about a wait in line.
    waits_for: Option<String>,
}

impl Viewer<'_> {
    async fn watch(
        &mut self,
        mut signals: Signals,
        mut keys: Keys,
        watched: &mut dyn Watched,
    ) -> Result<Leave, AppError> {
        let mut changes = self.call.store()?.changes()?;
        loop {
            let stored = self.show_new().await?;
            watched.moved(&stored, &|text| self.screen.line(text));
            if self.reach.is_over(&stored.task.state) {
                return Ok(Leave::Settled(Box::new(stored)));
            }
            if ownership::is_left_by_runner(self.call, &stored).await? {
                return Err(ownership::left_by_runner(&stored));
            }
            self.see_to_owner(&stored).await?;
            self.tell_wait(&stored).await?;
            tokio::select! {
                () = changes.rung() => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                asked = signals.next() => match asked {
                    Asked::Pause if self.reach == Reach::Looks => return Ok(Leave::Detached(Box::new(stored))),
                    Asked::Pause => self.interrupt(&stored).await?,
                    Asked::Leave(code) => return Ok(Leave::Sent(code)),
                },
                key = keys.next() => if key == b'd' { return Ok(Leave::Detached(Box::new(stored))) },
            }
        }
    }

    /// Shows until nothing is left that the task, as it is returned, went through: its last state is never told without its events.
    async fn show_new(&mut self) -> Result<Stored, AppError> {
        loop {
            self.show_events().await?;
            self.screen.batch(|print| self.turns.look(print));
            let stored = self.call.store()?.load(self.task).await?;
            let stored = stored.ok_or_else(|| AppError::new(ErrorKind::NotFound, "the task is gone"))?;
            if stored.task.version <= self.seen {
                self.screen.task(&stored.task);
                return Ok(stored);
            }
        }
    }

    async fn show_events(&mut self) -> Result<(), AppError> {
        loop {
            let page = self.call.store()?.events(self.task, self.seen, PAGE).await?;
            for event in &page {
                self.show(event);
                self.seen = event.seq;
            }
            if page.len() < PAGE as usize {
                return Ok(());
            }
        }
    }

    /// An event, between what was printed before and after it.
    fn show(&mut self, event: &StoredEvent) {
        self.screen.batch(|print| self.turns.before(&event.event, print));
        self.screen.event(event);
        self.screen.batch(|print| self.turns.after(&event.event, print));
    }

    async fn see_to_owner(&mut self, stored: &Stored) -> Result<(), AppError> {
        if self.reach == Reach::Steers && self.caretaker.look(self.call, stored).await? {
            self.screen.line(match stored.owner {
                Some(_) => "its worker is dead; another one was started",
                None => "no worker has it; one was started",
            });
        }
        Ok(())
    }

    /// Says what a task in line waits for, once for each reason: no event tells of it. All other waits are events.
    async fn tell_wait(&mut self, stored: &Stored) -> Result<(), AppError> {
        if !slot_wait::is_in_line(stored) {
            self.waits_for = None;
            return Ok(());
        }
        let waits_for = slot_wait::wait_of(self.call, stored).await?.map(|waiting| waiting.in_line());
        if waits_for.is_some() && waits_for != self.waits_for {
            self.screen.moment(now(), waits_for.as_deref().unwrap_or_default());
            self.waits_for = waits_for;
        }
        Ok(())
    }

    /// The first Ctrl+C pauses, the second ends the agent at once.
    async fn interrupt(&mut self, stored: &Stored) -> Result<(), AppError> {
        self.interrupted += 1;
        let mode = if self.interrupted == 1 { StopMode::Graceful } else { StopMode::Immediate };
        self.screen.line(match mode {
            StopMode::Graceful => "pausing; Ctrl+C again ends the agent at once",
            StopMode::Immediate => "ending the agent at once",
        });
        // Refused only when it settled meanwhile, which the next round shows.
        match send_command(self.call, stored, Command::Pause { mode }).await {
            Err(error) if error.kind != ErrorKind::Conflict => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn code(&self, state: &State) -> Code {
        match state {
            State::Paused if self.interrupted > 0 => Code::Interrupted,
            other => code_of(other),
        }
    }
}

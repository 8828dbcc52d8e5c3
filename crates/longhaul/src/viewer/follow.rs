//! A followed task on this terminal: shows what the feed hands out, turns Ctrl+C into pause and `d` into leaving.
//! Called by `run`, `attach`, `retry` and `demo`. It holds no lease and changes nothing except by commands like everyone else's.

use longhaul_app::follow::{Follow, Interest, Item, Output, Until};
use longhaul_app::send_command::send_command;
use longhaul_app::views::{Outcome, TaskView};
use longhaul_app::{AppError, Call, ErrorKind, describe};
use longhaul_core::ids::TaskId;
use longhaul_core::task::{Command, State, StopMode};
use longhaul_store::Stored;

use super::keys::Keys;
use super::screen::Screen;
use super::signals::{Asked, Signals};
use crate::exit::Code;
use crate::out;

/// What a viewer may do to the task it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Pauses it by Ctrl+C, keeps a worker alive for it, and ends when it needs someone.
    Steers,
    /// Nothing: it only shows, until the task is finished.
    Looks,
}

impl Reach {
    /// When there is no more to show.
    pub(crate) fn until(self) -> Until {
        match self {
            Reach::Steers => Until::Settled,
            Reach::Looks => Until::Finished,
        }
    }
}

/// How a task is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Viewing {
    /// Nothing up to and including this event.
    pub(crate) after: u64,
    pub(crate) reach: Reach,
    /// One JSON document per line on standard output, in place of the screen.
    pub(crate) json: bool,
}

impl Viewing {
    /// From the beginning, by someone who steers it.
    pub(crate) fn whole(json: bool) -> Viewing {
        Viewing { after: 0, reach: Reach::Steers, json }
    }
}

/// Someone who wants to see every step, beside the screen.
pub(crate) trait Watched {
    /// Called with the task after everything new was shown.
    fn moved(&mut self, stored: &Stored, say: &dyn Fn(&str));

    /// What a person could do next when the viewer leaves; none if that is reported otherwise.
    fn next_command(&self, stored: &Stored) -> Option<String> {
        Some(describe::next_command(stored))
    }
}

struct Nobody;

impl Watched for Nobody {
    fn moved(&mut self, _stored: &Stored, _say: &dyn Fn(&str)) {}
}

/// Follows a task until there is no more to show.
pub(crate) async fn follow(call: &Call, task: TaskId, signals: Signals, viewing: Viewing) -> Result<Code, AppError> {
    follow_with(call, task, signals, viewing, &mut Nobody).await
}

/// The same, with someone who watches.
pub(crate) async fn follow_with(
    call: &Call,
    task: TaskId,
    signals: Signals,
    viewing: Viewing,
    watched: &mut dyn Watched,
) -> Result<Code, AppError> {
    let gone = || AppError::new(ErrorKind::NotFound, "the task no longer exists");
    let stored = call.load(task).await?.ok_or_else(gone)?;
    let Viewing { after, reach, json } = viewing;
    let keeps_worker = reach == Reach::Steers;
    let interest = Interest {
        after,
        events: true,
        output: Output::Turns,
        until: reach.until(),
        keeps_worker,
        ..Interest::default()
    };
    let feed = Follow::new(call, stored, interest)?;
    let mut viewer = Viewer { call, feed, screen: Screen::new(json), reach, interrupted: 0 };
    let left = viewer.watch(signals, Keys::listen(), watched).await;
    viewer.screen.close();
    viewer.leave(left?, json, watched).await
}

enum Leave {
    /// By a key.
    Detached,
    /// The task is done or needs someone.
    Settled,
    /// By a signal: whoever sent it wants no words.
    Sent(Code),
}

struct Viewer<'a> {
    call: &'a Call,
    feed: Follow,
    screen: Screen,
    reach: Reach,
    interrupted: u32,
}

impl Viewer<'_> {
    async fn watch(
        &mut self,
        mut signals: Signals,
        mut keys: Keys,
        watched: &mut dyn Watched,
    ) -> Result<Leave, AppError> {
        loop {
            tokio::select! {
                item = self.feed.next() => match item? {
                    None => return Ok(Leave::Settled),
                    Some(item) => {
                        self.screen.show(&item);
                        if let Item::UpToDate(stored) = &item {
                            watched.moved(stored, &|text| self.screen.line(text));
                        }
                    }
                },
                asked = signals.next() => match asked {
                    Asked::Pause if self.reach == Reach::Looks => return Ok(Leave::Detached),
                    Asked::Pause => self.interrupt().await?,
                    Asked::Leave(code) => return Ok(Leave::Sent(code)),
                },
                key = keys.next() => if key == b'd' { return Ok(Leave::Detached) },
            }
        }
    }

    /// The first Ctrl+C pauses, the second ends the agent at once.
    async fn interrupt(&mut self) -> Result<(), AppError> {
        self.interrupted += 1;
        let mode = if self.interrupted == 1 { StopMode::Graceful } else { StopMode::Immediate };
        self.screen.line(match mode {
            StopMode::Graceful => "pausing; Ctrl+C again ends the agent at once",
            StopMode::Immediate => "ending the agent at once",
        });
        // Refused only when it settled meanwhile, which the feed shows.
        match send_command(self.call, self.feed.stored(), Command::Pause { mode }).await {
            Err(error) if error.kind != ErrorKind::Conflict => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The last words, and the exit code.
    async fn leave(&self, left: Leave, json: bool, watched: &dyn Watched) -> Result<Code, AppError> {
        let stored = self.feed.stored();
        let code = match left {
            Leave::Sent(code) => return Ok(code),
            Leave::Settled => self.code(&stored.task.state),
            Leave::Detached => Code::Done,
        };
        match (left, json) {
            (Leave::Detached, true) => out::view(&TaskView::of(self.call, stored.task.id).await?),
            (Leave::Settled | Leave::Sent(_), true) => {}
            (left, false) => {
                out::note(&last_words(&left, self.reach, stored));
                watched.next_command(stored).iter().for_each(|next| out::note(next));
            }
        }
        Ok(code)
    }

    fn code(&self, state: &State) -> Code {
        match state {
            State::Paused if self.interrupted > 0 => Code::Interrupted,
            other => Outcome::of(other).into(),
        }
    }
}

fn last_words(left: &Leave, reach: Reach, stored: &Stored) -> String {
    match (left, reach) {
        (Leave::Detached, Reach::Steers) => "detached; the task keeps running".to_owned(),
        (Leave::Detached, Reach::Looks) => "left; the task is not affected".to_owned(),
        (Leave::Settled | Leave::Sent(_), _) => {
            format!("{}: {}", stored.task.submission.name, out::safe(&describe::state(&stored.task)))
        }
    }
}

//! Follows a task on this terminal: shows the items of the feed, and does what the keys and Ctrl+C ask for.
//! Called by `run`, `attach`, `retry` and `demo`. Holds no lease, and changes the task only by sending commands.

use longhaul_app::follow::{Follow, Interest, Item, Output, Until};
use longhaul_app::operations::{Tell, TellInput};
use longhaul_app::send_command::send_command;
use longhaul_app::views::{Outcome, TaskView};
use longhaul_app::{AppError, Call, ErrorKind, describe};
use longhaul_core::ids::TaskId;
use longhaul_core::task::{Command, State, StopMode, Wait};
use longhaul_store::Stored;

use super::ending;
use super::keys::{ESCAPE, Keys};
use super::ring::ring;
use super::screen::Screen;
use super::signals::{Request, Signals, stop};
use super::status;
use crate::exit::Code;
use crate::out;
use crate::when::When;

/// What a viewer may do to the task it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Ctrl+C pauses the task, a worker is kept alive for it, and the viewer ends when the task needs a person.
    Control,
    /// Changes nothing, and ends when the task is finished.
    ReadOnly,
}

impl Mode {
    /// When the viewer ends.
    pub(crate) fn until(self) -> Until {
        match self {
            Mode::Control => Until::Settled,
            Mode::ReadOnly => Until::Finished,
        }
    }
}

/// How a task is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Viewing {
    /// Show only what comes after this event.
    pub(crate) after: u64,
    pub(crate) mode: Mode,
    /// Print one JSON document per line on standard output instead of the screen.
    pub(crate) json: bool,
    /// Show every event, and what the agent says and does.
    pub(crate) detailed: bool,
    /// Wait for a key once the task is finished: whoever looks into the window later wants to see the result.
    pub(crate) keep_open: bool,
}

impl Viewing {
    /// From the first event, with control over the task.
    pub(crate) fn whole(json: bool, detailed: bool) -> Viewing {
        Viewing { after: 0, mode: Mode::Control, json, detailed, keep_open: false }
    }
}

/// Is called for every change of a followed task.
pub(crate) trait Observer {
    /// Called with the task after everything new was shown.
    fn task_changed(&mut self, stored: &Stored, say: &dyn Fn(&str));

    /// The next command to suggest when the viewer ends; none if the observer prints its own.
    fn next_command(&self, stored: &Stored) -> Option<String> {
        Some(describe::next_command(stored))
    }
}

struct NoObserver;

impl Observer for NoObserver {
    fn task_changed(&mut self, _stored: &Stored, _say: &dyn Fn(&str)) {}
}

/// Follows a task until it needs a person or is finished.
pub(crate) async fn follow(call: &Call, task: TaskId, signals: Signals, viewing: Viewing) -> Result<Code, AppError> {
    follow_with(call, task, signals, viewing, &mut NoObserver).await
}

/// The same with an observer.
pub(crate) async fn follow_with(
    call: &Call,
    task: TaskId,
    mut signals: Signals,
    viewing: Viewing,
    observer: &mut dyn Observer,
) -> Result<Code, AppError> {
    let gone = || AppError::new(ErrorKind::NotFound, "the task no longer exists");
    let stored = call.load(task).await?.ok_or_else(gone)?;
    let Viewing { after, mode, json, detailed, keep_open } = viewing;
    let keeps_worker = mode == Mode::Control;
    let interest = Interest {
        after,
        events: true,
        output: Output::Turns,
        until: mode.until(),
        keeps_worker,
        ..Interest::default()
    };
    let is_limited = is_limited(&stored.task.state);
    let feed = Follow::new(call, stored, interest)?;
    let mut viewer =
        Viewer { call, feed, screen: Screen::new(json, detailed), mode, interrupted: 0, typed: None, is_limited };
    let mut keys = Keys::listen();
    let left = viewer.watch(&mut signals, &mut keys, observer).await;
    viewer.screen.close();
    let left = left?;
    let stays = keep_open && matches!(left, Leave::Settled);
    let code = viewer.leave(left, json, observer).await?;
    if stays {
        out::note("press any key to close this view");
        tokio::select! {
            _ = keys.next() => {}
            _ = signals.next() => {}
        }
    }
    Ok(code)
}

const BACKSPACE: u8 = 0x7f;
const CTRL_U: u8 = 0x15;

enum Leave {
    /// By a key.
    Detached,
    /// The task is done or needs a person.
    Settled,
    /// By a signal; nothing is printed.
    Sent(Code),
}

struct Viewer<'a> {
    call: &'a Call,
    feed: Follow,
    screen: Screen,
    mode: Mode,
    interrupted: u32,
    /// The message that the person is typing, as bytes of UTF-8.
    typed: Option<Vec<u8>>,
    /// Whether the task waited for a usage limit at the last look.
    is_limited: bool,
}

impl Viewer<'_> {
    async fn watch(
        &mut self,
        signals: &mut Signals,
        keys: &mut Keys,
        observer: &mut dyn Observer,
    ) -> Result<Leave, AppError> {
        loop {
            tokio::select! {
                item = self.feed.next() => match item? {
                    None => return Ok(Leave::Settled),
                    Some(item) => {
                        self.screen.show(&item);
                        if let Item::UpToDate(stored) = &item {
                            observer.task_changed(stored, &|text| self.screen.line(text));
                            self.update();
                            self.ring_at_limit();
                        }
                    }
                },
                request = signals.next() => match request {
                    Request::Stop => {
                        self.screen.rest();
                        keys.restore();
                        stop();
                        keys.quiet();
                    }
                    Request::Continued => keys.quiet(),
                    Request::Pause if self.typed.is_some() => self.typed = None,
                    Request::Pause if self.mode == Mode::ReadOnly => return Ok(Leave::Detached),
                    Request::Pause => self.interrupt().await?,
                    Request::Leave(code) => return Ok(Leave::Sent(code)),
                },
                key = keys.next() => {
                    if self.press(key).await? {
                        return Ok(Leave::Detached);
                    }
                    self.update();
                }
            }
        }
    }

    fn update(&mut self) {
        let typed = self.typed.as_ref().map(|typed| String::from_utf8_lossy(typed));
        self.screen.update(&self.feed.stored().task, typed.as_deref());
    }

    /// Rings when a usage limit is reached, not when one was reached before.
    fn ring_at_limit(&mut self) {
        let stored = self.feed.stored();
        let is_limited = is_limited(&stored.task.state);
        if !std::mem::replace(&mut self.is_limited, is_limited) && is_limited {
            self.ring();
        }
    }

    fn ring(&self) {
        let task = &self.feed.stored().task;
        ring(self.call, &format!("{}: {}", task.submission.name, When::here().localized(&describe::state(task))));
    }

    /// Does what a key asks for; true if it is to leave.
    async fn press(&mut self, key: u8) -> Result<bool, AppError> {
        if let Some(typed) = &mut self.typed {
            match key {
                b'\n' | b'\r' => self.tell().await?,
                ESCAPE => self.typed = None,
                BACKSPACE | 8 => while typed.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
                CTRL_U => typed.clear(),
                0..32 => {}
                _ => typed.push(key),
            }
            return Ok(false);
        }
        let may_change = self.mode == Mode::Control;
        match key {
            b'd' | b'q' => return Ok(true),
            b'?' => self.screen.line(status::keys(may_change)),
            b'p' if may_change && self.interrupted == 0 => self.interrupt().await?,
            b't' if may_change => self.typed = Some(Vec::new()),
            _ => {}
        }
        Ok(false)
    }

    /// Sends what was typed. The feed shows it.
    async fn tell(&mut self) -> Result<(), AppError> {
        let typed = self.typed.take().unwrap_or_default();
        let text = String::from_utf8_lossy(&typed).trim().to_owned();
        let task = self.feed.stored().task.id.to_string();
        if text.is_empty() {
            return Ok(());
        }
        match self.call.perform::<Tell>(TellInput { task, text, key: None }).await {
            Ok(answer) => answer.warnings.iter().for_each(|warning| self.screen.line(&format!("warning: {warning}"))),
            Err(error) => self.screen.line(&out::safe(&format!("the message was not sent: {}", error.what))),
        }
        Ok(())
    }

    /// The first Ctrl+C pauses the task, the second kills the agent.
    async fn interrupt(&mut self) -> Result<(), AppError> {
        self.interrupted += 1;
        let mode = if self.interrupted == 1 { StopMode::Graceful } else { StopMode::Immediate };
        self.screen.line(match mode {
            StopMode::Graceful => "pausing; press Ctrl+C again to kill the agent",
            StopMode::Immediate => "killing the agent",
        });
        // Refused only if the task settled in the meantime, which the feed shows.
        match send_command(self.call, self.feed.stored(), Command::Pause { mode }).await {
            Err(error) if error.kind != ErrorKind::Conflict => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Prints the last lines and gives the exit code.
    async fn leave(&self, left: Leave, json: bool, observer: &dyn Observer) -> Result<Code, AppError> {
        let stored = self.feed.stored();
        let code = match left {
            Leave::Sent(code) => return Ok(code),
            Leave::Settled => self.code(&stored.task.state),
            Leave::Detached => Code::Done,
        };
        if matches!(left, Leave::Settled) && !json && is_news(&stored.task.state) {
            self.ring();
        }
        match (left, json) {
            (Leave::Detached, true) => out::view(&TaskView::of(self.call, stored.task.id).await?),
            (Leave::Settled | Leave::Sent(_), true) => {}
            (Leave::Settled, false) if matches!(stored.task.state, State::Done { .. }) => {
                self.print_result(stored, observer.next_command(stored)).await?;
            }
            (left, false) => {
                out::note(&last_line(&left, self.mode, stored));
                observer.next_command(stored).iter().for_each(|next| out::note(&When::here().localized(next)));
            }
        }
        Ok(code)
    }

    async fn print_result(&self, stored: &Stored, next: Option<String>) -> Result<(), AppError> {
        let view = TaskView::of(self.call, stored.task.id).await?;
        out::note(&ending::headline(stored, &view));
        let Some(next) = next else { return Ok(()) };
        let changes = ending::changes(self.call, &view).await;
        let lines = if changes.is_empty() { vec![next] } else { changes };
        lines.iter().for_each(|line| out::note(line));
        Ok(())
    }

    fn code(&self, state: &State) -> Code {
        match state {
            State::Paused if self.interrupted > 0 => Code::Interrupted,
            other => Outcome::of(other).into(),
        }
    }
}

fn is_limited(state: &State) -> bool {
    matches!(state, State::Waiting { why: Wait::Limit, .. })
}

/// Whether nobody asked for this end.
fn is_news(state: &State) -> bool {
    !matches!(state, State::Paused | State::Held { .. } | State::Cancelled { .. })
}

fn last_line(left: &Leave, mode: Mode, stored: &Stored) -> String {
    match (left, mode) {
        (Leave::Detached, Mode::Control) => "detached; the task keeps running".to_owned(),
        (Leave::Detached, Mode::ReadOnly) => "view closed; the task is not affected".to_owned(),
        (Leave::Settled | Leave::Sent(_), _) => {
            let state = When::here().localized(&describe::state(&stored.task));
            format!("{}: {}", stored.task.submission.name, out::safe(&state))
        }
    }
}

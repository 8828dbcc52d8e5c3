//! The board: all tasks of a project on one screen, what needs the person first, and one of them in detail. `longhaul` alone opens it.
//!
//! ```text
//! keys, sources -> Message -> Model::update -> Action -> here
//!                             view::draw  <-  Model
//! ```
//!
//! Model and view are pure. Everything read or changed goes through operations of `longhaul-app`; leaving the board changes nothing.

mod detail;
mod keys;
mod layout;
mod line_input;
mod model;
mod orders;
mod prompt;
mod seen;
mod sources;
mod tasks;
mod terminal;
#[cfg(test)]
mod tests;
mod text_rows;
mod view;

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, KeyEventKind};
use longhaul_app::{AppError, Call};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Interval, interval};

use self::model::{Action, Message, Model};
use self::orders::Errand;
use self::sources::Reader;
use self::terminal::Screen;
pub(crate) use self::terminal::is_usable;
use self::text_rows::Palette;
use crate::command_line::CommandLine;
use crate::commands::takeover::take_over;
use crate::exit::Code;
use crate::out;
use crate::viewer::{Request, Signals};
use crate::when::When;

/// So many messages are taken in before the screen is drawn.
const MOST_MESSAGES: usize = 256;
/// How often ages are drawn again.
const TICK: Duration = Duration::from_secs(1);

/// Shows the board until the person leaves.
pub(crate) async fn board(line: &CommandLine) -> Result<Code, AppError> {
    let call = line.call()?;
    let signals = Signals::listen()?;
    let screen = Screen::open()?;
    let (send, messages) = channel(MOST_MESSAGES);
    let palette = Palette { colours: out::coloured() };
    let model = Model::new(screen.size(), When::here(), palette, place(&call));
    let list = sources::list(&call, &send);
    let tick = interval(TICK);
    Board { call, screen, signals, send, messages, model, list, look: None, diff: None, tick }.run().await
}

/// The last part of the project's directory.
fn place(call: &Call) -> String {
    let root = call.caller.project().map(|project| project.root);
    root.ok().and_then(|root| Some(root.file_name()?.to_string_lossy().into_owned())).unwrap_or_default()
}

struct Board {
    call: Call,
    screen: Screen,
    signals: Signals,
    send: Sender<Message>,
    messages: Receiver<Message>,
    model: Model,
    list: Reader,
    look: Option<Reader>,
    diff: Option<Reader>,
    tick: Interval,
}

impl Board {
    async fn run(mut self) -> Result<Code, AppError> {
        loop {
            self.draw()?;
            let message = tokio::select! {
                event = self.screen.event() => match event {
                    Some(event) => message_of(event),
                    None => return Ok(Code::HungUp),
                },
                message = self.messages.recv() => message,
                request = self.signals.next() => match request {
                    Request::Leave(code) => return Ok(code),
                    Request::Pause => return Ok(Code::Done),
                    Request::Stop => {
                        self.screen.stop()?;
                        None
                    }
                    Request::Continued => {
                        self.screen.reopen()?;
                        None
                    }
                },
                _ = self.tick.tick() => Some(Message::Tick(When::here())),
            };
            for message in message.into_iter().chain(self.waiting()) {
                for action in self.model.update(message) {
                    if self.carry_out(action).await? {
                        return Ok(Code::Done);
                    }
                }
            }
        }
    }

    fn draw(&mut self) -> Result<(), AppError> {
        let size = self.screen.size();
        if size != self.model.size {
            self.model.update(Message::Resized(size));
        }
        self.screen.draw(|frame| view::draw(&self.model, frame))
    }

    /// Messages that came together are drawn together.
    fn waiting(&mut self) -> Vec<Message> {
        std::iter::from_fn(|| self.messages.try_recv().ok()).take(MOST_MESSAGES).collect()
    }

    /// Whether the board ends.
    async fn carry_out(&mut self, action: Action) -> Result<bool, AppError> {
        match action {
            Action::Leave => return Ok(true),
            Action::Suspend => self.screen.stop()?,
            Action::Redraw => self.screen.redraw()?,
            Action::Look { task, generation } => {
                self.diff = None;
                self.look = task.map(|task| sources::look(&self.call, &self.send, task, generation));
            }
            Action::LookAgain => self.look.iter().for_each(|look| look.again.notify_one()),
            Action::ReadDiff { task, generation } => {
                self.diff = Some(sources::diff(&self.call, &self.send, task, generation));
            }
            Action::Perform(errand) => self.perform(errand),
            Action::TakeOver { task } => {
                self.screen.suspend();
                let taken = take_over(&self.call, Some(&task)).await.map(drop);
                // Signals of the terminal were meant for the agent's program.
                self.signals = Signals::listen()?;
                self.screen.reopen()?;
                self.model.update(Message::Back(taken));
                self.list.again.notify_one();
            }
        }
        Ok(false)
    }

    /// Carries out an order beside everything else: a session may need long to stop. Leaving the board does not take an order back.
    fn perform(&self, errand: Errand) {
        let (call, send, list) = (self.call.clone(), self.send.clone(), Arc::clone(&self.list.again));
        tokio::spawn(async move {
            let reply = orders::carry_out(&call, &errand).await;
            list.notify_one();
            send.send(Message::Ended(errand, reply)).await.ok();
        });
    }
}

fn message_of(event: Event) -> Option<Message> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(Message::Key(key)),
        Event::Paste(text) => Some(Message::Pasted(text)),
        // The size is looked at before each drawing.
        Event::Key(_) | Event::Resize(..) | Event::Mouse(_) | Event::FocusGained | Event::FocusLost => None,
    }
}

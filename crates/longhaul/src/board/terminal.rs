//! The terminal while the board has it: the alternate screen, raw mode and the keys. Whatever ends the board restores the terminal:
//! leaving, an error, a panic, a signal. Between `suspend` and `reopen` somebody else has the terminal.

use std::io::{self, IsTerminal, Stdout, stdout};
use std::sync::Once;

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste, Event, EventStream};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{cursor, execute};
use futures_util::StreamExt;
use longhaul_app::{AppError, ErrorKind};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};
use rustix::termios::{LocalModes, tcgetattr};

/// Whether this process has a terminal that can show the board.
pub(crate) fn is_usable() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb" || term.is_empty());
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb
}

/// The board's terminal; restored when dropped.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// None while somebody else reads the keys.
    events: Option<EventStream>,
}

impl Screen {
    pub(super) fn open() -> Result<Screen, AppError> {
        restore_after_panic();
        let opened = enter().and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        let terminal = opened.map_err(|error| {
            leave();
            failed(&error)
        })?;
        Ok(Screen { terminal, events: Some(EventStream::new()) })
    }

    pub(super) fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> Result<(), AppError> {
        self.terminal.draw(view).map(drop).map_err(|error| failed(&error))
    }

    pub(super) fn size(&self) -> (u16, u16) {
        self.terminal.size().map_or((80, 24), |size| (size.width, size.height))
    }

    /// The next key, paste or size; none once the terminal is gone.
    pub(super) async fn event(&mut self) -> Option<Event> {
        let Some(events) = &mut self.events else { return std::future::pending().await };
        loop {
            match events.next().await {
                Some(Ok(event)) => return Some(event),
                // The last reader was woken up to leave.
                Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Some(Err(_)) | None => return None,
            }
        }
    }

    /// Draws everything again: somebody may have written to the terminal.
    pub(super) fn redraw(&mut self) -> Result<(), AppError> {
        // Not `clear`, which asks the terminal for its cursor and so takes an answer from the keys.
        let size = self.terminal.size().map_err(|error| failed(&error))?;
        self.terminal.resize(size.into()).map_err(|error| failed(&error))
    }

    /// Gives the terminal to somebody else.
    pub(super) fn suspend(&mut self) {
        self.events = None;
        leave();
    }

    /// Takes the terminal back, in whatever mode somebody left it.
    pub(super) fn reopen(&mut self) -> Result<(), AppError> {
        if is_cooked() {
            // Forgets the mode of before, which a shell may have changed since.
            disable_raw_mode().map_err(|error| failed(&error))?;
        }
        enter().map_err(|error| failed(&error))?;
        self.events.get_or_insert_with(EventStream::new);
        self.redraw()
    }

    /// Stops this process, as Ctrl+Z does, and returns once the shell continues it. Where no shell would, nothing is stopped.
    pub(super) fn stop(&mut self) -> Result<(), AppError> {
        self.suspend();
        crate::viewer::stop();
        self.reopen()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.suspend();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)
}

/// Whether the terminal gives whole lines, as a shell leaves it.
fn is_cooked() -> bool {
    tcgetattr(io::stdin()).is_ok_and(|mode| mode.local_modes.contains(LocalModes::ICANON))
}

/// A terminal that is gone needs nothing.
fn leave() {
    execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, cursor::Show).ok();
    disable_raw_mode().ok();
}

/// Restores the terminal before the message of a panic is printed.
fn restore_after_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            print(panic);
        }));
    });
}

fn failed(error: &io::Error) -> AppError {
    AppError::new(ErrorKind::Failure, "cannot use the terminal").because(error)
}

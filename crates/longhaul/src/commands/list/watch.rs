//! `list --watch`: the list on a screen of its own, drawn again when a task changes, until `q` or Ctrl+C.
//! Sleeps between changes, and looks every ten seconds for what no change announces: ages, and workers that died.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use longhaul_app::operations::{List, ListInput};
use longhaul_app::{AppError, Call, ErrorKind};
use tokio::signal::unix::{SignalKind, signal};

use super::lines;
use crate::cli;
use crate::exit::Code;
use crate::viewer::{Keys, Request, Signals, stop};
use crate::width;

/// Ages on the screen are never much older than this.
const LOOK_AGAIN: Duration = Duration::from_secs(10);
/// The shortest time between two drawings, however much happens.
const REST: Duration = Duration::from_millis(200);

pub(super) async fn watch(call: &Call, input: &ListInput, args: &cli::List) -> Result<Code, AppError> {
    if !std::io::stdout().is_terminal() {
        return Err(AppError::new(ErrorKind::Usage, "`list --watch` needs a terminal")
            .hint("use `longhaul list --json`, or `longhaul events -f TASK` for one task"));
    }
    let mut signals = Signals::listen()?;
    let resized = SignalKind::window_change();
    let mut resized = signal(resized)
        .map_err(|error| AppError::new(ErrorKind::Failure, "cannot listen for signals").because(&error))?;
    let mut keys = Keys::listen();
    // A home that does not exist yet has nothing that could ring.
    let mut changes = call.store().ok().and_then(|store| store.changes().ok());
    let mut screen = Screen::open();
    loop {
        screen.draw(&lines(&call.perform::<List>(input.clone()).await?.view, args));
        let changed = async {
            tokio::time::sleep(REST).await;
            match &mut changes {
                Some(changes) => changes.rung().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = changed => {}
            _ = resized.recv() => {}
            () = tokio::time::sleep(LOOK_AGAIN) => {}
            key = keys.next() => if key == b'q' { return Ok(Code::Done) },
            request = signals.next() => match request {
                Request::Pause => return Ok(Code::Done),
                Request::Leave(code) => return Ok(code),
                Request::Continued => keys.quiet(),
                Request::Stop => {
                    drop(screen);
                    keys.restore();
                    stop();
                    keys.quiet();
                    screen = Screen::open();
                }
            },
        }
    }
}

/// The terminal's other screen, so that what was there before is there again afterwards.
struct Screen;

impl Screen {
    fn open() -> Screen {
        write("\u{1b}[?1049h\u{1b}[?25l");
        Screen
    }

    fn draw(&mut self, lines: &[String]) {
        let (rows, columns) = (width::rows_of_stdout(), width::of_stdout().unwrap_or(80));
        let mut shown: Vec<String> =
            lines.iter().take(rows.saturating_sub(1)).map(|line| width::cut(line, columns)).collect();
        if lines.len() > shown.len() {
            shown.truncate(rows.saturating_sub(2));
            shown.push(format!("... and {} more lines", lines.len() - shown.len()));
        }
        shown.push("q quit".to_owned());
        // Each row erases what was behind it, and the last one what was below: no flicker.
        let text = shown.join("\u{1b}[K\r\n");
        write(&format!("\u{1b}[H{text}\u{1b}[K\u{1b}[J"));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        write("\u{1b}[?25h\u{1b}[?1049l");
    }
}

fn write(text: &str) {
    let mut stream = std::io::stdout().lock();
    stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).ok();
}

//! The live line: one row below everything that is printed. The cursor rests at its first column, so erasing from there to the end of
//! the screen removes all of it, even after the terminal was resized and broke the row. Used by `screen`.

use std::io::{IsTerminal, Write};

use crate::width;

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/// Erases everything from the cursor to the end of the screen.
const ERASE: &str = "\u{1b}[J";
/// Without and with automatic wrapping: a row that was made for a terminal that is narrower by now stays one row.
const CLIPPED: &str = "\u{1b}[?7l";
const WRAPPED: &str = "\u{1b}[?7h";

/// The row at the bottom.
pub(super) struct LiveLine {
    text: String,
    frame: usize,
}

impl LiveLine {
    /// A live line on standard error; none if that is not a terminal that can move its cursor.
    pub(super) fn on_terminal() -> Option<LiveLine> {
        let is_smart = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        (std::io::stderr().is_terminal() && is_smart).then(|| LiveLine { text: String::new(), frame: 0 })
    }

    /// Shows this text.
    pub(super) fn set(&mut self, text: String) {
        self.text = text;
        self.frame += 1;
        write(&format!("\r{ERASE}{}", self.row()));
    }

    /// Prints a line above.
    pub(super) fn print(&self, line: &str) {
        write(&format!("\r{ERASE}{line}\n{}", self.row()));
    }

    /// Removes the row until it is set again.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        write(&format!("\r{ERASE}"));
    }

    /// At most as long as the terminal is wide, less the last column. The cursor is at its beginning afterwards.
    fn row(&self) -> String {
        if self.text.is_empty() {
            return String::new();
        }
        let columns = width::of_stderr().unwrap_or(80).saturating_sub(1);
        let row = width::cut(&format!("{} {}", SPINNER[self.frame % SPINNER.len()], self.text), columns);
        format!("{CLIPPED}{row}\r{WRAPPED}")
    }
}

/// One write, so that nothing flickers. A lost terminal ends no viewer.
fn write(text: &str) {
    let mut stream = std::io::stderr().lock();
    stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).ok();
}

//! Prints everything the command line prints: data on stdout, the rest on stderr.
//!
//! Control characters and escape sequences in an agent's output are shown as visible text, never sent to the terminal. This includes
//! an agent's colours, because they can hide text; the only colours on a terminal are our own.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use clap::ColorChoice;
use longhaul_app::AppError;
use longhaul_app::operation::{Answer, View};
use longhaul_app::text::document;
pub(crate) use longhaul_app::text::{readable, safe, safe_lines};
pub(crate) use longhaul_core::units::span;
use serde::Serialize;

use crate::exit::Code;
use crate::pager;

/// The first failed write to stdout; no more data is written after it.
static WRITE_ERROR: OnceLock<io::Error> = OnceLock::new();

/// Prints one line of data. After a failed write nothing more is written; the verb continues and ends with its own code.
pub(crate) fn data(line: &str) {
    pager::start();
    if WRITE_ERROR.get().is_none()
        && let Err(error) = write(io::stdout().lock(), line)
    {
        WRITE_ERROR.get_or_init(|| error);
    }
}

/// Prints one line that is not data. A failed write is ignored: a worker outlives its terminal and a full disk.
pub(crate) fn note(line: &str) {
    if let Some(line) = pager::keep(line.to_owned()) {
        write(io::stderr().lock(), &line).ok();
    }
}

/// Tells where a list continues, if it does.
pub(crate) fn more(next: Option<u64>) {
    next.iter().for_each(|next| note(&format!("there is more; add `--after {next}` to see it")));
}

/// Prints a question that is answered on the same line.
pub(crate) fn question(text: &str) {
    let mut stream = io::stderr().lock();
    write!(stream, "{text} ").and_then(|()| stream.flush()).ok();
}

/// Whether writing to stdout has failed, so that an endless stream may end.
pub(crate) fn is_closed() -> bool {
    WRITE_ERROR.get().is_some()
}

/// Why data could not be written. A reader that closed its pipe is no error.
pub(crate) fn write_error() -> Option<&'static io::Error> {
    WRITE_ERROR.get().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
}

/// Prints an operation's answer: as one JSON document, or as text with notes and warnings.
pub(crate) fn answer<T: View>(answer: &Answer<T>, json: bool, print: impl FnOnce(&T)) -> Result<Code, AppError> {
    if json {
        data(&answer.document()?);
    } else {
        if answer.repeated {
            note("this request was already carried out under its key; nothing was changed");
        }
        print(&answer.view);
        answer.notes.iter().for_each(|line| note(&safe(line)));
        answer.warnings.iter().for_each(|warning| note(&format!("warning: {}", safe(warning))));
    }
    Ok(Code::Done)
}

/// Prints a view as one JSON document; streams print one per line.
pub(crate) fn view<T: View>(view: &T) {
    json(T::KIND, view);
}

/// Prints one JSON document in the versioned envelope; streams print one per line.
pub(crate) fn json(kind: &str, value: &impl Serialize) {
    data(&document(kind, value));
}

/// Writes raw bytes to stdout. Only for programs that read them: the caller refuses a terminal.
pub(crate) fn bytes(bytes: &[u8]) {
    let mut stream = io::stdout().lock();
    if WRITE_ERROR.get().is_none()
        && let Err(error) = stream.write_all(bytes).and_then(|()| stream.flush())
    {
        WRITE_ERROR.get_or_init(|| error);
    }
}

/// What `--color` asks for. Set once, before anything is printed.
static COLOUR: OnceLock<ColorChoice> = OnceLock::new();

/// Uses colours as the person asks.
pub(crate) fn choose_colours(choice: ColorChoice) {
    COLOUR.get_or_init(|| choice);
}

/// Whether our own colours may be used on standard output.
pub(crate) fn coloured() -> bool {
    has_colours(is_on_terminal())
}

/// Whether a person sees standard output, directly or in a pager.
pub(crate) fn is_on_terminal() -> bool {
    static IS_TERMINAL: OnceLock<bool> = OnceLock::new();
    *IS_TERMINAL.get_or_init(|| io::stdout().is_terminal())
}

/// The same for standard error.
pub(crate) fn coloured_stderr() -> bool {
    has_colours(io::stderr().is_terminal())
}

/// The flag comes first, then NO_COLOR, CLICOLOR_FORCE and CLICOLOR, then what the terminal can show.
fn has_colours(is_terminal: bool) -> bool {
    let is = |name: &str, fits: fn(&str) -> bool| std::env::var(name).is_ok_and(|value| fits(&value));
    match COLOUR.get() {
        Some(ColorChoice::Always) => true,
        Some(ColorChoice::Never) => false,
        Some(ColorChoice::Auto) | None => {
            let forced = is("CLICOLOR_FORCE", |value| !value.is_empty() && value != "0");
            let plain = is("CLICOLOR", |value| value == "0") || is("TERM", |value| value == "dumb");
            !is("NO_COLOR", |value| !value.is_empty()) && (forced || (is_terminal && !plain))
        }
    }
}

fn write(mut stream: impl Write, line: &str) -> io::Result<()> {
    writeln!(stream, "{line}").and_then(|()| stream.flush())
}

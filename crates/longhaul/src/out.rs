//! Everything the command line prints: data on stdout, the rest on stderr, and nothing of an agent's raw.
//!
//! Control characters and escapes of agent output never reach the terminal as such; they are shown visibly. An agent's colours are
//! taken out too, because they can hide text; the only colours on a terminal are our own.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use longhaul_app::AppError;
use longhaul_app::operation::{Answer, View};
use longhaul_app::text::document;
pub(crate) use longhaul_app::text::{readable, safe, safe_lines};
pub(crate) use longhaul_core::units::span;
use serde::Serialize;

use crate::exit::Code;

/// Why no more data goes to stdout, once a write to it has failed.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Prints one line of data. After a failed write no more is tried; the verb goes on and ends with its own code.
pub(crate) fn data(line: &str) {
    if LOST.get().is_none()
        && let Err(error) = write(io::stdout().lock(), line)
    {
        LOST.get_or_init(|| error);
    }
}

/// Prints one line that is not data. That it cannot be written ends nothing: a worker outlives its terminal and a full disk.
pub(crate) fn note(line: &str) {
    write(io::stderr().lock(), line).ok();
}

/// Prints a question that is answered on the same line.
pub(crate) fn question(text: &str) {
    let mut stream = io::stderr().lock();
    write!(stream, "{text} ").and_then(|()| stream.flush()).ok();
}

/// Whether data reaches nobody any more, so that an endless stream of it may end.
pub(crate) fn nobody_reads() -> bool {
    LOST.get().is_some()
}

/// What kept data from being written. A reader who went away is no error of ours.
pub(crate) fn loss() -> Option<&'static io::Error> {
    LOST.get().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
}

/// Prints what an operation answered: as one JSON document, or as text with its notes and warnings.
pub(crate) fn answer<T: View>(answer: &Answer<T>, json: bool, print: impl FnOnce(&T)) -> Result<Code, AppError> {
    if json {
        data(&answer.document()?);
    } else {
        if answer.repeated {
            note("this request was carried out before under its key; nothing was done now");
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

/// Hands bytes to standard output as they are. Only for readers that are programs: the caller refuses a terminal.
pub(crate) fn bytes(bytes: &[u8]) {
    let mut stream = io::stdout().lock();
    if LOST.get().is_none()
        && let Err(error) = stream.write_all(bytes).and_then(|()| stream.flush())
    {
        LOST.get_or_init(|| error);
    }
}

/// Whether our own colours may be used on standard output.
pub(crate) fn coloured() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn write(mut stream: impl Write, line: &str) -> io::Result<()> {
    writeln!(stream, "{line}").and_then(|()| stream.flush())
}

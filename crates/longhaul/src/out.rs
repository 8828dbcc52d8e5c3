//! Everything the command line prints: data on stdout, the rest on stderr, and nothing of an agent's raw.
//!
//! Control characters and escapes of agent output never reach the terminal as such; they are shown visibly. An agent's colours are
//! taken out too, because they can hide text; the only colours on a terminal are our own.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

pub(crate) use longhaul_core::units::span;
use serde::Serialize;
use serde_json::json;

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

/// Prints one JSON document in the versioned envelope; streams print one per line.
pub(crate) fn json(kind: &str, value: &impl Serialize) {
    data(&document(kind, value));
}

/// One JSON document in the versioned envelope, on one line.
pub(crate) fn document(kind: &str, value: &impl Serialize) -> String {
    safe_json(&json!({ "v": 1, "kind": kind, "data": value }).to_string())
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

/// The same document, harmless on a terminal: what JSON leaves bare stands only inside its strings, where an escape means it.
fn safe_json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if c.is_control() || is_format(c) {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

fn write(mut stream: impl Write, line: &str) -> io::Result<()> {
    writeln!(stream, "{line}").and_then(|()| stream.flush())
}

/// Text of an agent or a stranger, made safe for a terminal: control and bidirectional characters become visible escapes.
pub(crate) fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\t' || !(c.is_control() || is_format(c)) {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    out
}

/// The same for a text of several lines, which stay lines.
pub(crate) fn safe_lines(text: &str) -> String {
    text.split('\n').map(safe).collect::<Vec<_>>().join("\n")
}

/// Output of a program as people read it: colours are taken out, everything else that is not text is shown visibly.
pub(crate) fn readable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        out.push_str(&safe(&rest[..at]));
        let body = &rest[at + 2..];
        let end = body.find(|c: char| !(c.is_ascii_digit() || ";:".contains(c)));
        match end {
            Some(end) if body[end..].starts_with('m') => rest = &body[end + 1..],
            Some(_) | None => {
                out.push_str(&safe("\u{1b}["));
                rest = body;
            }
        }
    }
    out.push_str(&safe(rest));
    out
}

/// The same for a text of several lines, which stay lines.
pub(crate) fn readable_lines(text: &str) -> String {
    text.split('\n').map(|line| readable(line.strip_suffix('\r').unwrap_or(line))).collect::<Vec<_>>().join("\n")
}

/// Characters that change how their neighbours are shown, or that show nothing where something stands: bidirectional controls,
/// zero-width characters, fillers, tags.
fn is_format(c: char) -> bool {
    matches!(
        c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests;

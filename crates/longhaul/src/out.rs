//! Everything the command line prints: data on stdout, the rest on stderr, and nothing of an agent's raw.
//!
//! Control characters and escapes of agent output never reach the terminal as such; they are shown visibly.

use std::io::{self, Write};
use std::sync::OnceLock;

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
    data(&safe_json(&json!({ "v": 1, "kind": kind, "data": value }).to_string()));
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

/// Characters that change how their neighbours are shown: bidirectional controls, zero-width and tag characters.
fn is_format(c: char) -> bool {
    matches!(
        c,
        '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// A length of time as people say it.
pub(crate) fn span(span: std::time::Duration) -> String {
    let seconds = span.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m {s:02}s"),
        (h, m, _) => format!("{h}h {m:02}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::{safe, safe_json};

    #[test]
    fn a_json_document_means_the_same_and_holds_nothing_that_a_terminal_acts_on() {
        let text = "\u{9b}31m \u{7f} \u{202e}gnp \u{e0041} naïve 🎉 \\ \"";
        let document = serde_json::json!({ "line": text }).to_string();
        let shown = safe_json(&document);
        assert!(shown.chars().all(|c| !c.is_control() && !super::is_format(c)), "{shown:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap()["line"], text);
    }

    #[test]
    fn no_escape_gets_through_and_plain_text_stays() {
        let corpus = [
            "\x1b[31mred",
            "\x1b]52;c;aGk=\x07",
            "\x1b]0;title\x07",
            "\x1bP1$r\x1b\\",
            "\u{9b}31m",
            "a\rb",
            "\u{202e}gnp",
            "\u{200b}",
            "\x08\x08",
            "\x7f",
            "\x00",
            "\u{85}",
            "\x1b]8;;http://x\x07l",
        ];
        for text in corpus {
            let shown = safe(text);
            assert!(shown.chars().all(|c| !c.is_control() && !super::is_format(c)), "{shown:?}");
        }
        assert_eq!(safe("naïve\t日本語 🎉"), "naïve\t日本語 🎉");
    }
}

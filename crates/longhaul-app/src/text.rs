//! Foreign text made harmless where people read it: control characters and escapes of agents never reach a terminal as such.
//! Used by every front end when it prints, and by the report. An agent's colours are removed too, because they can hide text.

use serde::Serialize;

/// The versioned envelope of every JSON document but errors.
#[derive(Serialize)]
pub(crate) struct Document<'a, T> {
    pub(crate) v: u32,
    pub(crate) kind: &'a str,
    pub(crate) data: &'a T,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) notes: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) warnings: &'a [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) repeated: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) deduplicated: bool,
}

impl<'a, T: Serialize> Document<'a, T> {
    pub(crate) fn new(kind: &'a str, data: &'a T) -> Document<'a, T> {
        Document { v: 1, kind, data, notes: &[], warnings: &[], repeated: false, deduplicated: false }
    }

    /// The document on one line, harmless on a terminal.
    pub(crate) fn text(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|text| safe_json(&text))
    }
}

/// A value as one JSON document. One that JSON has no words for, such as a map with odd keys, is null.
pub fn document(kind: &str, value: &impl Serialize) -> String {
    let fallback = || Document::new(kind, &()).text().unwrap_or_default();
    Document::new(kind, value).text().unwrap_or_else(|_| fallback())
}

/// The same document, harmless on a terminal: what JSON leaves bare occurs only inside its strings, where an escape means it.
pub fn safe_json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    let mut copied = 0;
    for (at, c) in document.char_indices().filter(|(_, c)| c.is_control() || is_format(*c)) {
        out.push_str(&document[copied..at]);
        out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        copied = at + c.len_utf8();
    }
    out.push_str(&document[copied..]);
    out
}

/// Text of an agent or a stranger, made safe for a terminal: control and bidirectional characters become visible escapes.
pub fn safe(text: &str) -> String {
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

/// A word of a command, quoted for a shell if necessary.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,=%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The same for a text of several lines, which stay lines.
pub fn safe_lines(text: &str) -> String {
    text.split('\n').map(safe).collect::<Vec<_>>().join("\n")
}

/// Output of a program as people read it: colours are taken out, everything else that is not text is shown visibly.
pub fn readable(text: &str) -> String {
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
pub fn readable_lines(text: &str) -> String {
    text.split('\n').map(|line| readable(line.strip_suffix('\r').unwrap_or(line))).collect::<Vec<_>>().join("\n")
}

/// Characters that change how their neighbours are shown, or that show nothing although they are present: bidirectional controls,
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

//! Assignments to a name that ends in KEY, TOKEN, SECRET, PASSWORD, PASSWD or CREDENTIAL(S): `NAME=value`, `name: value`, quoted
//! pairs of JSON, `_authToken=` of npm, and the password of a netrc. Prose and code about tokens stay.

use super::charset::{DOTTED, VALUE, WORD};
use super::find::Mask;
use super::literals::{Ending, Hit};
use super::text::{Reading, Text};
use super::value::{Name, Writing, is_secret};

const RULE: &str = "assignment";

/// What stands before `key` in names of secrets; other keys are those of maps, caches and tables.
const TELLING_QUALIFIERS: [&[u8]; 22] = [
    b"api",
    b"access",
    b"account",
    b"app",
    b"auth",
    b"bearer",
    b"client",
    b"deploy",
    b"encryption",
    b"id",
    b"license",
    b"master",
    b"oauth",
    b"private",
    b"refresh",
    b"secret",
    b"service",
    b"session",
    b"signing",
    b"ssh",
    b"storage",
    b"webhook",
];

pub(super) fn read(text: &Text<'_>, hit: Hit, ending: Ending, masks: &mut Vec<Mask>) -> Reading {
    let open = Reading::Open { from: hit.start };
    if text.is_open_at(hit.end) {
        return open;
    }
    if text.at(hit.end).is_some_and(|byte| WORD.has(byte)) || !ends_name(text, hit, ending) {
        return Reading::Decided;
    }
    let at = Sign::position(text, hit);
    if text.is_open_at(at + 1) {
        return open;
    }
    let Some(sign) = Sign::read(text, hit, at) else { return Reading::Decided };
    let (start, quote) = text.skip_quote(text.skip_blanks(sign.end));
    let end = text.run(start, VALUE);
    if text.is_open_at(end) || text.is_open_at(start + 1) {
        return open;
    }
    let end = if quote.is_some() { quoted_end(text, start, end) } else { end };
    if is_value(text, end, quote)
        && is_secret(&text.bytes[start..end], name(text, hit, ending), sign.writing(text, start, quote))
    {
        masks.push(Mask { start, end, rule: RULE, from: 0 });
    }
    Reading::Decided
}

/// What stands between name and value.
struct Sign {
    end: usize,
    byte: u8,
    is_tight: bool,
}

impl Sign {
    /// Behind the name, the quote that ends it, and blanks.
    fn position(text: &Text<'_>, hit: Hit) -> usize {
        let (name_end, _) = text.skip_quote(hit.end);
        text.skip_blanks(text.skip(name_end, 1, |byte| byte == b']'))
    }

    /// `=`, `:`, `:=` or `=>`; nothing but the blank before the password of a netrc.
    fn read(text: &Text<'_>, hit: Hit, at: usize) -> Option<Sign> {
        let byte = text.at(at)?;
        let next = text.at(at + 1)?;
        let is_sign = match byte {
            b'=' => next != b'=' && next != b'~',
            b':' => next != b':' && next != b'/',
            _ => false,
        };
        if is_sign {
            let end = at + if matches!(next, b'=' | b'>') { 2 } else { 1 };
            return Some(Sign { end, byte, is_tight: at == hit.end && !matches!(next, b' ' | b'\t') });
        }
        let is_netrc = at > hit.end && text.has_before(hit.start, 200, b"login ") && is_in_netrc(text, hit.start);
        is_netrc.then_some(Sign { end: hit.end, byte: b' ', is_tight: true })
    }

    fn writing(&self, text: &Text<'_>, start: usize, quote: Option<u8>) -> Writing {
        let is_env = (self.byte == b'=' && self.is_tight) || self.byte == b' ';
        match quote {
            Some(_) => Writing::Quoted,
            None if is_env && text.before(start) != Some(b'&') => Writing::Shell,
            None => Writing::Bare,
        }
    }
}

fn is_in_netrc(text: &Text<'_>, at: usize) -> bool {
    text.has_before(at, 400, b"machine ") || text.has_before(at, 400, b"default ")
}

/// `key` is also the end of monkeys and turkeys, and a name may end in capitals only when all of it is in capitals.
fn ends_name(text: &Text<'_>, hit: Hit, ending: Ending) -> bool {
    let word = &text.bytes[hit.start..hit.end];
    let Some(before) = text.before(hit.start) else { return true };
    if text.bytes[..text.run_back(hit.start, DOTTED, 64)].ends_with(b"[redacted:") {
        return false;
    }
    if ending != Ending::Key || !before.is_ascii_alphabetic() || text.ends_escape(hit.start) {
        return true;
    }
    word[0].is_ascii_uppercase() || text.bytes[..hit.start].ends_with(b"api")
}

fn name(text: &Text<'_>, hit: Hit, ending: Ending) -> Name {
    let word = &text.bytes[hit.start..hit.end];
    let start = text.run_back(hit.start, WORD, 64);
    let qualifier = text.bytes[start..hit.start].to_ascii_lowercase();
    let qualifier = qualifier.strip_suffix(b"_").or_else(|| qualifier.strip_suffix(b"-")).unwrap_or(&qualifier);
    let is_qualified = TELLING_QUALIFIERS.iter().any(|known| qualifier.ends_with(known)) || word[0] == b'_';
    let is_dashed = text.before(hit.start) == Some(b'-') && text.has_before(hit.start, 7, b"api");
    let in_capitals = word.iter().all(u8::is_ascii_uppercase) && !qualifier.is_empty();
    match ending {
        Ending::Password | Ending::Secret => Name::Telling,
        Ending::Key | Ending::Token if in_capitals || is_qualified || is_dashed => Name::Telling,
        Ending::Key | Ending::Token => Name::Plain,
    }
}

/// Inside quotes brackets and commas belong to the value; a blank or an escape does not.
fn quoted_end(text: &Text<'_>, start: usize, end: usize) -> usize {
    text.skip(start, usize::MAX, |byte| {
        byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'{' | b'<')
    })
    .max(end)
}

/// A call, a type or the rest of a sentence makes it something else.
fn is_value(text: &Text<'_>, end: usize, quote: Option<u8>) -> bool {
    match (quote, text.at(end)) {
        (Some(quote), Some(byte)) => byte == quote || byte == b'\\',
        (Some(_), None) => true,
        (None, Some(b'(' | b'[' | b'{' | b'<')) => false,
        (None, _) => true,
    }
}

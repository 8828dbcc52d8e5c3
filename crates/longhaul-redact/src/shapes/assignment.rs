//! Assignments to a name that ends in KEY, TOKEN, SECRET, PASSWORD, PASSWD or CREDENTIAL(S): `NAME=value`, `name: value`, quoted
//! pairs of JSON, `_authToken=` of npm, and the password of a netrc. Prose and code about tokens stay.

use super::charset::{DOTTED, VALUE, WORD};
use super::literals::{Ending, Hit};
use super::run::Run;
use super::text::{Reading, Text};
use super::value::{Name, Writing, is_secret};
use crate::find::Mask;

const RULE: &str = "assignment";

/// Longer than one part of a type.
const LONGEST_TYPE: usize = 64;

/// What comes before `key` in names of secrets; other keys are those of maps, caches and tables.
const TELLING_QUALIFIERS: &str = "\
    api access account app auth bearer client deploy encryption id license master oauth private refresh secret service \
    session signing ssh storage webhook";

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
    let sign = match Sign::read(text, hit, at) {
        Ok(sign) => sign,
        Err(reading) => return reading,
    };
    let (start, quote) = text.skip_quote(text.skip_blanks(sign.end));
    let end = if quote.is_some() { quoted_end(text, start) } else { text.run(start, VALUE) };
    let run = Run::of_value(text, start..end, quote);
    if run.is_open() || text.is_open_at(start + 1) || text.is_open_at(run.end + 1) {
        return open;
    }
    if is_value(text, run.end, quote)
        && is_secret(&run.characters, name(text, hit, ending), sign.writing(text, hit, quote, run.end))
    {
        masks.push(Mask::shape(start, run.end, RULE));
    }
    Reading::Decided
}

/// What is between name and value.
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

    /// `=`, `:`, `:=` or `=>`, or `=` behind a type; nothing but the blank before the password of a netrc.
    fn read(text: &Text<'_>, hit: Hit, at: usize) -> Result<Sign, Reading> {
        let (Some(byte), Some(next)) = (text.at(at), text.at(at + 1)) else { return Err(Reading::Decided) };
        let is_sign = match byte {
            b'=' => next != b'=' && next != b'~',
            b':' => next != b':' && next != b'/',
            _ => false,
        };
        if !is_sign {
            let is_netrc = at > hit.end && text.has_before(hit.start, 200, b"login ") && is_in_netrc(text, hit.start);
            let sign = Sign { end: hit.end, byte: b' ', is_tight: true };
            return if is_netrc { Ok(sign) } else { Err(Reading::Decided) };
        }
        let is_tight = at == hit.end && !matches!(next, b' ' | b'\t');
        // In `arn:aws:secretsmanager:*:*:secret:x` and `"AWS::KMS::Key": "x"` colons separate parts of a name.
        let follows_colon = text.before(text.run_back(hit.start, DOTTED, 64)) == Some(b':');
        if byte == b':' && follows_colon && (is_tight || at > hit.end) {
            return Err(Reading::Decided);
        }
        let type_end = if byte == b':' { type_end(text, at + 1) } else { at };
        if text.is_open_at(type_end + 2) {
            return Err(Reading::Open { from: hit.start });
        }
        if text.bytes[type_end..].starts_with(b" = ") {
            return Ok(Sign { end: type_end + 2, byte: b'=', is_tight: false });
        }
        Ok(Sign { end: at + if matches!(next, b'=' | b'>') { 2 } else { 1 }, byte, is_tight })
    }

    fn writing(&self, text: &Text<'_>, hit: Hit, quote: Option<u8>, value_end: usize) -> Writing {
        let is_tight = self.is_tight && (self.byte == b'=' || self.byte == b' ');
        let in_capitals = text.bytes[hit.start..hit.end].iter().all(|byte| !byte.is_ascii_lowercase());
        let ends_expression = matches!(text.at(value_end), Some(b';' | b')' | b','));
        let ends_call = text.at(value_end) == Some(b')');
        match quote {
            Some(_) => Writing::Quoted,
            None if is_tight && in_capitals => Writing::Env,
            None if is_tight && !ends_call => Writing::Setting,
            None if ends_expression => Writing::Expression,
            None => Writing::Bare,
        }
    }
}

/// The end of the type of a declaration: `String`, `&'static str`, `Option<String>`, `str | None`.
fn type_end(text: &Text<'_>, from: usize) -> usize {
    let begin = text.skip_blanks(from);
    let mut end = begin;
    loop {
        end = text.skip(end, LONGEST_TYPE, |byte| byte.is_ascii_alphanumeric() || b"_&'<>[]|.:?".contains(&byte));
        let is_lifetime = text.bytes[begin..end].starts_with(b"&'") && !text.bytes[begin..end].contains(&b' ');
        let is_followed_by_word = text.at(end) == Some(b' ') && text.at(end + 1).is_some_and(|byte| WORD.has(byte));
        if text.bytes[end..].starts_with(b" | ") {
            end += b" | ".len();
        } else if is_lifetime && is_followed_by_word {
            end += 1;
        } else {
            return end;
        }
    }
}

fn is_in_netrc(text: &Text<'_>, at: usize) -> bool {
    text.has_before(at, 400, b"machine ") || text.has_before(at, 400, b"default ")
}

/// `key` is also the end of monkeys and turkeys, and the last word of a string in quotes is no name.
fn ends_name(text: &Text<'_>, hit: Hit, ending: Ending) -> bool {
    let start = text.run_back(hit.start, DOTTED, 64);
    let is_quoted = |position| text.skip_quote(position).1.is_some();
    if text.bytes[..start].ends_with(b"[redacted:")
        || (is_quoted(hit.end) && start > 0 && text.at(start - 1) == Some(b' '))
    {
        return false;
    }
    let (word, before) = (&text.bytes[hit.start..hit.end], &text.bytes[..hit.start]);
    if ending != Ending::Key || !before.last().is_some_and(u8::is_ascii_alphabetic) {
        return true;
    }
    let is_hump = word[0].is_ascii_uppercase() && word[1].is_ascii_lowercase();
    is_hump || before.ends_with(b"api") || before.ends_with(b"API")
}

fn name(text: &Text<'_>, hit: Hit, ending: Ending) -> Name {
    let word = &text.bytes[hit.start..hit.end];
    let start = text.run_back(hit.start, WORD, 64);
    let qualifier = text.bytes[start..hit.start].to_ascii_lowercase();
    let qualifier = qualifier.strip_suffix(b"_").or_else(|| qualifier.strip_suffix(b"-")).unwrap_or(&qualifier);
    let is_qualified =
        TELLING_QUALIFIERS.split(' ').any(|known| qualifier.ends_with(known.as_bytes())) || word[0] == b'_';
    let is_dashed = text.before(hit.start) == Some(b'-') && text.has_before(hit.start, 7, b"api");
    let in_capitals = word.iter().all(u8::is_ascii_uppercase) && !qualifier.is_empty();
    match ending {
        Ending::Password | Ending::Secret => Name::Secret,
        Ending::Key | Ending::Token if in_capitals || is_qualified || is_dashed => Name::Key,
        Ending::Key | Ending::Token => Name::Plain,
    }
}

/// Inside quotes brackets and commas belong to the value; a blank or an escape does not.
fn quoted_end(text: &Text<'_>, start: usize) -> usize {
    text.skip(start, usize::MAX, |byte| {
        byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'{' | b'<')
    })
}

/// A call, a type or the rest of a sentence makes it something else.
fn is_value(text: &Text<'_>, end: usize, quote: Option<u8>) -> bool {
    match (quote, text.at(end)) {
        (Some(quote), Some(byte)) => byte == quote || matches!(byte, b'\\' | b'\n' | b'\r'),
        (Some(_), None) => true,
        (None, _) => !text.is_code_at(end),
    }
}

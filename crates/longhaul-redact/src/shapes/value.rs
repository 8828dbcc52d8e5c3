//! Whether what is assigned to a name is a secret: not a word, a path, a number, a reference or other code.
//! Asked by `assignment`; it judges the value by itself and by how it is written.

use super::charset::WORD;
use super::words::{is_cased_like_word, is_dictionary_words, is_plain_words, is_words};

/// Shorter values would blank ordinary text.
pub(super) const SHORTEST_VALUE: usize = 8;

/// What references to secrets are called.
const NAME_WORDS: [&[u8]; 8] =
    [b"key", b"token", b"secret", b"password", b"passwd", b"credential", b"auth", b"passphrase"];

/// How much the name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// `DB_PASSWORD`, `clientSecret`: what is assigned is the secret.
    Secret,
    /// `API_KEY`, `access_token`: so it is here, but constants of programs are called so too.
    Key,
    /// `token`, `key`, `cache_key`: it may be anything.
    Plain,
}

/// How the value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    Quoted,
    /// As in `NAME=value`, the way shells and env files write it.
    Env,
    /// As in `name=value`: a setting, or an argument of a call.
    Setting,
    /// As in `name: value`.
    Bare,
    /// As the last, before something that ends an expression.
    Expression,
}

/// Whether `value` is to be masked.
pub(super) fn is_secret(value: &[u8], name: Name, writing: Writing) -> bool {
    if value.len() < SHORTEST_VALUE || is_placeholder(value, writing) || is_path(value) || is_number(value) {
        return false;
    }
    let has_letter = value.iter().any(u8::is_ascii_alphabetic);
    match (name, writing) {
        (Name::Plain, Writing::Expression) => false,
        (Name::Plain, _) => !is_words(value) && !is_reference(value) && !is_public_id(value) && is_mixed(value),
        (Name::Secret, Writing::Env) => !(is_constant(value) && mentions_name(value)),
        (Name::Key, Writing::Env) => !(is_reference(value) && value.contains(&b'_')),
        (_, Writing::Setting) | (Name::Secret, Writing::Quoted) => !is_reference(value) && !is_dictionary_words(value),
        (_, Writing::Bare | Writing::Expression) | (Name::Key, Writing::Quoted) => {
            has_letter && !is_words(value) && !is_reference(value)
        }
    }
}

fn is_mixed(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    value.iter().any(u8::is_ascii_alphabetic) && (digits > 1 || (digits == 1 && value.len() >= 20))
}

/// References, examples and addresses.
fn is_placeholder(value: &[u8], writing: Writing) -> bool {
    let begins_like_code = b"$%*.&@=!:#^[".contains(&value[0]);
    let has_operator = [b"::", b"..", b"${", b"->"].iter().any(|pair| value.windows(2).any(|two| two == *pair));
    // A password may have any characters, but code is made of names.
    let is_code = match writing {
        Writing::Bare | Writing::Expression => true,
        Writing::Quoted | Writing::Env | Writing::Setting => is_plain_words(value) || is_reference(value),
    };
    let is_own_name =
        NAME_WORDS.iter().any(|word| value.strip_suffix(b"s").unwrap_or(value).eq_ignore_ascii_case(word));
    ((begins_like_code || has_operator) && is_code)
        || value.windows(3).any(|window| window == b"://")
        || is_one_character(value)
        || is_own_name
        || value.iter().filter(|byte| **byte == b'*').count() > 3
        || decoded_text(value).is_some_and(|text| is_plain_words(&text))
}

pub(super) fn is_one_character(value: &[u8]) -> bool {
    value.iter().all(|byte| *byte == value[0])
}

/// `~/.ssh/id_ed25519`, `./key.pem`, `/etc/ssl/key.pem`, but not base64 that happens to begin with a slash.
fn is_path(value: &[u8]) -> bool {
    if value.starts_with(b"~/") || value.starts_with(b"./") || value.starts_with(b"/^") {
        return true;
    }
    let Some(rest) = value.strip_prefix(b"/") else { return false };
    rest.split(|byte| *byte == b'/').all(|part| !part.is_empty() && is_words(part))
}

/// Hexadecimal with its mark, numbers with their type, versions and object ids.
fn is_number(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"-").unwrap_or(value);
    let is_hex = value.strip_prefix(b"0x").is_some_and(|digits| digits.len() <= 16);
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count();
    let is_typed = digits > 0
        && matches!(&value[digits..], [b'u' | b'i' | b'f', size @ ..] if size.len() <= 4 && size.iter().all(u8::is_ascii_digit));
    let has_letter = value.iter().any(u8::is_ascii_alphabetic);
    is_hex || is_typed || (!has_letter && value.iter().filter(|byte| **byte == b'.').count() > 1)
}

/// The text that `value` is base64 of, if it is text.
pub(super) fn decoded_text(value: &[u8]) -> Option<Vec<u8>> {
    let digits = value.strip_suffix(b"==").or_else(|| value.strip_suffix(b"=")).unwrap_or(value);
    let (mut bits, mut held, mut text) = (0_u32, 0, Vec::new());
    for digit in digits {
        let sixbits = base64::alphabet::STANDARD.as_str().bytes().position(|known| known == *digit)? as u32;
        (bits, held) = ((bits << 6 | sixbits) & 0xffff, held + 6);
        if held >= 8 {
            held -= 8;
            text.push((bits >> held) as u8);
        }
    }
    text.iter().all(|byte| (b' '..=b'~').contains(byte)).then_some(text)
}

/// The name of another secret: `refresh_token`, `self.password`, `AWS_SECRET_ACCESS_KEY`, or of any constant.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let is_name = value.iter().all(|byte| WORD.has(*byte) || b"-.$?!#=@%&*:>".contains(byte));
    // Random characters have numbers and capitals everywhere.
    let numbers = value.split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty()).count();
    let is_cased = value.split(|byte| !byte.is_ascii_alphabetic()).all(is_cased_like_word);
    is_constant(value)
        || is_name && is_cased && numbers <= 2 && (mentions_name(value) || (is_words(value) && value.contains(&b'.')))
}

/// The name of a constant: in capitals, with `_`.
fn is_constant(value: &[u8]) -> bool {
    let is_in_capitals = value.iter().all(|byte| WORD.has(*byte) && !byte.is_ascii_lowercase());
    is_in_capitals && value.contains(&b'_') && value.iter().any(u8::is_ascii_uppercase)
}

/// Whether a word of it, beginning behind a separator or with a capital, is what secrets are called.
fn mentions_name(value: &[u8]) -> bool {
    (0..value.len()).any(|at| {
        let begins_word = at == 0 || !value[at - 1].is_ascii_alphabetic() || value[at].is_ascii_uppercase();
        let is_here = |word: &&[u8]| {
            let (end, next) = (at + word.len(), value.get(at + word.len()));
            // Capitals that lower case follows, as in `tKEYj`, and a short word inside another are chance.
            let is_chance = next.is_some_and(|next| {
                next.is_ascii_lowercase() && *next != b's' && (value[end - 1].is_ascii_uppercase() || word.len() < 5)
            });
            value.get(at..end).is_some_and(|part| is_cased_as(part, word)) && !is_chance
        };
        begins_word && NAME_WORDS.iter().any(is_here)
    })
}

/// Whether `part` is the lower-case `word`, also with a capital or in capitals.
fn is_cased_as(part: &[u8], word: &[u8]) -> bool {
    let is_in_capitals = part.iter().all(u8::is_ascii_uppercase);
    part.eq_ignore_ascii_case(word) && (is_in_capitals || part[1..] == word[1..])
}

/// Digests, UUIDs and dates name things.
pub(super) fn is_public_id(value: &[u8]) -> bool {
    let is_hex = value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let dashes = value.iter().filter(|byte| **byte == b'-').count();
    let is_date =
        value.len() >= 10 && value[4] == b'-' && value[7] == b'-' && value[..4].iter().all(u8::is_ascii_digit);
    is_date || is_hex && (matches!(value.len(), 40 | 64) || (value.len() == 36 && dashes == 4))
}

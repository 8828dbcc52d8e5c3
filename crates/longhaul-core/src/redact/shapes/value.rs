//! Whether a text that something is assigned to looks like a value: not like a word, a path, a call or a reference.
//! Asked by `assignment`; it judges the text alone and never looks around it.

/// Shorter values would blank ordinary text.
pub(super) const SHORTEST_VALUE: usize = 8;

/// How much the name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// `API_KEY`, `clientSecret`, `password`: what is assigned is the secret.
    Telling,
    /// `token`, `key`, `cache_key`: it may be anything.
    Plain,
}

/// How the value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    Quoted,
    /// As in `NAME=value`, the way shells and env files write it.
    Shell,
    Bare,
}

/// Whether `value` is to be masked.
pub(super) fn is_secret(value: &[u8], name: Name, writing: Writing) -> bool {
    if value.len() < SHORTEST_VALUE || is_placeholder(value) || is_path(value) {
        return false;
    }
    match (name, writing) {
        (Name::Telling, Writing::Quoted | Writing::Shell) => true,
        (Name::Telling, Writing::Bare) => !is_identifier(value),
        (Name::Plain, _) => !is_identifier(value) && !is_public_id(value) && has_digit_and_letter(value),
    }
}

fn has_digit_and_letter(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// References, examples and numbers.
fn is_placeholder(value: &[u8]) -> bool {
    let is_reference = matches!(value[0], b'$' | b'%' | b'*' | b'.' | b'&' | b'@' | b'=' | b'!' | b':')
        || value.windows(2).any(|pair| pair == b"::" || pair == b"//" || pair == b"..");
    let is_one_character = value.iter().all(|byte| *byte == value[0]);
    is_reference || is_one_character || value.iter().filter(|byte| **byte == b'*').count() > 3
}

/// `~/.ssh/id_ed25519`, `./key.pem`, `/etc/ssl/key.pem`, but not base64 that happens to begin with a slash.
fn is_path(value: &[u8]) -> bool {
    if value.starts_with(b"~/") || value.starts_with(b"./") {
        return true;
    }
    let Some(rest) = value.strip_prefix(b"/") else { return false };
    let first = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
    first.len() >= 3 && first.iter().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'.' | b'-' | b'_'))
}

/// Words of letters with at most four digits behind, joined as identifiers, versions and file names are.
fn is_identifier(value: &[u8]) -> bool {
    value.split(|byte| b"_.-:/+?!=~#".contains(byte)).all(|word| {
        let letters = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let is_camel = word[..letters]
            .windows(2)
            .filter(|pair| pair[0].is_ascii_uppercase() && pair[1].is_ascii_lowercase())
            .count();
        let is_prose = letters < 12 || is_camel * 3 <= letters;
        let digits = &word[letters..];
        is_prose && digits.len() <= 4 && digits.iter().all(u8::is_ascii_digit)
    })
}

/// Digests and UUIDs name things.
fn is_public_id(value: &[u8]) -> bool {
    let is_hex = value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let dashes = value.iter().filter(|byte| **byte == b'-').count();
    is_hex && (matches!(value.len(), 40 | 64) || (value.len() == 36 && dashes == 4))
}

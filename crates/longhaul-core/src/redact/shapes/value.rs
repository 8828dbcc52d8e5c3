//! Whether what is assigned to a name is a secret: not a word, a path, a number, a reference or other code.
//! Asked by `assignment`; it judges the value by itself and by how it is written.

use super::charset::WORD;

/// Shorter values would blank ordinary text.
pub(super) const SHORTEST_VALUE: usize = 8;

/// So many letters without a separator are few in names.
const LONG_NAME: usize = 28;

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
    if value.len() < SHORTEST_VALUE || is_placeholder(value) || is_path(value) || is_number(value) {
        return false;
    }
    let has_letter = value.iter().any(u8::is_ascii_alphabetic);
    match (name, writing) {
        (Name::Plain, Writing::Expression) => false,
        (Name::Plain, _) => !is_words(value) && !is_reference(value) && !is_public_id(value) && is_mixed(value),
        (_, Writing::Expression) => !is_words(value) && !is_reference(value),
        (Name::Secret, Writing::Env) => true,
        (Name::Key, Writing::Env) => !(is_reference(value) && value.contains(&b'_')),
        (_, Writing::Setting) | (Name::Secret, Writing::Quoted) => !is_reference(value),
        (Name::Key, Writing::Quoted) | (_, Writing::Bare) => has_letter && !is_words(value) && !is_reference(value),
    }
}

fn is_mixed(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    value.iter().any(u8::is_ascii_alphabetic) && (digits > 1 || (digits == 1 && value.len() >= 20))
}

/// References, examples and addresses.
fn is_placeholder(value: &[u8]) -> bool {
    let is_reference = matches!(value[0], b'$' | b'%' | b'*' | b'.' | b'&' | b'@' | b'=' | b'!' | b':' | b'#' | b'^')
        || value.windows(2).any(|pair| pair == b"::" || pair == b".." || pair == b"${" || pair == b"->")
        || value.windows(3).any(|window| window == b"://");
    let is_one_character = value.iter().all(|byte| *byte == value[0]);
    let is_own_name =
        NAME_WORDS.iter().any(|word| value.strip_suffix(b"s").unwrap_or(value).eq_ignore_ascii_case(word));
    is_reference || is_one_character || is_own_name || value.iter().filter(|byte| **byte == b'*').count() > 3
}

/// `~/.ssh/id_ed25519`, `./key.pem`, `/etc/ssl/key.pem`, but not base64 that happens to begin with a slash.
fn is_path(value: &[u8]) -> bool {
    if value.starts_with(b"~/") || value.starts_with(b"./") || value.starts_with(b"/^") {
        return true;
    }
    let Some(rest) = value.strip_prefix(b"/") else { return false };
    rest.split(|byte| *byte == b'/').all(|part| !part.is_empty() && is_words(part))
}

/// Hexadecimal with its mark, versions and object ids.
fn is_number(value: &[u8]) -> bool {
    let is_hex = value.strip_prefix(b"0x").is_some_and(|digits| digits.len() <= 16);
    is_hex || value.iter().filter(|byte| **byte == b'.').count() > 1 && !value.iter().any(u8::is_ascii_alphabetic)
}

/// Words of letters with at most four digits behind, joined as identifiers, versions and file names are.
pub(super) fn is_words(value: &[u8]) -> bool {
    value.split(|byte| b"_.-:/+?!=~#,".contains(byte)).all(|word| {
        let letters = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let digits = &word[letters..];
        is_cased_like_word(&word[..letters]) && digits.len() <= 4 && digits.iter().all(u8::is_ascii_digit)
    })
}

/// In random letters about half are capitals, and those of long names begin words of five letters or more on average.
fn is_cased_like_word(letters: &[u8]) -> bool {
    let capitals = letters.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let humps = letters.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count();
    let has_short_humps = letters.len() >= LONG_NAME && humps * 5 > letters.len();
    letters.len() < 8 || capitals == letters.len() || (capitals * 3 <= letters.len() && !has_short_humps)
}

/// The name of another secret: `refresh_token`, `self.password`, `AWS_SECRET_ACCESS_KEY`.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let is_name = value.iter().all(|byte| WORD.has(*byte) || b"-.$?!".contains(byte));
    // Random characters have numbers everywhere.
    let numbers = value.split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty()).count();
    is_name && numbers <= 2 && (mentions_name(value) || (is_words(value) && value.contains(&b'.')))
}

/// Whether a word of it, beginning behind a separator or with a capital, is what secrets are called.
fn mentions_name(value: &[u8]) -> bool {
    (0..value.len()).any(|at| {
        let begins_word = at == 0 || !value[at - 1].is_ascii_alphabetic() || value[at].is_ascii_uppercase();
        let is_here = |word: &&[u8]| {
            let (end, next) = (at + word.len(), value.get(at + word.len()));
            // Capitals that lower case follows, as in `tKEYj`, are chance.
            let is_chance = next.is_some_and(|next| next.is_ascii_lowercase() && value[end - 1].is_ascii_uppercase());
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

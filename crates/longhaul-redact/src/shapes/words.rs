//! Whether characters read like words: names, prose and file names do, random characters rarely.
//! Asked by `value`, `token`, `header`, `url` and `run` about what may be a secret; it knows nothing of what is around it.

/// So many letters without a separator are few in names.
const LONG_NAME: usize = 28;

/// For each letter of the alphabet the letters that follow it in words: the 400 most frequent pairs in the source and documentation of
/// some hundred Rust crates. Nine in ten of their words have no other pair.
const FOLLOWERS: &str = "\
    abcdefgiklmnprstuvwxy acdeijlmorstuy abcdefghiklmnopqrstuvy abcdefgilmnoprstuvwy \
    abcdefghiklmnopqrstuvwxy acdefgilmoprstuy aceghilmnoprstu adeilmorstuwy abcdefgklmnoprstvxz eou \
    acdeinostu abcdefgiklmnoprstuvy abcdegilmnoprstu abcdefghiklmnoprstuvy abcdefgijklmnoprstuvwx \
    abcdefghiklmoprstuvy lu abcdefgiklmnoprstuvwy abcdefghiklmnopqrstuvwy abcdefhilmnoprstuvwxy \
    abcdefgilmnoprstx acefilmost aehilnors acefimpt eilmnopst aeio";

/// Words of letters with at most four digits behind, joined as identifiers, versions and file names are.
pub(super) fn is_words(value: &[u8]) -> bool {
    value.split(|byte| b"_.-:/+?!=~#,".contains(byte)).all(|word| {
        let letters = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let digits = &word[letters..];
        is_cased_like_word(&word[..letters]) && digits.len() <= 4 && digits.iter().all(u8::is_ascii_digit)
    })
}

/// In random letters about half are capitals, and those of long names begin words of five letters or more on average. A
/// name may begin with an acronym: `CFStringRef`.
pub(super) fn is_cased_like_word(letters: &[u8]) -> bool {
    let acronym = letters.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let rest = &letters[acronym..];
    let has_other_acronym = rest.windows(2).any(|pair| pair.iter().all(u8::is_ascii_uppercase));
    let (rest, first) = if has_other_acronym { (letters, 0) } else { (rest, acronym.min(1)) };
    let capitals = first + rest.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let humps = letters.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count();
    let has_short_humps = letters.len() >= LONG_NAME && humps * 5 > letters.len();
    letters.len() < 8 || acronym == letters.len() || (capitals * 3 <= rest.len() + first && !has_short_humps)
}

/// Words as in prose and file names: all letters but the first have one case, and at most four digits are behind.
pub(super) fn is_plain_words(run: &[u8]) -> bool {
    run.split(|byte| !byte.is_ascii_alphanumeric()).all(|word| {
        let letters = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (tail, digits) = (&word[letters.min(1)..letters], &word[letters..]);
        let has_one_case =
            tail.iter().all(u8::is_ascii_lowercase) || word[..letters].iter().all(u8::is_ascii_uppercase);
        has_one_case && digits.len() <= 4 && digits.iter().all(u8::is_ascii_digit)
    })
}

/// As before, and spelled like words too: in eight random letters some pair is almost always one that words do not have. Words are
/// joined by `-`, `_` and `/`.
pub(super) fn is_spelled_like_words(run: &[u8]) -> bool {
    let is_spelled = |pair: &[u8]| {
        let [first, second] = [pair[0], pair[1]].map(|byte| byte.to_ascii_lowercase());
        let is_in_word = first.is_ascii_lowercase() && second.is_ascii_lowercase();
        !is_in_word
            || FOLLOWERS.split(' ').nth(usize::from(first - b'a')).is_some_and(|all| all.as_bytes().contains(&second))
    };
    let is_joined = !run.iter().any(|byte| b"+=".contains(byte));
    is_joined && is_plain_words(run) && run.windows(2).all(is_spelled)
}

/// What examples have for a password: one to three words that can be spoken, without digits. Four words are a passphrase.
pub(super) fn is_dictionary_words(value: &[u8]) -> bool {
    let is_separator = |byte: &u8| b"_-.:/ ".contains(byte);
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let capitals = value.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let is_vowel = |byte: &u8| b"aeiouyAEIOUY".contains(byte);
    let consonants = value.split(|byte| is_vowel(byte) || is_separator(byte)).map(<[u8]>::len).max();
    value.iter().all(|byte| byte.is_ascii_alphabetic() || is_separator(byte))
        && value.split(is_separator).count() <= 3
        && (capitals * 4 <= letters || capitals == letters)
        && value.iter().any(is_vowel)
        && consonants.is_some_and(|most| most <= 4)
}

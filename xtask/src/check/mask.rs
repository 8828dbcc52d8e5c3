//! Blanks comments and literals out of Rust source, so that rules see only code.
//! Called by `source`; line breaks stay where they are, so line numbers hold.
//! It never judges whether the source would compile.

use std::ops::Range;

/// Returns `text` with every comment, string and character literal turned into spaces.
pub(super) fn without_comments_and_literals(text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for blank in comments_and_literals(&characters) {
        characters[blank].iter_mut().filter(|c| **c != '\n').for_each(|c| *c = ' ');
    }
    characters.into_iter().collect()
}

/// Returns the string literals as they are written, with the line, counted from 1, on which each begins.
pub(super) fn strings(text: &str) -> Vec<(usize, String)> {
    let characters: Vec<char> = text.chars().collect();
    let ranges =
        comments_and_literals(&characters).into_iter().filter(|range| matches!(characters[range.start], '"' | 'r'));
    let line = |at: usize| characters[..at].iter().filter(|c| **c == '\n').count() + 1;
    ranges.map(|range| (line(range.start), characters[range].iter().collect())).collect()
}

fn comments_and_literals(characters: &[char]) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < characters.len() {
        let end = blank_end(characters, at);
        found.extend(end.map(|end| at..end));
        at = end.unwrap_or(at + 1);
    }
    found
}

/// Tells where the comment or literal that begins at `at` ends; none when code begins there.
fn blank_end(characters: &[char], at: usize) -> Option<usize> {
    let end = match (characters[at], characters.get(at + 1)) {
        ('/', Some('/')) => find(characters, at, |rest| rest[0] == '\n'),
        ('/', Some('*')) => block_comment_end(characters, at),
        ('"', _) => string_end(characters, at + 1),
        ('r', Some('"' | '#')) if starts_a_token(characters, at) => raw_string_end(characters, at + 1)?,
        ('\'', _) => character_end(characters, at)?,
        _ => return None,
    };
    Some(end.min(characters.len()))
}

fn find(characters: &[char], from: usize, wanted: impl Fn(&[char]) -> bool) -> usize {
    (from..characters.len()).find(|&at| wanted(&characters[at..])).unwrap_or(characters.len())
}

fn block_comment_end(characters: &[char], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while at < characters.len() {
        match (characters[at], characters.get(at + 1)) {
            ('/', Some('*')) => depth += 1,
            ('*', Some('/')) => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            break;
        }
    }
    at
}

fn string_end(characters: &[char], from: usize) -> usize {
    let mut at = from;
    while at < characters.len() && characters[at] != '"' {
        at += if characters[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// `r` opens a raw string alone or behind a `b` or `c` prefix, but not as the last letter of a name.
fn starts_a_token(characters: &[char], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|at| characters[at]);
    match before(1) {
        Some('b' | 'c') => !before(2).is_some_and(is_name_character),
        other => !other.is_some_and(is_name_character),
    }
}

fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// None for a raw identifier such as `r#type`.
fn raw_string_end(characters: &[char], from: usize) -> Option<usize> {
    let hashes = characters[from..].iter().take_while(|&&c| c == '#').count();
    if characters.get(from + hashes) != Some(&'"') {
        return None;
    }
    let closes =
        |rest: &[char]| rest[0] == '"' && rest[1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes;
    Some(find(characters, from + hashes + 1, closes) + 1 + hashes)
}

/// None for a lifetime.
fn character_end(characters: &[char], at: usize) -> Option<usize> {
    match (characters.get(at + 1), characters.get(at + 2)) {
        (Some('\\'), _) => Some(find(characters, at + 3, |rest| rest[0] == '\'') + 1),
        (Some(_), Some('\'')) => Some(at + 3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{strings, without_comments_and_literals};

    fn words(text: &str) -> Vec<String> {
        without_comments_and_literals(text).split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn comments_go_and_code_stays() {
        assert_eq!(words("a // b\nc /* d /* e */ f */ g"), ["a", "c", "g"]);
    }

    #[test]
    fn literals_go_and_code_stays() {
        assert_eq!(words(r#"a "b \" c" d '"' e '\'' f b"g" h"#), ["a", "d", "e", "f", "b", "h"]);
        assert_eq!(words("a r#\"b \" c\"# d br\"e\" f"), ["a", "d", "b", "f"]);
    }

    #[test]
    fn lifetimes_and_raw_names_are_code() {
        assert_eq!(words("fn f<'a>(x: &'a str) r#type"), ["fn", "f<'a>(x:", "&'a", "str)", "r#type"]);
    }

    #[test]
    fn strings_are_found_with_their_lines() {
        let text = "a(\"b\"); // \"c\"\n'\"' r#\"d\n\"#\n\"e\"";
        let expected = [(1, "\"b\""), (2, "r#\"d\n\"#"), (4, "\"e\"")];
        assert_eq!(strings(text), expected.map(|(line, literal)| (line, literal.to_owned())));
    }

    #[test]
    fn line_breaks_stay() {
        let text = "a\n\"b\nc\"\n/*\n*/ d\n";
        assert_eq!(without_comments_and_literals(text).matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn unclosed_source_ends_quietly() {
        for text in ["\"a", "\"a\\", "/* a", "r#\"a", "'\\", "'", "r#"] {
            without_comments_and_literals(text);
        }
    }
}

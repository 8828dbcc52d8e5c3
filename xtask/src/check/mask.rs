//! Blanks comments and literals out of Rust source, so that rules see only code.
//! Called by `source`; line breaks stay where they are, so line numbers hold. The lexer is that of `proc_macro2`.
//! What no compiler could read either counts as code, comments and all, so that a rule finds too much and never too little.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};

use super::test_code::test_items;

/// A text without its comments and literals.
pub(super) struct Masked {
    /// The text with every comment, string and character literal turned into spaces.
    pub(super) code: String,
    /// The string literals as they are written, with the line, counted from 1, on which each begins.
    pub(super) strings: Vec<(usize, String)>,
    /// The bytes of what exists only in test builds.
    pub(super) tests: Vec<Range<usize>>,
}

/// Tells code from the rest.
pub(super) fn mask(text: &str) -> Masked {
    let Ok(stream) = text.parse::<TokenStream>() else {
        return Masked { code: text.to_owned(), strings: Vec::new(), tests: Vec::new() };
    };
    let tests = test_items(stream.clone());
    let mut tokens = Vec::new();
    collect(text, stream, &mut tokens);
    let blanks = text.bytes().map(|byte| if byte == b'\n' { byte } else { b' ' });
    let mut code: Vec<u8> = blanks.collect();
    let (literals, rest): (Vec<_>, Vec<_>) = tokens.into_iter().partition(|token| is_quoted(&text[token.clone()]));
    for token in rest {
        code[token.clone()].copy_from_slice(&text.as_bytes()[token]);
    }
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let strings = literals.into_iter().filter(|token| is_string(&text[token.clone()]));
    let strings = strings.map(|token| (line(token.start), text[token].to_owned())).collect();
    Masked { code: String::from_utf8_lossy(&code).into_owned(), strings, tests }
}

/// Collects the bytes of all tokens.
fn collect(text: &str, stream: TokenStream, found: &mut Vec<Range<usize>>) {
    for token in stream {
        let Range { start, end } = token.span().byte_range();
        // A doc comment arrives as the tokens of an attribute, each in the place of the whole comment.
        if text[start..].starts_with("//") || text[start..].starts_with("/*") {
            continue;
        }
        match token {
            TokenTree::Group(group) => {
                found.extend([start..start + 1, end - 1..end]);
                collect(text, group.stream(), found);
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => found.push(start..end),
        }
    }
}

fn is_string(token: &str) -> bool {
    token.trim_start_matches(['b', 'c', 'r', '#']).starts_with('"')
}

/// Whether a token is a string, a character or a byte. A lifetime is two tokens, the first of them only the quote.
fn is_quoted(token: &str) -> bool {
    is_string(token) || (token.trim_start_matches('b').starts_with('\'') && token.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::mask;

    fn words(text: &str) -> Vec<String> {
        mask(text).code.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn comments_go_and_code_stays() {
        assert_eq!(words("a // b\nc /* d /* e */ f */ g"), ["a", "c", "g"]);
    }

    #[test]
    fn literals_go_and_code_stays() {
        assert_eq!(words(r#"a "b \" c" d '"' e '\'' f b"g" h"#), ["a", "d", "e", "f", "h"]);
        assert_eq!(words("a r#\"b \" c\"# d br\"e\" f"), ["a", "d", "f"]);
    }

    #[test]
    fn lifetimes_and_raw_names_are_code() {
        assert_eq!(words("fn f<'a>(x: &'a str) r#type"), ["fn", "f<'a>(x:", "&'a", "str)", "r#type"]);
    }

    #[test]
    fn strings_are_found_with_their_lines() {
        let text = "a(\"b\"); // \"c\"\n'\"' r#\"d\n\"#\n\"e\"";
        let expected = [(1, "\"b\""), (2, "r#\"d\n\"#"), (4, "\"e\"")];
        assert_eq!(mask(text).strings, expected.map(|(line, literal)| (line, literal.to_owned())));
    }

    #[test]
    fn line_breaks_stay() {
        let text = "a\n\"b\nc\"\n/*\n*/ d\n";
        assert_eq!(mask(text).code.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn unclosed_source_ends_quietly() {
        for text in ["\"a", "\"a\\", "/* a", "r#\"a", "'\\", "'", "r#"] {
            mask(text);
        }
    }
}

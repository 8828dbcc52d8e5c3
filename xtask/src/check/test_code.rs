//! Finds the items of a file that exist only in test builds.
//! Called by `mask` with the tokens of a file and by `source`; a wrong guess must err towards "not a test".
//! It never looks at other files.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Items whose only block is their value: they end at their semicolon.
const ENDED_BY_SEMICOLON: &[&str] = &["let", "const", "static", "use", "type"];
const ENDED_BY_BLOCK: &[&str] =
    &["mod", "fn", "impl", "struct", "enum", "union", "trait", "unsafe", "async", "extern", "macro_rules"];

/// Returns the byte ranges of every `#[cfg(test)]` item, attributes included.
pub(super) fn test_items(stream: TokenStream) -> Vec<Range<usize>> {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let (mut items, mut at) = (Vec::new(), 0);
    while let Some(token) = tokens.get(at) {
        let length = if attribute(&tokens[at..]).is_some_and(is_for_tests) { item_length(&tokens[at..]) } else { 1 };
        match token {
            TokenTree::Group(group) => items.extend(test_items(group.stream())),
            first if length > 1 => {
                items.push(first.span().byte_range().start..tokens[at + length - 1].span().byte_range().end);
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        at += length;
    }
    items
}

/// Tells whether the whole file opens with `#![cfg(test)]`.
pub(super) fn is_test_file(code: &str) -> bool {
    code.contains("#![cfg(test)]")
}

/// Returns the name when the item is a module that lives in another file.
pub(super) fn module_elsewhere(item: &str) -> Option<&str> {
    let declaration = item.trim_end().strip_suffix(';')?;
    let mut words = declaration.split_whitespace().rev();
    let name = words.next()?;
    (words.next() == Some("mod")).then_some(name)
}

/// Returns what is in the brackets of the attribute that begins here.
fn attribute(tokens: &[TokenTree]) -> Option<TokenStream> {
    match tokens {
        [TokenTree::Punct(sign), TokenTree::Group(attribute), ..] if sign.as_char() == '#' => Some(attribute.stream()),
        _ => None,
    }
}

fn is_for_tests(attribute: TokenStream) -> bool {
    let is_test = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "test");
    let inside = |word: &str, stream: TokenStream| match &stream.into_iter().collect::<Vec<_>>()[..] {
        [TokenTree::Ident(first), TokenTree::Group(group)] if first == word => Some(group.stream()),
        _ => None,
    };
    let Some(condition) = inside("cfg", attribute) else { return false };
    let all_of = inside("all", condition.clone());
    let is_only = condition.to_string() == "test";
    is_only || all_of.is_some_and(|parts| parts.into_iter().any(|part| is_test(&part)))
}

/// Returns how many tokens the item has that begins with an attribute.
fn item_length(tokens: &[TokenTree]) -> usize {
    let mut start = 0;
    while attribute(&tokens[start..]).is_some() {
        start += 2;
    }
    let item = &tokens[start..];
    let words = item.iter().filter_map(|token| if let TokenTree::Ident(word) = token { Some(word) } else { None });
    let word = words.map(ToString::to_string).find(|word| word != "pub").unwrap_or_default();
    let ends_with_block = !ENDED_BY_SEMICOLON.contains(&word.as_str());
    let ends_with_comma = ends_with_block && !ENDED_BY_BLOCK.contains(&word.as_str());
    let is_end = |token: &TokenTree| match token {
        TokenTree::Punct(sign) => sign.as_char() == ';' || (sign.as_char() == ',' && ends_with_comma),
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace && ends_with_block,
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    };
    item.iter().position(is_end).map_or(tokens.len(), |at| start + at + 1)
}

#[cfg(test)]
mod tests {
    use super::{module_elsewhere, test_items};

    fn items(code: &str) -> Vec<&str> {
        test_items(code.parse().unwrap()).into_iter().map(|range| &code[range]).collect()
    }

    #[test]
    fn a_test_module_ends_with_its_block() {
        assert_eq!(
            items("fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\nfn c() {}"),
            ["#[cfg(test)]\nmod tests { fn b() {} }"]
        );
    }

    #[test]
    fn a_test_module_elsewhere_ends_with_its_semicolon() {
        let found = items("#[cfg(test)]\n#[expect(x)]\nmod tests;\nfn c() {}");
        assert_eq!(found.iter().map(|item| module_elsewhere(item)).collect::<Vec<_>>(), [Some("tests")]);
    }

    #[test]
    fn values_variants_and_statements_end_where_they_end() {
        assert_eq!(
            items("#[cfg(test)] const A: [u8; 2] = if B { C } else { D }; rest"),
            ["#[cfg(test)] const A: [u8; 2] = if B { C } else { D };"]
        );
        assert_eq!(items("enum A { #[cfg(test)] B(u8, u8), C }"), ["#[cfg(test)] B(u8, u8),"]);
        assert_eq!(items("enum A { C, #[cfg(test)] B }"), ["#[cfg(test)] B"]);
        assert_eq!(items("{ #[cfg(test)] hook(a, b); rest }"), ["#[cfg(test)] hook(a, b);"]);
        assert_eq!(
            items("#[cfg(test)] pub(crate) fn a<B, C>(d: E) -> F where G: H, { i } rest"),
            ["#[cfg(test)] pub(crate) fn a<B, C>(d: E) -> F where G: H, { i }"]
        );
    }

    #[test]
    fn only_conditions_that_need_a_test_build_count() {
        assert_eq!(items("#[cfg(all(test, unix))] fn a() {}").len(), 1);
        for shipped in ["#[cfg(not(test))] fn a() {}", "#[cfg(any(test, unix))] fn a() {}", "#[cfg(unix)] fn a() {}"] {
            assert_eq!(items(shipped), Vec::<&str>::new(), "{shipped}");
        }
    }
}

//! Finds the items of a file that exist only in test builds.
//! Called by `source` with masked code; a wrong guess must err towards "not a test".
//! It never looks at other files.

use std::ops::Range;

/// Items whose only block is their value: they end at their semicolon.
const ENDED_BY_SEMICOLON: &[&str] = &["let", "const", "static", "use", "type"];
const ENDED_BY_BLOCK: &[&str] =
    &["mod", "fn", "impl", "struct", "enum", "union", "trait", "unsafe", "async", "extern", "macro_rules"];

/// Returns the byte ranges of every `#[cfg(test)]` item, attributes included.
pub(super) fn test_items(code: &str) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    let mut from = 0;
    while let Some(start) = code[from..].find("#[cfg(").map(|found| from + found) {
        let attribute_end = bracket_end(code, start + 1);
        from = attribute_end;
        if is_for_tests(&code[start..attribute_end]) {
            from = item_end(code, attribute_end);
            items.push(start..from);
        }
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

/// Returns where the bracket that opens at `open` is closed: the place behind it.
pub(super) fn bracket_end(code: &str, open: usize) -> usize {
    let mut depth = 0_i32;
    for (at, c) in code[open..].char_indices() {
        depth += depth_change(c);
        if depth <= 0 {
            return open + at + c.len_utf8();
        }
    }
    code.len()
}

fn depth_change(c: char) -> i32 {
    match c {
        '(' | '[' | '{' => 1,
        ')' | ']' | '}' => -1,
        _ => 0,
    }
}

fn is_for_tests(attribute: &str) -> bool {
    let condition = attribute.trim_start_matches("#[cfg(").trim_end_matches(']');
    let condition = condition.strip_suffix(')').unwrap_or(condition).trim();
    let all_of = condition.strip_prefix("all(").and_then(|rest| rest.strip_suffix(')'));
    condition == "test" || all_of.is_some_and(|parts| parts.split(',').any(|part| part.trim() == "test"))
}

fn item_end(code: &str, attribute_end: usize) -> usize {
    let start = behind_attributes(code, attribute_end);
    let word = first_word_behind_visibility(&code[start..]);
    let ends_with_block = !ENDED_BY_SEMICOLON.contains(&word);
    let ends_with_comma = ends_with_block && !ENDED_BY_BLOCK.contains(&word);
    let mut depth = 0_i32;
    for (at, c) in code[start..].char_indices() {
        depth += depth_change(c);
        let is_end = match c {
            _ if depth < 0 => return start + at,
            ';' => depth == 0,
            '}' => depth == 0 && ends_with_block,
            ',' => depth == 0 && ends_with_comma,
            _ => false,
        };
        if is_end {
            return start + at + 1;
        }
    }
    code.len()
}

fn behind_attributes(code: &str, mut at: usize) -> usize {
    loop {
        at += code[at..].len() - code[at..].trim_start().len();
        if !code[at..].starts_with("#[") {
            return at;
        }
        at = bracket_end(code, at + 1);
    }
}

fn first_word_behind_visibility(item: &str) -> &str {
    let item = match item.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => &rest[bracket_end(rest, 0)..],
        Some(rest) if rest.starts_with(' ') => rest,
        _ => item,
    };
    let item = item.trim_start();
    &item[..item.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(item.len())]
}

#[cfg(test)]
mod tests {
    use super::{module_elsewhere, test_items};

    fn items(code: &str) -> Vec<&str> {
        test_items(code).into_iter().map(|range| &code[range]).collect()
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
        assert_eq!(items("enum A { C, #[cfg(test)] B }"), ["#[cfg(test)] B "]);
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

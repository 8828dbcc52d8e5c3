//! Which texts are taken for the id of a conversation. Ids come back as arguments of the next session and in file patterns, so
//! nothing but plain names passes.

/// The id, if it is one: at most 128 letters, digits, `_`, `-` and `.`, the first of them a letter or digit.
pub fn valid(id: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let starts_well = id.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    (starts_well && id.len() <= 128 && id.bytes().all(plain)).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_can_be_neither_an_option_nor_a_path() {
        assert_eq!(
            valid("01a1e094-4a55-7e31-a327-a686a02badae").as_deref(),
            Some("01a1e094-4a55-7e31-a327-a686a02badae")
        );
        assert_eq!(valid("ses_1.a").as_deref(), Some("ses_1.a"));
        for id in ["", "-x", "--last", "..", "a/b", "a b", "a*", "a\n", "ä", &"x".repeat(129)] {
            assert_eq!(valid(id), None, "{id:?}");
        }
    }
}

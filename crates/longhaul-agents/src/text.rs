//! Texts of an agent: shortened to one line for screens and stored reasons, or read as the id of a conversation.
//! Used by the agents' readers; escapes are removed where a text is printed, not here.

use crate::reading::Shown;

/// The first line with something on it, at most this many characters.
pub(crate) fn one_line(text: &str, longest: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.chars().count() <= longest {
        return line.to_owned();
    }
    line.chars().take(longest.saturating_sub(1)).chain(['…']).collect()
}

/// A reason as it is stored with a failure.
pub(crate) fn reason(text: &str) -> String {
    one_line(text, 400)
}

/// The last line with something on it: what a program that gave up said last.
pub(crate) fn last_line(text: &str) -> Option<String> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(reason)
}

/// What came of a tool: how it failed, if it did, and the last line that it printed. None for a success without output.
pub(crate) fn result(output: &str, failure: Option<&str>) -> Option<Shown> {
    let last = output.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(|line| one_line(line, 120));
    let parts: Vec<String> = failure.map(str::to_owned).into_iter().chain(last).collect();
    (!parts.is_empty()).then(|| Shown::Result(parts.join(": ")))
}

/// A command without the shell around it that an agent adds to each: `/bin/bash -lc 'cargo test'` is `cargo test`.
pub(crate) fn without_shell(command: &str) -> String {
    let script = command.split_once(' ').and_then(|(shell, rest)| {
        let is_shell = ["bash", "sh", "zsh"].contains(&shell.rsplit('/').next().unwrap_or_default());
        rest.strip_prefix("-lc ").or_else(|| rest.strip_prefix("-c ")).filter(|_| is_shell)
    });
    script.and_then(one_word).unwrap_or_else(|| command.to_owned())
}

/// The text that a shell reads as exactly this one word.
fn one_word(text: &str) -> Option<String> {
    let (mut word, mut quote, mut chars) = (String::new(), None, text.trim().chars());
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (None, '\\') => word.push(chars.next()?),
            (Some('"'), '\\') => match chars.next()? {
                escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                other => word.extend(['\\', other]),
            },
            (None, c) if c.is_whitespace() || ";&|<>()$`".contains(c) => return None,
            _ => word.push(c),
        }
    }
    quote.is_none().then_some(word)
}

/// The last line that calls itself an error, with the next one where it only announces it.
pub(crate) fn error_line(stderr: &str) -> Option<String> {
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_error = |line: &&str| line.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("error"));
    let at = lines.iter().rposition(is_error)?;
    let announced = lines.get(at + 1).filter(|_| lines[at].ends_with(':'));
    Some(reason(&announced.map_or_else(|| lines[at].to_owned(), |next| format!("{} {next}", lines[at]))))
}

/// The id of a conversation, if it is one: at most 128 letters, digits, `_`, `-` and `.`, the first of them a letter or digit. Ids
/// become arguments of the next session and parts of file patterns, so only plain names pass.
pub fn conversation_id(id: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let starts_well = id.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    (starts_well && id.len() <= 128 && id.bytes().all(plain)).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_one_short_line() {
        assert_eq!(one_line("\n\n  first \nsecond", 10), "first");
        assert_eq!(one_line("ééééé", 4), "ééé…");
        assert_eq!(one_line("", 4), "");
        assert_eq!(last_line("one\n two \n\n").as_deref(), Some("two"));
        assert_eq!(last_line(" \n"), None);
    }

    #[test]
    fn the_shell_around_a_command_is_left_out() {
        for (command, shown) in [
            ("/bin/bash -lc 'cargo test'", "cargo test"),
            ("bash -lc \"echo 'one' \\\"two\\\" \\$x\"", "echo 'one' \"two\" $x"),
            ("/bin/zsh -c ls", "ls"),
            ("/bin/bash -lc 'it'\\''s'", "it's"),
            ("bash -lc 'a' b", "bash -lc 'a' b"),
            ("bash -lc 'a", "bash -lc 'a"),
            ("bash script.sh", "bash script.sh"),
            ("cargo -c 'x'", "cargo -c 'x'"),
        ] {
            assert_eq!(without_shell(command), shown);
        }
    }

    #[test]
    fn a_result_is_the_failure_and_the_last_line() {
        let shown = |output, failure| match result(output, failure) {
            Some(Shown::Result(text)) => text,
            _ => String::new(),
        };
        assert_eq!(shown("running\n12 passed\n\n", None), "12 passed");
        assert_eq!(shown("", Some("exit 1")), "exit 1");
        assert_eq!(shown("oops\n", Some("exit 1")), "exit 1: oops");
        assert_eq!(shown(" \n", None), "");
    }

    #[test]
    fn an_error_is_found_between_hints() {
        assert_eq!(error_line("error: one\n\nERROR: two\nhint\n").as_deref(), Some("ERROR: two"));
        assert_eq!(error_line("Error:\n  no such file\nhint").as_deref(), Some("Error: no such file"));
        assert_eq!(error_line("an error\nérror"), None);
    }

    #[test]
    fn an_id_can_be_neither_an_option_nor_a_path() {
        assert_eq!(
            conversation_id("01a1e094-4a55-7e31-a327-a686a02badae").as_deref(),
            Some("01a1e094-4a55-7e31-a327-a686a02badae")
        );
        assert_eq!(conversation_id("ses_1.a").as_deref(), Some("ses_1.a"));
        for id in ["", "-x", "--last", "..", "a/b", "a b", "a*", "a\n", "ä", &"x".repeat(129)] {
            assert_eq!(conversation_id(id), None, "{id:?}");
        }
    }
}

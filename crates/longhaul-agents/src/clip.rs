//! Texts of an agent cut to one short line, for screens and for reasons that are stored.
//! Used by the agents' readers; escapes are taken out where a text is printed, not here.

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
}

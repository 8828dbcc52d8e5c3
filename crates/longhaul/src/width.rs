//! How wide text is on a terminal, and text cut or padded to a width. A character of Chinese takes two columns.
//! Text must have been made safe before.

/// The columns of standard output; none if it is not a terminal.
pub(crate) fn of_stdout() -> Option<usize> {
    console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns))
}

/// The columns of standard error; none if it is not a terminal.
pub(crate) fn of_stderr() -> Option<usize> {
    console::Term::stderr().size_checked().map(|(_, columns)| usize::from(columns))
}

/// How many columns a text takes.
pub(crate) fn columns(text: &str) -> usize {
    console::measure_text_width(text)
}

/// The text in at most so many columns, with an ellipsis if something is missing.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    console::truncate_str(text, columns, "…").into_owned()
}

/// The text in exactly so many columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let missing = columns.saturating_sub(self::columns(&text));
    text + &" ".repeat(missing)
}

#[cfg(test)]
mod tests {
    use super::{columns, cut, pad};

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(columns("修复 x"), 6);
        assert_eq!((cut("修复解析器", 7).as_str(), cut("short", 7).as_str()), ("修复解…", "short"));
        assert_eq!((pad("ab", 4).as_str(), columns(&pad("修复解析器", 4))), ("ab  ", 4));
    }
}

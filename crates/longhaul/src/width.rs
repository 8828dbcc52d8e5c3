//! How wide text is on a terminal, and text cut or padded to a width. A character of Chinese takes two columns.
//! Text must have been made safe before.

/// The columns of standard output; none if it is not a terminal.
pub(crate) fn of_stdout() -> Option<usize> {
    console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns))
}

/// The rows of standard output, or those of a small terminal if it is none.
pub(crate) fn rows_of_stdout() -> usize {
    console::Term::stdout().size_checked().map_or(24, |(rows, _)| usize::from(rows))
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

/// The text in lines of at most so many columns, broken between words; every line but the first is indented.
pub(crate) fn wrapped(text: &str, columns: usize, indent: usize) -> Vec<String> {
    let indent = if indent + 8 > columns { 0 } else { indent };
    let mut lines = vec![String::new()];
    let mut used = 0;
    for (at, word) in text.split(' ').enumerate() {
        let space = usize::from(at > 0);
        let mut rest = word.to_owned();
        if used + space + self::columns(word) <= columns {
            add(&mut lines, &mut used, if at > 0 { " " } else { "" });
        } else if at > 0 && (used > indent || lines.len() == 1) {
            lines.push(" ".repeat(indent));
            used = indent;
        }
        // A word that is longer than a line is broken where the line ends.
        while self::columns(&rest) > columns.saturating_sub(used) {
            let part = console::truncate_str(&rest, columns.saturating_sub(used), "").into_owned();
            if part.is_empty() {
                break;
            }
            rest = rest[part.len()..].to_owned();
            add(&mut lines, &mut used, &part);
            lines.push(" ".repeat(indent));
            used = indent;
        }
        add(&mut lines, &mut used, &rest);
    }
    lines
}

fn add(lines: &mut [String], used: &mut usize, text: &str) {
    if let Some(line) = lines.last_mut() {
        line.push_str(text);
        *used += columns(text);
    }
}

#[cfg(test)]
mod tests {
    use super::{columns, cut, pad, wrapped};

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(columns("修复 x"), 6);
        assert_eq!((cut("修复解析器", 7).as_str(), cut("short", 7).as_str()), ("修复解…", "short"));
        assert_eq!((pad("ab", 4).as_str(), columns(&pad("修复解析器", 4))), ("ab  ", 4));
    }
    #[test]
    fn long_lines_are_broken_between_words_and_keep_their_indent() {
        assert_eq!(wrapped("fits well", 9, 2), ["fits well"]);
        assert_eq!(wrapped("10:00  the quick brown fox", 14, 4), ["10:00  the", "    quick", "    brown fox"]);
        assert_eq!(wrapped("a /very/long/path/of/files x", 14, 2), ["a", "  /very/long/p", "  ath/of/files", "  x"]);
        assert_eq!(wrapped("修复解析器修复解析器", 10, 2), ["修复解析器", "  修复解析", "  器"]);
        assert_eq!(wrapped("", 10, 2), [""]);
        assert!(wrapped("narrow words here", 7, 10).iter().all(|line| columns(line) <= 7), "no room to indent");
    }
}

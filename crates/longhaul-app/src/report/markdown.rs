//! Text of agents, people and programs inside Markdown, so that it stays inert: no HTML, no links, no images, no headings of its own.
//! Used by the report. Everything foreign is put in a code span or a fenced block; nothing else can be trusted not to be markup.

use crate::text;

/// A text on one line, as a code span.
pub fn code(text: &str) -> String {
    let line = text::readable(text);
    let line = line.trim();
    if line.is_empty() {
        return "(empty)".to_owned();
    }
    let fence = "`".repeat(longest_run(line) + 1);
    // A span may not begin or end with its own fence character; one blank on each side is not shown.
    let pad = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{line}{pad}{fence}")
}

/// A text of several lines, as a fenced block.
pub fn block(text: &str) -> String {
    let text = text::readable_lines(text.trim_end());
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{fence}text\n{text}\n{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{block, code};

    #[test]
    fn markup_stays_inside_its_span() {
        assert_eq!(code("<img src=x> [a](http://x) ![b](http://y)"), "`<img src=x> [a](http://x) ![b](http://y)`");
        assert_eq!(code("a ` b `` c"), "```a ` b `` c```");
        assert_eq!(code("`x`"), "`` `x` ``");
        assert_eq!(code("a\nb"), "`a\\u{a}b`", "a line break can not end it");
        assert_eq!(code(" \t"), "(empty)");
    }

    #[test]
    fn no_line_inside_a_block_can_close_it() {
        let hostile = "```\n# Heading\n````\n<script>\n~~~";
        let shown = block(hostile);
        assert!(shown.starts_with("`````text\n") && shown.ends_with("\n`````"), "{shown}");
        assert_eq!(shown.lines().filter(|line| line.starts_with("`````")).count(), 2);
    }
}

//! Rows of text with one tone each, wrapped to a width: what the panes of the board consist of.
//! Pure. Whoever makes a row has made its text safe.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::paint::Colour;
use crate::width::{columns, wrapped};

/// A row before it is wrapped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TextRow {
    /// Stands before the text, and leaves its width free in the rows that follow.
    lead: String,
    text: String,
    tone: Option<Colour>,
}

impl TextRow {
    pub(super) fn new(text: impl Into<String>) -> TextRow {
        TextRow { text: text.into().replace('\t', "    "), ..TextRow::default() }
    }

    pub(super) fn tone(self, tone: Colour) -> TextRow {
        TextRow { tone: Some(tone), ..self }
    }

    pub(super) fn lead(self, lead: impl Into<String>) -> TextRow {
        TextRow { lead: lead.into(), ..self }
    }

    /// The row in so many columns.
    pub(super) fn wrapped(&self, width: usize, palette: Palette) -> Vec<Line<'static>> {
        let indent = columns(&self.lead).min(width / 2);
        let style = self.tone.map_or_else(Style::default, |tone| palette.style(tone));
        let pieces = wrapped(&self.text, width.saturating_sub(indent).max(1), 0);
        let lines = pieces.into_iter().enumerate().map(|(at, piece)| {
            let lead = if at == 0 { self.lead.clone() } else { " ".repeat(indent) };
            Line::from(vec![Span::styled(lead, palette.style(Colour::Dim)), Span::styled(piece, style)])
        });
        lines.collect()
    }

    fn height(&self, width: usize) -> usize {
        let indent = columns(&self.lead).min(width / 2);
        wrapped(&self.text, width.saturating_sub(indent).max(1), 0).len()
    }
}

/// Colours as the terminal may have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Palette {
    /// False with `NO_COLOR`: bold and dim stay.
    pub(super) colours: bool,
}

impl Palette {
    pub(super) fn style(self, colour: Colour) -> Style {
        let foreground = |colour| if self.colours { Style::new().fg(colour) } else { Style::new() };
        match colour {
            Colour::Red => foreground(Color::Red),
            Colour::Yellow => foreground(Color::Yellow),
            Colour::Green => foreground(Color::Green),
            Colour::Dim => Style::new().add_modifier(Modifier::DIM),
            Colour::Bold => Style::new().add_modifier(Modifier::BOLD),
        }
    }
}

/// The first row of the last page: from there on everything fits into the height.
pub(super) fn last_page(rows: &[TextRow], width: usize, height: usize) -> usize {
    let mut left = height;
    for (at, row) in rows.iter().enumerate().rev() {
        match left.checked_sub(row.height(width)) {
            Some(rest) => left = rest,
            // A row that is higher than the page is shown from its beginning.
            None => return (at + 1).min(rows.len().saturating_sub(1)),
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_page_is_full() {
        let rows: Vec<TextRow> = ["a", "bb bb", "c", "d"].map(TextRow::new).into();
        assert_eq!((last_page(&rows, 2, 4), last_page(&rows, 2, 3), last_page(&rows, 2, 9)), (1, 2, 0));
        assert_eq!((last_page(&rows, 1, 1), last_page(&[], 2, 3)), (3, 0));
    }
}

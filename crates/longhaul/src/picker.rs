//! A small menu below the last line of the terminal: arrow keys or a number choose, Enter takes, Esc leaves. It uses as many rows as it
//! has, clears them at the end, and changes the terminal only while it waits for a key.
//! Used by `commands/choose.rs`. What to show must have been made safe before.

use std::io;

use console::{Key, Term};

use crate::width::cut;

/// Rows of the terminal that are not choices: the title, the keys, and the line of the cursor.
const OTHER_ROWS: usize = 3;

/// Asks for one of the rows; none if the person leaves.
pub(crate) fn pick(title: &str, rows: &[String]) -> io::Result<Option<usize>> {
    let term = Term::stderr();
    let mut menu = Menu { selected: 0, typed: String::new(), count: rows.len() };
    term.write_line(title)?;
    loop {
        let lines = menu.lines(rows, term.size());
        lines.iter().try_for_each(|line| term.write_line(line))?;
        let step = menu.press(&term.read_key_raw()?);
        term.clear_last_lines(lines.len())?;
        match step {
            Step::Stay => {}
            Step::Take => return Ok(Some(menu.selected)),
            Step::Leave => return Ok(None),
        }
    }
}

/// What a key does.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Stay,
    Take,
    Leave,
}

struct Menu {
    selected: usize,
    /// The number typed so far.
    typed: String,
    count: usize,
}

impl Menu {
    fn press(&mut self, key: &Key) -> Step {
        match key {
            Key::Enter if self.is_out_of_range() => self.typed.clear(),
            Key::Enter => return Step::Take,
            Key::Escape | Key::CtrlC | Key::Char('q') => return Step::Leave,
            Key::ArrowUp | Key::Char('k') => self.select((self.selected + self.count - 1) % self.count),
            Key::ArrowDown | Key::Char('j') => self.select((self.selected + 1) % self.count),
            Key::Home => self.select(0),
            Key::End => self.select(self.count - 1),
            Key::Backspace => {
                self.typed.pop();
            }
            Key::Char(digit @ '0'..='9') if self.typed.len() < 4 => {
                self.typed.push(*digit);
                self.selected = self.number().map_or(self.selected, |number| number - 1);
            }
            _ => {}
        }
        Step::Stay
    }

    fn select(&mut self, row: usize) {
        self.selected = row;
        self.typed.clear();
    }

    fn number(&self) -> Option<usize> {
        self.typed.parse().ok().filter(|number| (1..=self.count).contains(number))
    }

    fn is_out_of_range(&self) -> bool {
        !self.typed.is_empty() && self.number().is_none()
    }

    /// The choices that fit, the selected one among them, and the keys.
    fn lines(&self, rows: &[String], (height, width): (u16, u16)) -> Vec<String> {
        let fit = usize::from(height).saturating_sub(OTHER_ROWS).max(1);
        let first = (self.selected + 1).saturating_sub(fit);
        let digits = self.count.to_string().len();
        let shown = rows.iter().enumerate().skip(first).take(fit).map(|(at, row)| {
            let mark = if at == self.selected { '>' } else { ' ' };
            format!("{mark} {:>digits$}  {row}", at + 1)
        });
        let keys = match self.is_out_of_range() {
            true => format!("  {}: type a number from 1 to {}", self.typed, self.count),
            false => "  arrow keys or a number, Enter to choose, Esc to cancel".to_owned(),
        };
        // A longer line would take two rows, and only one is cleared.
        shown.chain([keys]).map(|line| cut(&line, usize::from(width).saturating_sub(1))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Menu, Step};
    use console::Key;

    fn menu(count: usize) -> Menu {
        Menu { selected: 0, typed: String::new(), count }
    }

    /// What is selected after these keys, unless one of them ends the menu.
    fn after(count: usize, keys: &[Key]) -> usize {
        let mut menu = menu(count);
        assert!(keys.iter().all(|key| menu.press(key) == Step::Stay), "{keys:?}");
        menu.selected
    }

    #[test]
    fn arrows_move_and_wrap_and_a_number_jumps() {
        use Key::{ArrowDown, ArrowUp, Char, End};
        assert_eq!(after(3, &[ArrowDown, ArrowDown]), 2);
        assert_eq!((after(3, &[ArrowUp]), after(3, &[End, ArrowDown])), (2, 0));
        assert_eq!((after(20, &[Char('1'), Char('2')]), after(20, &[Char('2')])), (11, 1));
        assert_eq!(after(3, &[Char('2'), ArrowDown, Char('1')]), 0, "an arrow ends the number");
    }

    #[test]
    fn enter_takes_only_what_exists_and_escape_leaves() {
        let mut menu = menu(2);
        menu.press(&Key::Char('7'));
        assert!(menu.lines(&["a".to_owned(), "b".to_owned()], (24, 80)).concat().contains("from 1 to 2"));
        assert_eq!(menu.press(&Key::Enter), Step::Stay, "7 is not taken for the selected one");
        assert_eq!(menu.press(&Key::Enter), Step::Take);
        assert_eq!((menu.press(&Key::Escape), menu.press(&Key::CtrlC)), (Step::Leave, Step::Leave));
    }

    #[test]
    fn a_low_or_narrow_terminal_shows_the_selected_row() {
        let rows: Vec<String> = (1..=20).map(|number| format!("task-{number} {}", "x".repeat(90))).collect();
        let mut menu = menu(20);
        menu.press(&Key::End);
        let lines = menu.lines(&rows, (10, 40));
        assert_eq!(lines.len(), 8);
        assert!(lines[6].starts_with("> 20  task-20"), "{lines:?}");
        assert!(lines.iter().all(|line| line.chars().count() < 40), "{lines:?}");
    }
}

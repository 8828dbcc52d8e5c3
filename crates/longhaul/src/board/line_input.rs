//! One line that a person types, with the usual editing keys.
//! Pure. A pasted text may have several lines; they are kept, and shown as one.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::out::safe;
use crate::width::columns;

/// What a key did to the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typed {
    /// It is still being typed.
    On,
    /// It is complete.
    Done,
    /// The person does not want it.
    Left,
}

/// A line and the place of the cursor in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LineInput {
    before: String,
    after: String,
}

impl LineInput {
    /// A line with the cursor at its end.
    pub(super) fn new(text: &str) -> LineInput {
        LineInput { before: text.to_owned(), after: String::new() }
    }

    pub(super) fn text(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    pub(super) fn insert(&mut self, text: &str) {
        self.before.push_str(&text.replace("\r\n", "\n").replace('\r', "\n"));
    }

    pub(super) fn press(&mut self, key: &KeyEvent) -> Typed {
        let held = key.modifiers.intersection(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match (key.code, held) {
            (KeyCode::Enter, _) => return Typed::Done,
            (KeyCode::Esc, _) | (KeyCode::Char('c'), KeyModifiers::CONTROL) => return Typed::Left,
            (KeyCode::Char('a'), KeyModifiers::CONTROL) | (KeyCode::Home, _) => self.move_to(0),
            (KeyCode::Char('e'), KeyModifiers::CONTROL) | (KeyCode::End, _) => self.move_to(usize::MAX),
            (KeyCode::Char('u'), KeyModifiers::CONTROL) => self.before.clear(),
            (KeyCode::Char('k'), KeyModifiers::CONTROL) => self.after.clear(),
            (KeyCode::Char('w'), KeyModifiers::CONTROL) => self.delete_word(),
            (KeyCode::Char(typed), KeyModifiers::NONE) => self.before.push(typed),
            (KeyCode::Backspace, _) => drop(self.before.pop()),
            (KeyCode::Delete, _) => self.after = self.after.chars().skip(1).collect(),
            (KeyCode::Left, _) => self.move_to(self.before.chars().count().saturating_sub(1)),
            (KeyCode::Right, _) => self.move_to(self.before.chars().count() + 1),
            _ => {}
        }
        Typed::On
    }

    fn move_to(&mut self, place: usize) {
        let text = self.text();
        let at = text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
        (self.before, self.after) = (text[..at].to_owned(), text[at..].to_owned());
    }

    fn delete_word(&mut self) {
        let kept = self.before.trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
        self.before.truncate(kept);
    }

    /// The part of the line that fits, and the column of the cursor in it.
    pub(super) fn visible(&self, width: usize) -> (String, usize) {
        let shown = |text: &str| safe(&text.replace(['\n', '\t'], " "));
        let mut before = shown(&self.before);
        while columns(&before) >= width.max(1) {
            before.remove(0);
        }
        let column = columns(&before);
        (before + &shown(&self.after), column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(start: &str, keys: &[(KeyCode, KeyModifiers)]) -> LineInput {
        let mut line = LineInput::new(start);
        keys.iter().for_each(|(code, held)| assert_eq!(line.press(&KeyEvent::new(*code, *held)), Typed::On));
        line
    }

    #[test]
    fn the_usual_keys_edit_the_line() {
        let (no, ctrl) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        let keys = [(KeyCode::Left, no), (KeyCode::Backspace, no), (KeyCode::Char('ö'), no), (KeyCode::Delete, no)];
        assert_eq!(typed("один два", &keys).text(), "один дö");
        assert_eq!(typed("one two ", &[(KeyCode::Char('w'), ctrl)]).text(), "one ");
        assert_eq!(typed("ab", &[(KeyCode::Char('a'), ctrl), (KeyCode::Char('X'), KeyModifiers::SHIFT)]).text(), "Xab");
        assert_eq!(typed("ab", &[(KeyCode::Home, no), (KeyCode::Char('k'), ctrl)]).text(), "");
    }

    #[test]
    fn the_cursor_stays_visible_and_pasted_lines_are_kept() {
        let mut line = LineInput::new("修复解析器");
        assert_eq!(line.visible(7), ("解析器".to_owned(), 6));
        line.insert("\r\nx");
        assert_eq!((line.text().as_str(), line.visible(20).0.as_str()), ("修复解析器\nx", "修复解析器 x"));
    }
}

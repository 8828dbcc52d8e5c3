//! The keys of the board in one table: the board does what a row says, `?` shows the rows, and the guide has the same table.
//! Pure. While a person types a line or answers a question, `prompt` reads the keys instead.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Down,
    Up,
    First,
    Last,
    PageDown,
    PageUp,
    Open,
    Back,
    NextPane,
    PreviousPane,
    Filter,
    New,
    Pause,
    Resume,
    Tell,
    Answer,
    TakeOver,
    Retry,
    Land,
    Discard,
    Cancel,
    Help,
    Leave,
    Suspend,
    Redraw,
}

/// A key with what is held down with it.
type Press = (KeyCode, KeyModifiers);

/// A row of the table: keys that belong together.
#[derive(Debug)]
pub(super) struct Key {
    presses: &'static [(Press, Does)],
    /// The keys as people write them.
    pub(super) shown: &'static str,
    /// What they do, for `?` and the guide.
    pub(super) help: &'static str,
    /// The same in a word for the bottom row, if it is shown there.
    pub(super) hint: Option<&'static str>,
}

const fn plain(key: char) -> Press {
    (KeyCode::Char(key), KeyModifiers::NONE)
}

const fn ctrl(key: char) -> Press {
    (KeyCode::Char(key), KeyModifiers::CONTROL)
}

const fn named(key: KeyCode) -> Press {
    (key, KeyModifiers::NONE)
}

const fn key(
    shown: &'static str,
    presses: &'static [(Press, Does)],
    help: &'static str,
    hint: Option<&'static str>,
) -> Key {
    Key { presses, shown, help, hint }
}

/// Every key, in the order in which people need them.
pub(super) const KEYS: &[Key] = &[
    key(
        "j k, Down Up",
        &[
            (plain('j'), Does::Down),
            (named(KeyCode::Down), Does::Down),
            (plain('k'), Does::Up),
            (named(KeyCode::Up), Does::Up),
        ],
        "next or previous task; scroll an open pane",
        None,
    ),
    key(
        "g G, Home End",
        &[
            (plain('g'), Does::First),
            (named(KeyCode::Home), Does::First),
            (plain('G'), Does::Last),
            (named(KeyCode::End), Does::Last),
        ],
        "first or last task; start or end of an open pane",
        None,
    ),
    key(
        "PgDn PgUp",
        &[
            (named(KeyCode::PageDown), Does::PageDown),
            (ctrl('f'), Does::PageDown),
            (named(KeyCode::PageUp), Does::PageUp),
            (ctrl('b'), Does::PageUp),
        ],
        "scroll the pane by a page; also Ctrl+F and Ctrl+B",
        None,
    ),
    key("Enter", &[(named(KeyCode::Enter), Does::Open)], "show the pane on the whole screen", Some("open")),
    key("Esc", &[(named(KeyCode::Esc), Does::Back)], "back to the list; clear the filter", None),
    key(
        "Tab, Shift+Tab",
        &[(named(KeyCode::Tab), Does::NextPane), (named(KeyCode::BackTab), Does::PreviousPane)],
        "next or previous pane: detail, log, diff",
        Some("pane"),
    ),
    key("/", &[(plain('/'), Does::Filter)], "show only tasks that contain these words", Some("filter")),
    key("n", &[(plain('n'), Does::New)], "start a new task: type its goal", Some("new")),
    key("p", &[(plain('p'), Does::Pause)], "pause the task", Some("pause")),
    key("r", &[(plain('r'), Does::Resume)], "resume the task; asks what you changed if it needs you", Some("resume")),
    key("t", &[(plain('t'), Does::Tell)], "type a message for the task's next session", Some("tell")),
    key("a", &[(plain('a'), Does::Answer)], "answer the question of the task", Some("answer")),
    key("T", &[(plain('T'), Does::TakeOver)], "work in the agent's conversation yourself", None),
    key("R", &[(plain('R'), Does::Retry)], "start a finished task over, after a yes", None),
    key("L", &[(plain('L'), Does::Land)], "land the work on your branch, after a yes", Some("land")),
    key("X", &[(plain('X'), Does::Discard)], "remove worktree and branch without landing, after a yes", None),
    key("D", &[(plain('D'), Does::Cancel)], "cancel the task for good, after a yes", None),
    key("?", &[(plain('?'), Does::Help)], "show the keys", Some("keys")),
    key("Ctrl+L", &[(ctrl('l'), Does::Redraw)], "draw the screen again", None),
    key("Ctrl+Z", &[(ctrl('z'), Does::Suspend)], "back to the shell; `fg` returns to the board", None),
    key(
        "q, Ctrl+Q",
        &[(plain('q'), Does::Leave), (ctrl('q'), Does::Leave), (ctrl('c'), Does::Leave)],
        "leave; the tasks keep running; also Ctrl+C",
        Some("quit"),
    ),
];

impl Key {
    /// What the first of the keys does.
    pub(super) fn does(&self) -> Option<Does> {
        self.presses.first().map(|(_, does)| *does)
    }
}

/// What the table says of a key.
pub(super) fn meaning(event: &KeyEvent) -> Option<Does> {
    // Terminals report Shift of a capital letter, or not.
    let held = event.modifiers.intersection(KeyModifiers::CONTROL | KeyModifiers::ALT);
    let mut presses = KEYS.iter().flat_map(|key| key.presses);
    presses.find(|(press, _)| *press == (event.code, held)).map(|(_, does)| *does)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_key_means_two_things() {
        let mut seen = HashSet::new();
        for key in KEYS {
            assert!(!key.presses.is_empty() && !key.help.is_empty(), "{key:?}");
            assert!(key.presses.iter().all(|(press, _)| seen.insert(*press)), "{key:?}");
        }
    }

    #[test]
    fn shift_and_capitals_are_one_key() {
        let press = |code, held| meaning(&KeyEvent::new(code, held));
        assert_eq!(press(KeyCode::Char('G'), KeyModifiers::SHIFT), Some(Does::Last));
        assert_eq!(press(KeyCode::Char('G'), KeyModifiers::NONE), Some(Does::Last));
        assert_eq!(press(KeyCode::BackTab, KeyModifiers::SHIFT), Some(Does::PreviousPane));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Does::Leave));
        assert_eq!(press(KeyCode::Char('q'), KeyModifiers::ALT), None);
    }
}

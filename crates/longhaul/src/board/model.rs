//! What the board shows, and how keys and news change it: `update` takes a message and answers with what is to be done.
//! Pure: reading, drawing and waiting happen elsewhere.

use crossterm::event::{KeyCode, KeyEvent};
use longhaul_app::AppError;
use longhaul_app::operations::Listing;

use super::keys::{self, Does};
use super::layout::{Layout, layout};
use super::line_input::{LineInput, Typed};
use super::seen::{News, Pane, Seen};
use super::tasks::Tasks;
use super::text_rows::Palette;
use crate::when::When;

/// Something that happened.
#[derive(Debug)]
pub(super) enum Message {
    Key(KeyEvent),
    Pasted(String),
    Resized((u16, u16)),
    /// Time passes.
    Tick(When),
    Listed(Result<Listing, AppError>),
    /// About the task that was selected in this generation.
    News(u64, News),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Leave,
    /// Stop as Ctrl+Z does.
    Suspend,
    Redraw,
    /// Follow another task, or none.
    Look {
        task: Option<String>,
        generation: u64,
    },
    /// The selected task changed: read it again.
    LookAgain,
    ReadDiff {
        task: String,
        generation: u64,
    },
}

/// A line at the bottom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Note {
    Failed(String),
}

/// Everything the board knows.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) size: (u16, u16),
    pub(super) when: When,
    pub(super) palette: Palette,
    pub(super) place: String,
    pub(super) tasks: Tasks,
    /// Whether the tasks were read once, and whether older ones are left out.
    pub(super) is_read: bool,
    pub(super) has_older: bool,
    /// The first row of the list that is shown.
    pub(super) top: usize,
    pub(super) seen: Option<Seen>,
    generation: u64,
    pub(super) pane: Pane,
    /// Whether the pane takes the whole screen.
    pub(super) is_open: bool,
    pub(super) shows_help: bool,
    /// The filter while it is typed.
    pub(super) typing: Option<LineInput>,
    pub(super) note: Option<Note>,
}

impl Model {
    pub(super) fn new(size: (u16, u16), when: When, palette: Palette, place: String) -> Model {
        Model {
            size,
            when,
            palette,
            place,
            tasks: Tasks::default(),
            is_read: false,
            has_older: false,
            top: 0,
            seen: None,
            generation: 0,
            pane: Pane::Detail,
            is_open: false,
            shows_help: false,
            typing: None,
            note: None,
        }
    }

    pub(super) fn layout(&self) -> Layout {
        layout(self.size, self.tasks.rows().0.len(), self.is_open, self.foot_height())
    }

    /// Rows at the bottom.
    fn foot_height(&self) -> u16 {
        match &self.note {
            Some(Note::Failed(text)) => u16::try_from(text.lines().count()).unwrap_or(u16::MAX).clamp(1, 6),
            None => 1,
        }
    }

    /// Takes a message in.
    pub(super) fn update(&mut self, message: Message) -> Vec<Action> {
        let mut actions = match message {
            Message::Key(key) => self.press(&key),
            Message::Pasted(text) => {
                self.typing.iter_mut().for_each(|typing| typing.insert(&text));
                self.filter_as_typed();
                Vec::new()
            }
            Message::Resized(size) => {
                self.size = size;
                Vec::new()
            }
            Message::Tick(when) => {
                self.when = when;
                Vec::new()
            }
            Message::Listed(listed) => self.list(listed),
            Message::News(generation, news) => {
                if let Some(seen) = self.seen.as_mut().filter(|seen| seen.generation == generation) {
                    seen.add(news, &self.when);
                }
                Vec::new()
            }
        };
        actions.extend(self.follow_selection());
        self.keep_selection_visible();
        actions
    }

    fn list(&mut self, listed: Result<Listing, AppError>) -> Vec<Action> {
        let listing = match listed {
            Ok(listing) => listing,
            Err(error) => {
                self.note = Some(Note::Failed(error.text()));
                return Vec::new();
            }
        };
        let before = self.tasks.selected().cloned();
        self.has_older = listing.has_older;
        self.is_read = true;
        self.tasks.replace(listing.tasks);
        let Some((before, now)) = before.as_ref().zip(self.tasks.selected()) else { return Vec::new() };
        let mut actions = Vec::new();
        if before.id == now.id && (&before.updated, before.has_worker) != (&now.updated, now.has_worker) {
            actions.push(Action::LookAgain);
        }
        // Git is not asked for each line that an agent prints.
        if before.id == now.id
            && (&before.state, before.sessions, before.progress) != (&now.state, now.sessions, now.progress)
        {
            actions.extend(self.read_diff());
        }
        actions
    }

    /// Begins to follow what is selected, if that is another task than before.
    fn follow_selection(&mut self) -> Vec<Action> {
        let task = self.tasks.selected().map(|task| task.id.clone());
        if task == self.seen.as_ref().map(|seen| seen.task.clone()) {
            return Vec::new();
        }
        self.generation += 1;
        let generation = self.generation;
        self.seen = task.clone().map(|task| Seen::new(task, generation));
        let mut actions = vec![Action::Look { task, generation }];
        actions.extend(self.read_diff());
        actions
    }

    fn read_diff(&self) -> Option<Action> {
        let seen = self.seen.as_ref().filter(|_| self.pane == Pane::Diff)?;
        Some(Action::ReadDiff { task: seen.task.clone(), generation: seen.generation })
    }

    fn press(&mut self, key: &KeyEvent) -> Vec<Action> {
        self.note = None;
        if self.typing.is_some() {
            self.type_filter(key);
            return Vec::new();
        }
        let does = keys::meaning(key);
        if self.shows_help && does != Some(Does::Leave) {
            self.shows_help = false;
            return Vec::new();
        }
        does.map_or_else(Vec::new, |does| self.carry_out(does))
    }

    fn carry_out(&mut self, does: Does) -> Vec<Action> {
        match does {
            Does::Leave => return vec![Action::Leave],
            Does::Suspend => return vec![Action::Suspend],
            Does::Redraw => return vec![Action::Redraw],
            Does::Help => self.shows_help = true,
            Does::Filter => self.typing = Some(LineInput::new(self.tasks.filter())),
            Does::Open => self.is_open = self.seen.is_some(),
            Does::Back if self.is_open => self.is_open = false,
            Does::Back => self.tasks.set_filter(String::new()),
            Does::NextPane => return self.show(self.pane.next()),
            Does::PreviousPane => return self.show(self.pane.previous()),
            Does::PageDown | Does::PageUp => self.scroll_page(does == Does::PageDown),
            Does::Down | Does::Up | Does::First | Does::Last => self.step(does),
        }
        Vec::new()
    }

    fn show(&mut self, pane: Pane) -> Vec<Action> {
        self.pane = pane;
        self.read_diff().into_iter().collect()
    }

    fn step(&mut self, does: Does) {
        let by = match does {
            Does::Down => 1,
            Does::Up => -1,
            Does::First => isize::MIN,
            _ => isize::MAX,
        };
        if self.is_open { self.scroll(by) } else { self.tasks.step(by) }
    }

    fn scroll_page(&mut self, down: bool) {
        let page = self.layout().pane.map_or(1, |pane| isize::from(pane.height.max(2) as i16 - 1));
        self.scroll(if down { page } else { -page });
    }

    fn scroll(&mut self, by: isize) {
        let Some(size) = self.layout().pane_size() else { return };
        if let Some(seen) = &mut self.seen {
            seen.scroll(self.pane, by, &self.when, size);
        }
    }

    fn type_filter(&mut self, key: &KeyEvent) {
        let Some(typing) = &mut self.typing else { return };
        match typing.press(key) {
            Typed::On => self.filter_as_typed(),
            Typed::Done => self.typing = None,
            Typed::Left => {
                self.typing = None;
                self.tasks.set_filter(String::new());
            }
        }
        // The arrows choose among what is left.
        match key.code {
            KeyCode::Down => self.tasks.step(1),
            KeyCode::Up => self.tasks.step(-1),
            _ => {}
        }
    }

    fn filter_as_typed(&mut self) {
        if let Some(typing) = &self.typing {
            self.tasks.set_filter(typing.text());
        }
    }

    /// The selected row, and the heading above it, are on the screen.
    fn keep_selection_visible(&mut self) {
        let height = self.layout().list.map_or(0, |list| usize::from(list.height));
        let (rows, selected) = self.tasks.rows();
        let first = if selected == 1 { 0 } else { selected };
        let (rows, first) = (rows.len(), first.min(rows.len()));
        self.top = self.top.min(first).max((selected + 1).saturating_sub(height)).min(rows.saturating_sub(height));
    }
}

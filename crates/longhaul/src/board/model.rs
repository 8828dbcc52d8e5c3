//! What the board shows, and how keys and news change it: `update` takes a message and answers with what is to be done.
//! Pure: reading, drawing and waiting happen elsewhere.

use crossterm::event::{KeyCode, KeyEvent};
use longhaul_app::operations::Listing;
use longhaul_app::views::TaskView;
use longhaul_app::{AppError, Missing};

use super::keys::{self, Does};
use super::layout::{Layout, layout};
use super::line_input::LineInput;
use super::orders::{Errand, Order, Reply, Target};
use super::prompt::{Answered, Asks, Prompt};
use super::seen::{News, Pane, Seen};
use super::tasks::Tasks;
use super::text_rows::Palette;
use crate::out::safe;
use crate::when::When;
use crate::width::wrapped;

/// The most rows of a report at the bottom.
const MOST_NOTE_ROWS: usize = 6;

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
    /// What came of an order.
    Ended(Errand, Result<Reply, AppError>),
    /// Somebody else had the terminal.
    Back(Result<(), AppError>),
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
    Perform(Errand),
    TakeOver {
        task: String,
    },
}

/// What is reported at the bottom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Note {
    Said(String),
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
    /// What the person is asked.
    pub(super) prompt: Option<Prompt>,
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
            prompt: None,
            note: None,
        }
    }

    pub(super) fn layout(&self) -> Layout {
        layout(self.size, self.tasks.rows().0.len(), self.is_open, self.foot_height())
    }

    /// What is reported, in rows that fit.
    pub(super) fn note_rows(&self) -> Vec<String> {
        let Some(Note::Said(text) | Note::Failed(text)) = &self.note else { return Vec::new() };
        let width = usize::from(self.size.0).saturating_sub(1).max(1);
        text.lines().flat_map(|line| wrapped(&safe(line), width, 2)).take(MOST_NOTE_ROWS).collect()
    }

    /// Rows at the bottom: a report is above a question, and in the place of the hints.
    fn foot_height(&self) -> u16 {
        let asked = match &self.prompt {
            Some(Prompt::Agent { among, .. }) => among.len() + 1,
            Some(_) => 1,
            None => 0,
        };
        u16::try_from((self.note_rows().len() + asked).max(1)).unwrap_or(u16::MAX)
    }

    /// Takes a message in.
    pub(super) fn update(&mut self, message: Message) -> Vec<Action> {
        let mut actions = match message {
            Message::Key(key) => self.press(&key),
            Message::Pasted(text) => {
                self.prompt.iter_mut().for_each(|prompt| prompt.insert(&text));
                self.filter_as_typed();
                Vec::new()
            }
            Message::Ended(errand, reply) => self.end(&errand, reply),
            Message::Back(taken) => {
                self.note = taken.err().map(|error| Note::Failed(error.text()));
                vec![Action::LookAgain]
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
        if let Some(prompt) = self.prompt.take() {
            return self.answer(prompt, key);
        }
        let does = keys::meaning(key);
        if self.shows_help && does != Some(Does::Leave) {
            self.shows_help = false;
            return Vec::new();
        }
        does.map_or_else(Vec::new, |does| self.carry_out(does))
    }

    /// A key while something is asked.
    fn answer(&mut self, prompt: Prompt, key: &KeyEvent) -> Vec<Action> {
        let is_filter = matches!(prompt, Prompt::Filter(_));
        match prompt.press(key) {
            Answered::Order(errand) => return self.order(errand),
            Answered::Dropped if is_filter => self.tasks.set_filter(String::new()),
            Answered::Dropped | Answered::Kept => {}
            Answered::Open(prompt) => {
                self.prompt = Some(prompt);
                self.filter_as_typed();
            }
        }
        // The arrows choose among what the filter leaves.
        match key.code {
            KeyCode::Down if is_filter => self.tasks.step(1),
            KeyCode::Up if is_filter => self.tasks.step(-1),
            _ => {}
        }
        Vec::new()
    }

    fn carry_out(&mut self, does: Does) -> Vec<Action> {
        match does {
            Does::Leave => return vec![Action::Leave],
            Does::Suspend => return vec![Action::Suspend],
            Does::Redraw => return vec![Action::Redraw],
            Does::Help => self.shows_help = true,
            Does::Filter => {
                self.prompt = Some(Prompt::Filter(LineInput::default()));
                self.filter_as_typed();
            }
            Does::Open => self.is_open = self.seen.is_some(),
            Does::Back if self.is_open => self.is_open = false,
            Does::Back => self.tasks.set_filter(String::new()),
            Does::NextPane => return self.show(self.pane.next()),
            Does::PreviousPane => return self.show(self.pane.previous()),
            Does::PageDown | Does::PageUp => self.scroll_page(does == Does::PageDown),
            Does::Down | Does::Up | Does::First | Does::Last => self.step(does),
            Does::New => self.prompt = Some(Prompt::Text { asks: Asks::Goal, input: LineInput::default() }),
            Does::Pause
            | Does::Resume
            | Does::Tell
            | Does::Answer
            | Does::TakeOver
            | Does::Retry
            | Does::Land
            | Does::Discard
            | Does::Cancel => return self.act(does),
        }
        Vec::new()
    }

    /// Does something with the selected task, at once or after a question.
    fn act(&mut self, does: Does) -> Vec<Action> {
        let Some(task) = self.tasks.selected() else { return Vec::new() };
        let (asks, name) = (asks_person(task), task.name.clone());
        let target = Target { id: task.id.clone(), name: name.clone() };
        let text = |asks| Some(Prompt::Text { asks, input: LineInput::default() });
        let confirm = |question: String, order| {
            let errand = Errand { task: Some(target.clone()), order };
            Some(Prompt::Confirm { question, errand })
        };
        let order = match does {
            Does::TakeOver => return vec![Action::TakeOver { task: target.id }],
            Does::Pause => Order::Pause,
            Does::Land => Order::LookAtLanding,
            Does::Resume if !asks => Order::Resume { reason: None },
            Does::Answer if !asks => {
                self.note = Some(Note::Failed(format!("{name} has no question")));
                return Vec::new();
            }
            _ => {
                self.prompt = match does {
                    Does::Tell => text(Asks::Message(target)),
                    Does::Retry => confirm(format!("Start {name} over as a new task?"), Order::Retry),
                    Does::Discard => confirm(format!("Remove worktree and branch of {name}?"), Order::Discard),
                    Does::Cancel => confirm(format!("Cancel {name} for good?"), Order::Cancel),
                    _ => text(Asks::Answer(target)),
                };
                return Vec::new();
            }
        };
        self.order(Errand { task: Some(target), order })
    }

    fn order(&mut self, errand: Errand) -> Vec<Action> {
        let doing = match &errand.order {
            Order::New { .. } => "submitting",
            Order::Pause => "pausing",
            Order::Resume { .. } => "resuming",
            Order::Tell { .. } => "telling",
            Order::Retry => "starting over",
            Order::Cancel => "cancelling",
            Order::LookAtLanding => "checking what would land of",
            Order::Land { .. } => "landing",
            Order::Discard => "discarding",
        };
        let whom = errand.task.as_ref().map_or("the task", |task| task.name.as_str());
        self.note = Some(Note::Said(format!("{doing} {whom}…")));
        vec![Action::Perform(errand)]
    }

    /// A question that comes while another one is open waits for nobody: it is asked by pressing the key again.
    fn end(&mut self, errand: &Errand, reply: Result<Reply, AppError>) -> Vec<Action> {
        let is_free = self.prompt.is_none();
        match reply {
            Ok(Reply::Done(sentence)) => self.note = Some(Note::Said(sentence)),
            Ok(Reply::Asks(question, order)) if is_free => {
                self.note = None;
                self.prompt = Some(Prompt::Confirm { question, errand: Errand { order, ..errand.clone() } });
            }
            Ok(Reply::Asks(..)) => {}
            Err(error) => {
                let is_agent = error.choices.as_ref().is_some_and(|choices| choices.missing == Missing::Agent);
                let again = match (&errand.order, is_agent) {
                    (Order::New { goal, .. }, true) => error.choices.map(|choices| {
                        self.note = None;
                        Prompt::Agent { goal: goal.clone(), among: choices.among }
                    }),
                    _ => {
                        self.note = Some(Note::Failed(error.text()));
                        Prompt::again(errand)
                    }
                };
                if is_free {
                    self.prompt = again;
                }
            }
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

    fn filter_as_typed(&mut self) {
        if let Some(Prompt::Filter(input)) = &self.prompt {
            self.tasks.set_filter(input.text());
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

/// Whether a task waits for words of the person: an answer, or what was changed.
pub(super) fn asks_person(task: &TaskView) -> bool {
    task.needs_person && ["needs_help", "tracked"].contains(&task.state.as_str())
}

//! What is asked at the bottom of the board: a line of text, a yes, or one of a few choices. Keys go here while something is asked.
//! Pure: what the person wants comes back as an order.

use crossterm::event::{KeyCode, KeyEvent};
use longhaul_app::Choice;

use super::line_input::{LineInput, Typed};
use super::orders::{Errand, Order, Target};

/// A question to the person.
#[derive(Debug)]
pub(super) enum Prompt {
    /// The filter, which counts while it is typed.
    Filter(LineInput),
    /// A text for an order.
    Text { asks: Asks, input: LineInput },
    /// Before something that cannot be taken back easily.
    Confirm { question: String, errand: Errand },
    /// A goal that lacks only its agent.
    Agent { goal: String, among: Vec<Choice> },
}

/// What a text is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asks {
    Goal,
    Message(Target),
    /// What a task that needs the person waits for: an answer, or what was changed.
    Answer(Target),
}

/// What a key came to.
#[derive(Debug)]
pub(super) enum Answered {
    /// It is still asked.
    Open(Prompt),
    /// The person does not want it.
    Dropped,
    /// The filter stays as it is.
    Kept,
    Order(Errand),
}

impl Asks {
    pub(super) fn label(&self) -> String {
        match self {
            Asks::Goal => "Goal of the new task".to_owned(),
            Asks::Message(task) => format!("Message to the next session of {}", task.name),
            Asks::Answer(task) => format!("Your answer to {}", task.name),
        }
    }

    fn errand(self, text: String) -> Errand {
        match self {
            Asks::Goal => Errand { task: None, order: Order::New { goal: text, agent: None } },
            Asks::Message(task) => Errand { task: Some(task), order: Order::Tell { text } },
            Asks::Answer(task) => Errand { task: Some(task), order: Order::Resume { reason: Some(text) } },
        }
    }
}

impl Prompt {
    /// Asks again for the text of an order that was refused.
    pub(super) fn again(errand: &Errand) -> Option<Prompt> {
        let (asks, text) = match (&errand.order, &errand.task) {
            (Order::New { goal, .. }, _) => (Asks::Goal, goal),
            (Order::Tell { text }, Some(task)) => (Asks::Message(task.clone()), text),
            (Order::Resume { reason: Some(reason) }, Some(task)) => (Asks::Answer(task.clone()), reason),
            _ => return None,
        };
        Some(Prompt::Text { asks, input: LineInput::new(text) })
    }

    pub(super) fn insert(&mut self, text: &str) {
        match self {
            Prompt::Filter(input) | Prompt::Text { input, .. } => input.insert(text),
            Prompt::Confirm { .. } | Prompt::Agent { .. } => {}
        }
    }

    pub(super) fn press(self, key: &KeyEvent) -> Answered {
        match self {
            Prompt::Filter(mut input) => match input.press(key) {
                Typed::On => Answered::Open(Prompt::Filter(input)),
                Typed::Done => Answered::Kept,
                Typed::Left => Answered::Dropped,
            },
            Prompt::Text { asks, mut input } => match input.press(key) {
                Typed::On => Answered::Open(Prompt::Text { asks, input }),
                Typed::Done if input.text().trim().is_empty() => Answered::Dropped,
                Typed::Done => Answered::Order(asks.errand(input.text())),
                Typed::Left => Answered::Dropped,
            },
            Prompt::Confirm { errand, .. } => match key.code {
                KeyCode::Char('y' | 'Y') => Answered::Order(errand),
                _ => Answered::Dropped,
            },
            Prompt::Agent { goal, among } => match key.code {
                KeyCode::Char(digit @ '1'..='9') => match among.get(digit as usize - '1' as usize) {
                    Some(choice) => {
                        let agent = Some(choice.value.clone());
                        Answered::Order(Errand { task: None, order: Order::New { goal, agent } })
                    }
                    None => Answered::Open(Prompt::Agent { goal, among }),
                },
                KeyCode::Esc | KeyCode::Char('q') => Answered::Dropped,
                _ => Answered::Open(Prompt::Agent { goal, among }),
            },
        }
    }
}

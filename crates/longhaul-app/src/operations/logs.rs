//! `logs`: a bounded part of what a task's sessions printed, as turns: the last ones, or page by page from the beginning.
//! Whoever wants all of it, or more as it comes, follows the task instead.

use std::collections::VecDeque;

use longhaul_core::task::Action;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Call;
use crate::error::{AppError, ErrorKind};
use crate::follow::{Follow, Interest, Item, Output, Until};
use crate::lookup;
use crate::operation::{About, Answer, EVERYWHERE, Operation, Permit, View};
use crate::views::TurnView;

/// The most turns of one answer.
const MOST: u32 = 1_000;
/// How much text an answer has unless asked otherwise, and at most.
const BYTES: u32 = 64 << 10;
const MOST_BYTES: u32 = 1 << 20;

pub struct Logs;

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LogsInput {
    /// Name or id of the task; by default the only unfinished or the newest one of the project.
    pub task: Option<String>,
    /// Only the session with this number.
    pub session: Option<u32>,
    /// The last turns, as many as this, instead of the first ones.
    pub last: Option<u32>,
    /// At most this many turns; never more than 1,000, and at least 1.
    pub limit: Option<u32>,
    /// At most this many bytes of text, by default 64 KiB; never more than 1 MiB. One turn is always part of the answer, cut if necessary.
    pub max_bytes: Option<u32>,
    /// Where the last answer ended: its `next`.
    pub after: Option<u64>,
}

/// A part of what sessions printed.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Turns {
    /// In the order in which they were printed.
    pub turns: Vec<TurnView>,
    /// Pass it as `after` to get the turns that follow; null at the end of what was printed so far.
    pub next: Option<u64>,
}

impl View for Turns {
    const KIND: &'static str = "turns";
}

impl Operation for Logs {
    const ABOUT: About = About::new("logs", "Read what the sessions of a task printed", Action::Read, EVERYWHERE);
    type Input = LogsInput;
    type Output = Turns;

    async fn run(call: &Call, _: Permit, input: LogsInput) -> Result<Answer<Turns>, AppError> {
        let stored = lookup::find_to_read(call, input.task.as_deref()).await?;
        let (output, until) = (Output::Turns, Until::Now);
        let interest = Interest { output, session: input.session, until, ..Interest::default() };
        let mut feed = Follow::new(call, stored, interest)?;
        let mut part = Part::new(&input);
        while let Some(item) = feed.next().await? {
            if let Item::Turn(turn) = item {
                part.take(turn);
            }
            if part.next.is_some() {
                break;
            }
        }
        match input.session {
            Some(number) if part.read == 0 => {
                Err(AppError::new(ErrorKind::NotFound, format!("the task has no session {number}")))
            }
            Some(_) | None => Ok(Answer::new(Turns { turns: part.turns.into(), next: part.next })),
        }
    }
}

/// The part of the turns that is wanted.
struct Part {
    turns: VecDeque<TurnView>,
    bytes: usize,
    /// Turns read so far.
    read: u64,
    /// Turns before this one are left out.
    after: u64,
    keeps_last: bool,
    most: usize,
    most_bytes: usize,
    /// The first turn that has no room.
    next: Option<u64>,
}

impl Part {
    fn new(input: &LogsInput) -> Part {
        let most = input.last.or(input.limit.map(|limit| limit.max(1))).unwrap_or(MOST).min(MOST) as usize;
        let most_bytes = input.max_bytes.unwrap_or(BYTES).min(MOST_BYTES) as usize;
        let (after, keeps_last) = (input.after.unwrap_or(0), input.last.is_some());
        Part { turns: VecDeque::new(), bytes: 0, read: 0, after, keeps_last, most, most_bytes, next: None }
    }

    fn take(&mut self, mut turn: TurnView) {
        self.read += 1;
        if self.read <= self.after {
            return;
        }
        turn.text.truncate(turn.text.floor_char_boundary(self.most_bytes));
        if !self.keeps_last && !self.has_room(&turn) {
            self.next = Some(self.read - 1);
            return;
        }
        while !self.has_room(&turn)
            && let Some(oldest) = self.turns.pop_front()
        {
            self.bytes -= oldest.text.len();
        }
        if self.most > 0 {
            self.bytes += turn.text.len();
            self.turns.push_back(turn);
        }
    }

    fn has_room(&self, turn: &TurnView) -> bool {
        self.turns.len() < self.most && self.bytes + turn.text.len() <= self.most_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::TurnRole;

    fn part(input: &LogsInput, texts: &[&str]) -> (Vec<String>, Option<u64>) {
        let mut part = Part::new(input);
        for text in texts {
            if part.next.is_none() {
                part.take(TurnView { session: 1, role: TurnRole::Output, text: (*text).to_owned(), tool: None });
            }
        }
        (part.turns.into_iter().map(|turn| turn.text).collect(), part.next)
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn pages_follow_each_other_without_a_gap() {
        let all = ["a", "bb", "ccc", "d"];
        let page = |after| LogsInput { max_bytes: Some(3), after, ..LogsInput::default() };
        assert_eq!(part(&page(None), &all), (texts(&["a", "bb"]), Some(2)));
        assert_eq!(part(&page(Some(2)), &all), (texts(&["ccc"]), Some(3)));
        assert_eq!(part(&page(Some(3)), &all), (texts(&["d"]), None));
        let two = LogsInput { limit: Some(2), ..LogsInput::default() };
        assert_eq!(part(&two, &all), (texts(&["a", "bb"]), Some(2)));
    }

    #[test]
    fn the_last_turns_stay_within_the_bytes_and_a_long_one_is_cut() {
        let last = |last, bytes| LogsInput { last: Some(last), max_bytes: Some(bytes), ..LogsInput::default() };
        assert_eq!(part(&last(2, 100), &["a", "b", "c"]), (texts(&["b", "c"]), None));
        assert_eq!(part(&last(3, 2), &["a", "b", "c"]), (texts(&["b", "c"]), None));
        assert_eq!(part(&last(3, 2), &["a", "ééé"]), (texts(&["é"]), None));
        assert_eq!(part(&last(0, 3), &["a"]), (texts(&[]), None));
    }
}

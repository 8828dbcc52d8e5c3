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
use crate::operation::{About, Answer, Operation, Permit, VERB_AND_TOOL, View};
use crate::session::position::LogPosition;
use crate::views::TurnView;

/// The most turns of one answer.
const MOST: u32 = 1_000;
/// How much text an answer has unless asked otherwise, and at most.
const BYTES: u32 = 64 << 10;
const MOST_BYTES: u32 = 1 << 20;

/// The operation `logs`.
pub struct Logs;

/// What `logs` takes.
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
    /// At most this many bytes of text, by default 64 KiB, or 1 MiB with `last`; never more than 1 MiB. One turn is always part of the answer, cut if necessary.
    pub max_bytes: Option<u32>,
    /// Where the last answer ended: its `next`.
    pub after: Option<String>,
}

/// A part of what sessions printed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Turns {
    /// In the order in which they were printed.
    pub turns: Vec<TurnView>,
    /// Pass it as `after` to get the turns that follow, also those that are not printed yet.
    pub next: String,
    /// Whether nothing follows now. More may come until the task is finished.
    pub at_end: bool,
}

impl View for Turns {
    const KIND: &'static str = "turns";
}

impl Operation for Logs {
    const ABOUT: About = About::new("logs", "Read what the sessions of a task printed", Action::Read, VERB_AND_TOOL)
        .route("/tasks/{task}/logs");
    type Input = LogsInput;
    type Output = Turns;

    async fn run(call: &Call, _: Permit, input: LogsInput) -> Result<Answer<Turns>, AppError> {
        let stored = lookup::find_executed(call, input.task.as_deref()).await?;
        let (output, until) = (Output::Turns, Until::Now);
        let interest = Interest { output, session: input.session, until, ..Interest::default() };
        let mut feed = Follow::new(call, stored, interest)?;
        if let Some(after) = &input.after {
            feed.continue_from(position(after)?);
        }
        let (mut part, mut next, mut at_end) = (Part::new(&input), feed.position(), false);
        while !at_end && let Some(item) = feed.next().await? {
            at_end = matches!(item, Item::Settled(_));
            if let Item::Turn(turn) = item
                && !part.take(turn)
            {
                break;
            }
            next = feed.position();
        }
        match input.session {
            Some(number) if part.turns.is_empty() && input.after.is_none() && input.last != Some(0) => {
                Err(AppError::new(ErrorKind::NotFound, format!("the task has no session {number}")))
            }
            Some(_) | None => {
                let notes = part.notes();
                Ok(Answer::new(Turns { turns: part.turns.into(), next: next.to_string(), at_end }).note(notes))
            }
        }
    }
}

fn position(text: &str) -> Result<LogPosition, AppError> {
    text.parse().map_err(|error| {
        AppError::new(ErrorKind::Usage, "cannot continue the log")
            .because(&error)
            .hint("pass the `next` of the last answer")
    })
}

/// The part of the turns that is wanted.
struct Part {
    turns: VecDeque<TurnView>,
    bytes: usize,
    /// How many of the last turns are wanted.
    last: Option<u32>,
    most: usize,
    most_bytes: usize,
    /// Whether a wanted turn was left out, and whether one was cut.
    left_out: bool,
    is_cut: bool,
}

impl Part {
    fn new(input: &LogsInput) -> Part {
        let most = input.last.or(input.limit.map(|limit| limit.max(1))).unwrap_or(MOST).min(MOST) as usize;
        let usual = if input.last.is_some() { MOST_BYTES } else { BYTES };
        let most_bytes = input.max_bytes.unwrap_or(usual).min(MOST_BYTES) as usize;
        let turns = VecDeque::new();
        Part { turns, bytes: 0, last: input.last, most, most_bytes, left_out: false, is_cut: false }
    }

    /// Whether there was room for the turn.
    fn take(&mut self, mut turn: TurnView) -> bool {
        let end = turn.text.floor_char_boundary(self.most_bytes);
        if self.last.is_none() && !self.has_room(end) {
            return false;
        }
        self.is_cut |= end < turn.text.len();
        turn.text.truncate(end);
        while !self.has_room(end)
            && let Some(oldest) = self.turns.pop_front()
        {
            self.left_out |= Some(self.turns.len() + 1) < self.last.map(|last| last as usize);
            self.bytes -= oldest.text.len();
        }
        if self.most > 0 {
            self.bytes += end;
            self.turns.push_back(turn);
        }
        true
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.turns.len() < self.most && self.bytes + bytes <= self.most_bytes
    }

    /// What the answer lacks of what was asked for.
    fn notes(&self) -> Vec<String> {
        let (turns, bytes) = (self.turns.len(), self.most_bytes);
        let limit = format!("an answer has at most {MOST} turns and {bytes} bytes of text");
        let fewer = self.left_out.then(|| format!("only the last {turns} turns fit: {limit}"));
        let cut = self.is_cut.then(|| format!("the end of a turn is missing: {limit}"));
        fewer.into_iter().chain(cut).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::TurnRole;

    /// The texts of the part, and how many turns were refused.
    fn part(input: &LogsInput, texts: &[&str]) -> (Part, Vec<String>, usize) {
        let mut part = Part::new(input);
        let turn = |text: &&str| TurnView {
            session: 1,
            at: None,
            role: TurnRole::Output,
            text: (*text).to_owned(),
            tool: None,
        };
        let taken = texts.iter().take_while(|text| part.take(turn(text))).count();
        let shown = part.turns.iter().map(|turn| turn.text.clone()).collect();
        (part, shown, texts.len() - taken)
    }

    #[test]
    fn a_page_ends_before_the_turn_that_has_no_room() {
        let all = ["a", "bb", "ccc", "d"];
        let page = LogsInput { max_bytes: Some(3), ..LogsInput::default() };
        assert_eq!((&part(&page, &all).1[..], part(&page, &all).2), (&["a".to_owned(), "bb".to_owned()][..], 2));
        assert_eq!((&part(&page, &all[2..]).1[..], part(&page, &all[2..]).2), (&["ccc".to_owned()][..], 1));
        let two = LogsInput { limit: Some(2), ..LogsInput::default() };
        assert_eq!((part(&two, &all).1.len(), part(&two, &all).2), (2, 2));
    }

    #[test]
    fn the_last_turns_stay_within_the_bytes_and_what_is_missing_is_noted() {
        let last = |last, bytes, texts: &[&str]| {
            let input = LogsInput { last: Some(last), max_bytes: Some(bytes), ..LogsInput::default() };
            let (part, shown, _) = part(&input, texts);
            (shown.concat(), part.left_out, part.is_cut)
        };
        assert_eq!(last(2, 100, &["a", "b", "c"]), ("bc".to_owned(), false, false));
        assert_eq!(last(3, 2, &["a", "b", "c"]), ("bc".to_owned(), true, false));
        assert_eq!(last(3, 2, &["a", "ééé"]), ("é".to_owned(), true, true));
        assert_eq!(last(0, 3, &["a"]), (String::new(), false, false));
        assert_eq!(last(2_000, 9_999, &["x"; 1_001]), ("x".repeat(1_000), true, false));
    }
}

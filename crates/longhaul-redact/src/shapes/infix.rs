//! Tokens that only something in their middle tells: Discord's two dots, Telegram's colon, Azure's `Q~`, Terraform's word.
//!
//! Their beginning may arrive long before; the stream holds whole words back, so it is still there.

use super::charset::{ALNUM, DOTTED, URL_SAFE};
use super::literals::Hit;
use super::run::{Lengths, Run};
use super::text::{Reading, Text};
use crate::find::Mask;

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Infix {
    Azure,
    Discord,
    Telegram,
    Terraform,
}

/// How far back a token may begin.
const LONGEST_BEGINNING: usize = 64;

impl Infix {
    /// What a dot or a colon at `at` may be the middle of; most are dismissed by the byte before.
    pub(super) fn around(bytes: &[u8], at: usize) -> Option<Infix> {
        let before = &bytes[at.saturating_sub(8)..at];
        let is_whole = before.len() == 8;
        match bytes[at] {
            b':' if is_whole && before.iter().rev().all(u8::is_ascii_digit) => Some(Infix::Telegram),
            // Its middle has six characters and a dot behind.
            b'.' if is_whole
                && bytes.get(at + 7).is_none_or(|byte| *byte == b'.')
                && before.iter().all(|byte| URL_SAFE.has(*byte)) =>
            {
                Some(Infix::Discord)
            }
            _ => None,
        }
    }

    /// How long the part behind is.
    fn lengths(self) -> Lengths {
        match self {
            Infix::Azure => Lengths { least: 24, usual: 34 },
            Infix::Discord => Lengths { least: 25, usual: 27 },
            Infix::Telegram => Lengths { least: 33, usual: 35 },
            Infix::Terraform => Lengths { least: 8, usual: 67 },
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Infix::Azure => "azure-client-secret",
            Infix::Discord => "discord-token",
            Infix::Telegram => "telegram-token",
            Infix::Terraform => "terraform-token",
        }
    }
}

pub(super) fn read(text: &Text<'_>, hit: Hit, infix: Infix, masks: &mut Vec<Mask>) -> Reading {
    match infix {
        Infix::Azure => {
            let start = hit.start.saturating_sub(3).max(text.run_back(hit.start, DOTTED, 3));
            with_end(text, start, hit.end, infix, masks, |length| hit.start - start >= 2 && length >= 24)
        }
        Infix::Discord => read_discord(text, hit, masks),
        Infix::Telegram => {
            let digits = text.bytes[..hit.start].iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
            let (start, is_id) = (hit.start - digits, digits <= 10);
            with_end(text, start, hit.end, infix, masks, |length| is_id && length >= 33)
        }
        Infix::Terraform => {
            let start = text.run_back(hit.start, ALNUM, LONGEST_BEGINNING);
            with_end(text, start, hit.end, infix, masks, |length| hit.start - start >= 10 && length >= 8)
        }
    }
}

/// Masks from `start` to the end of the run at `run_start` when the run is as it must be.
fn with_end(
    text: &Text<'_>,
    start: usize,
    run_start: usize,
    infix: Infix,
    masks: &mut Vec<Mask>,
    is_right: impl Fn(usize) -> bool,
) -> Reading {
    let run = Run::of(text, run_start..run_start, URL_SAFE, infix.lengths());
    if run.is_open() {
        return Reading::Open { from: start };
    }
    if is_right(run.characters.len()) {
        let end = run.end;
        masks.push(Mask::shape(start, end, infix.name()));
    }
    Reading::Decided
}

/// A user id, six characters and at least 27 more, joined by dots.
fn read_discord(text: &Text<'_>, hit: Hit, masks: &mut Vec<Mask>) -> Reading {
    let start = text.run_back(hit.start, URL_SAFE, LONGEST_BEGINNING);
    if !(23..=32).contains(&(hit.start - start)) {
        return Reading::Decided;
    }
    let middle = text.run(hit.end, URL_SAFE);
    if text.is_open_at(middle) || (middle - hit.end == 6 && text.is_open_at(middle + 1)) {
        return Reading::Open { from: start };
    }
    if middle - hit.end != 6 || text.at(middle) != Some(b'.') {
        return Reading::Decided;
    }
    let is_drawn = text.bytes[start..hit.start].iter().any(u8::is_ascii_uppercase);
    with_end(text, start, middle + 1, Infix::Discord, masks, |length| is_drawn && length >= 25)
}

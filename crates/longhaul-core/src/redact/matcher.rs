//! One Aho-Corasick automaton over all forms of all secrets, stepped byte by byte.
//!
//! The redactor asks after each byte what ended here, and at the end of each write how much could still become a match.
//! Every match counts, overlapping ones too: of two secrets that overlap, masking only the first would show the rest.

use std::collections::{BTreeMap, HashMap};

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};

use super::forms::{Form, Reach};

/// A form together with the secret it belongs to.
pub(super) struct Pattern {
    pub(super) form: Form,
    pub(super) secret: usize,
}

/// A match that ends at the current position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) length: usize,
    pub(super) secret: usize,
    pub(super) reach: Reach,
}

/// The longest end of the text so far that some form begins with, but does not end with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) length: usize,
    pub(super) secret: usize,
}

/// Finds secrets; shared by all redactors of one set.
pub(super) struct Matcher {
    automaton: NFA,
    start: StateID,
    meanings: Vec<Meaning>,
    open: HashMap<StateID, SmallOpen>,
    /// Which four bytes some form begins with, as bits by their hash.
    beginnings: Box<[u64; 1 << 10]>,
    replacements: Vec<String>,
}

/// `Open` in half the memory: there is one for every state.
#[derive(Clone, Copy)]
struct SmallOpen {
    length: u32,
    secret: u32,
}

#[derive(Clone, Copy)]
struct Meaning {
    secret: usize,
    reach: Reach,
}

impl Matcher {
    pub(super) fn build(patterns: impl Iterator<Item = Pattern>, replacements: Vec<String>) -> Self {
        let mut distinct: BTreeMap<String, Meaning> = BTreeMap::new();
        for Pattern { form: Form { text, reach }, secret } in patterns {
            let known = distinct.entry(text).or_insert(Meaning { secret, reach });
            known.reach = known.reach.max(reach);
        }
        let texts: Vec<&str> = distinct.keys().map(String::as_str).collect();
        let automaton = NFA::builder()
            .match_kind(MatchKind::Standard)
            .prefilter(false)
            .build(&texts)
            .expect("the secrets of one process stay far below the automaton's two billion states");
        let start = automaton.start_state(Anchored::No).expect("the builder's default allows unanchored search");
        let meanings = distinct.values().copied().collect();
        let mut matcher =
            Self { automaton, start, meanings, open: HashMap::new(), beginnings: beginnings(&texts), replacements };
        matcher.note_open_states(&texts);
        matcher
    }

    pub(super) fn start(&self) -> StateID {
        self.start
    }

    pub(super) fn step(&self, state: StateID, byte: u8) -> StateID {
        self.automaton.next_state(Anchored::No, state, byte)
    }

    /// How many bytes of `text` can be passed over because no form begins among them; only from the state `start`.
    pub(super) fn next_beginning(&self, text: &[u8]) -> usize {
        let may_begin = |window: &[u8]| {
            let hash = hash(window);
            self.beginnings[hash >> 6] & (1 << (hash & 63)) != 0
        };
        // The last three bytes may be the beginning of a beginning.
        text.windows(4).position(may_begin).unwrap_or(text.len().saturating_sub(3))
    }

    pub(super) fn longest_match(&self, state: StateID) -> Option<Found> {
        if !self.automaton.is_match(state) {
            return None;
        }
        let ended = (0..self.automaton.match_len(state)).map(|index| self.automaton.match_pattern(state, index));
        let longest = ended.max_by_key(|pattern| self.automaton.pattern_len(*pattern))?;
        let Meaning { secret, reach } = self.meanings[longest.as_usize()];
        Some(Found { length: self.automaton.pattern_len(longest), secret, reach })
    }

    pub(super) fn open_candidate(&self, state: StateID) -> Option<Open> {
        self.open.get(&state).map(|open| Open { length: open.length as usize, secret: open.secret as usize })
    }

    pub(super) fn replacement(&self, secret: usize) -> &str {
        &self.replacements[secret]
    }

    /// Remembers for each state how long its open candidate is. After the first n bytes of a form the automaton stands in
    /// the state of exactly these n bytes, so walking every form visits every state.
    fn note_open_states(&mut self, texts: &[&str]) {
        let mut complete = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            let secret =
                u32::try_from(self.meanings[index].secret).expect("there are fewer secrets than bytes in memory");
            let (last, proper) = text.as_bytes().split_last().expect("forms have at least 8 bytes");
            let mut state = self.start;
            for (length, byte) in (1..).zip(proper) {
                state = self.step(state, *byte);
                self.open.entry(state).or_insert(SmallOpen { length, secret });
            }
            complete.push((text, self.step(state, *last)));
        }
        // A finished form that no longer form goes on from is still open in the sense of its own ends; shorter forms
        // first, because those ends may be finished forms themselves.
        complete.sort_by_key(|(text, _)| text.len());
        for (text, state) in complete {
            if !self.open.contains_key(&state) {
                let end = text.bytes().skip(1).fold(self.start, |state, byte| self.step(state, byte));
                if let Some(open) = self.open.get(&end).copied() {
                    self.open.insert(state, open);
                }
            }
        }
    }
}

fn beginnings(texts: &[&str]) -> Box<[u64; 1 << 10]> {
    let mut beginnings = Box::new([0; 1 << 10]);
    for text in texts {
        let hash = hash(text.as_bytes());
        beginnings[hash >> 6] |= 1 << (hash & 63);
    }
    beginnings
}

/// Of the first four bytes; forms have at least eight.
fn hash(text: &[u8]) -> usize {
    let first = u32::from_le_bytes([text[0], text[1], text[2], text[3]]);
    (first.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

//! What a caller was given: a set of rights. Front ends make it, and `permit_with` asks it; nothing stores it.
//! Scopes say who somebody is, rights say what that caller was given on top. Both must allow an action.

use std::fmt;
use std::str::FromStr;

/// What an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// See tasks.
    Read,
    /// Start and steer tasks.
    Run,
    /// Decide what a person should decide: change the terms of a task.
    Approve,
    /// Change the home and what is trusted.
    Admin,
}

spelled!(Right: Read = "read", Run = "run", Approve = "approve", Admin = "admin");

impl Right {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of rights. `run` and `approve` each include `read`, `admin` includes everything, and the empty set nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rights(u8);

impl Rights {
    /// No right.
    pub const NONE: Rights = Rights(0);
    /// Every right.
    pub const ALL: Rights = Rights(Right::Admin.bit());

    /// This set and one more right.
    #[must_use]
    pub const fn with(self, right: Right) -> Rights {
        Rights(self.0 | right.bit())
    }

    /// The rights of both sets.
    #[must_use]
    pub const fn and(self, other: Rights) -> Rights {
        Rights(self.0 | other.0)
    }

    /// Whether the set has this right, by itself or because another includes it.
    pub const fn include(self, right: Right) -> bool {
        match right {
            Right::Read => self.0 != 0,
            Right::Run | Right::Approve | Right::Admin => self.0 & (right.bit() | Right::Admin.bit()) != 0,
        }
    }
}

/// The list with `,` as [`FromStr`] reads it.
impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Right::ALL.into_iter().filter(|right| self.include(*right)).map(Right::word).collect();
        f.write_str(&names.join(","))
    }
}

/// A word that is no right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no right `{word}`; the rights are read, run, approve and admin")]
pub struct UnknownRight {
    /// The word.
    pub word: String,
}

impl FromStr for Rights {
    type Err = UnknownRight;

    /// Reads names separated by `,`; `write` means `run`, and an empty text is the empty set.
    fn from_str(text: &str) -> Result<Rights, UnknownRight> {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.map(|word| if word == "write" { "run" } else { word }).try_fold(Rights::NONE, |rights, word| {
            Ok(rights.with(Right::from_word(word).ok_or_else(|| UnknownRight { word: word.to_owned() })?))
        })
    }
}

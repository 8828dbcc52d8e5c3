//! Names of tasks: generated from a description, made unique, or given by a person and checked.
//!
//! A name becomes a directory and a branch, so that a `TaskName` is always safe as one path part. Whether a name is taken is
//! asked elsewhere; nothing here looks at a disk or a clock.

use std::fmt;

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

/// The directory of a workspace that holds its task directories, as the existing shell runner names it.
pub const STATE_DIR: &str = ".autonomous";

/// The rule for names in one sentence, as the help prints it.
pub const RULE: &str = "a task name has 1 to 100 letters, digits, dots, underscores and hyphens (ASCII), begins with a \
                        letter, a digit or an underscore, and contains no `..`";

/// Longest generated name.
const LONGEST_GENERATED: usize = 30;

/// Longest readable name: a number still fits behind it.
const LONGEST_READABLE: usize = 26;

const LONGEST_GIVEN: usize = 100;

/// A name that is safe as a directory and as a part of a branch name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskName(String);

/// Why a text is not a task name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BadName {
    #[error("task name is empty")]
    Empty,
    #[error("task name `{}` begins with a hyphen", name.escape_debug())]
    LeadingHyphen { name: String },
    #[error("task name `{}` begins with a dot", name.escape_debug())]
    LeadingDot { name: String },
    #[error("task name `{}` contains `{part}`", name.escape_debug())]
    Path { name: String, part: &'static str },
    #[error("task name `{}` contains `{}`", name.escape_debug(), character.escape_default())]
    Character { name: String, character: char },
    #[error("task name has {length} characters, more than {LONGEST_GIVEN}")]
    TooLong { length: usize },
}

impl TaskName {
    /// Takes a name that follows the rule.
    pub fn new(name: &str) -> Result<Self, BadName> {
        let owned = || name.to_owned();
        let Some(first) = name.chars().next() else { return Err(BadName::Empty) };
        match first {
            '-' => return Err(BadName::LeadingHyphen { name: owned() }),
            '.' => return Err(BadName::LeadingDot { name: owned() }),
            _ => {}
        }
        if let Some(part) = ["..", "/", "\\"].into_iter().find(|part| name.contains(part)) {
            return Err(BadName::Path { name: owned(), part });
        }
        if let Some(character) = name.chars().find(|c| !c.is_ascii_alphanumeric() && !"._-".contains(*c)) {
            return Err(BadName::Character { name: owned(), character });
        }
        if name.len() > LONGEST_GIVEN {
            return Err(BadName::TooLong { length: name.len() });
        }
        Ok(Self(owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl AsRef<str> for TaskName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TaskName {
    type Error = BadName;

    fn try_from(name: String) -> Result<Self, BadName> {
        Self::new(&name)
    }
}

impl From<TaskName> for String {
    fn from(name: TaskName) -> Self {
        name.0
    }
}

/// Makes a name from a description; nothing when no letter or digit of ASCII is in its beginning.
pub fn slug(description: &str) -> Option<String> {
    let mut slug = String::with_capacity(LONGEST_GENERATED);
    for c in description.chars() {
        let c = if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        if c != '-' || !slug.ends_with('-') {
            slug.push(c);
        }
        // The cut comes before the trimming below, as in the shell runner: a leading separator costs a character.
        if slug.len() == LONGEST_GENERATED {
            break;
        }
    }
    let slug = slug.strip_prefix('-').unwrap_or(&slug);
    let slug = slug.strip_suffix('-').unwrap_or(slug);
    if slug.is_empty() { None } else { Some(slug.to_owned()) }
}

/// A readable name from a text in ASCII: whole words, as many as fit; the first one is cut if even that does not. Nothing without a letter
/// or digit.
pub fn readable(text: &str) -> Option<String> {
    let mut name = String::new();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    for word in words.map(str::to_ascii_lowercase) {
        let length = name.len() + usize::from(!name.is_empty()) + word.len();
        match (name.is_empty(), length <= LONGEST_READABLE) {
            (true, _) => name.push_str(&word[..word.floor_char_boundary(LONGEST_READABLE)]),
            (false, true) => name.extend(["-", &word]),
            (false, false) => break,
        }
    }
    if name.is_empty() { None } else { Some(name) }
}

/// The name of a task whose description gives none: `task-YYYYMMDD-HHMMSS` in local time.
pub fn fallback(local: DateTime) -> String {
    local.strftime("task-%Y%m%d-%H%M%S").to_string()
}

/// `base-n`, with the base shortened so that the whole has at most 30 characters.
pub fn with_suffix(base: &str, n: u32) -> String {
    let suffix = format!("-{n}");
    let kept = base.floor_char_boundary(LONGEST_GENERATED - suffix.len());
    format!("{}{suffix}", base[..kept].trim_end_matches('-'))
}

/// `base-n` with the whole base, as far as a name may be long.
pub fn numbered(base: &str, n: u32) -> String {
    let suffix = format!("-{n}");
    let kept = base.floor_char_boundary(LONGEST_GIVEN - suffix.len());
    format!("{}{suffix}", &base[..kept])
}

/// The base itself, then `base-2`, `base-3` and so on, for the first one that is free.
pub fn candidates(base: String) -> impl Iterator<Item = String> {
    (1..).map(move |n| if n == 1 { base.clone() } else { with_suffix(&base, n) })
}

#[cfg(test)]
mod tests;

//! Some names of many, as views show them: the first few, and how many there are.
//! The words are those of the core.

use std::fmt;

use longhaul_core::task::NameList;
use schemars::JsonSchema;
use serde::Serialize;

/// Some names of many.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Names {
    /// The first few.
    pub first: Vec<String>,
    /// How many there are.
    pub total: usize,
    #[serde(skip)]
    words: String,
}

impl Names {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

impl From<&NameList> for Names {
    fn from(names: &NameList) -> Names {
        Names { first: names.first.clone(), total: names.total, words: names.to_string() }
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

//! Where a value came from: the layer, and the file and line, variable or flag to change.
//! Made by the layers; shown by `config show --origin` and in every message about an invalid value.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It is not set.
    Default,
    /// The user's own file.
    User { path: PathBuf, line: usize },
    /// The project's `longhaul.toml`.
    Workspace { path: PathBuf, line: usize },
    /// A variable of the environment.
    Environment { variable: String },
    /// A flag of this command.
    Flag { flag: &'static str },
}

impl Origin {
    /// The layer's name.
    pub fn layer(&self) -> &'static str {
        match self {
            Origin::Default => "default",
            Origin::User { .. } => "user",
            Origin::Workspace { .. } => "workspace",
            Origin::Environment { .. } => "environment",
            Origin::Flag { .. } => "flag",
        }
    }

    /// Layer and position as JSON.
    pub fn json(&self) -> Json {
        match self {
            Origin::Default => json!({ "layer": self.layer() }),
            Origin::User { path, line } | Origin::Workspace { path, line } => {
                json!({ "layer": self.layer(), "path": path.display().to_string(), "line": line })
            }
            Origin::Environment { variable } => json!({ "layer": self.layer(), "variable": variable }),
            Origin::Flag { flag } => json!({ "layer": self.layer(), "flag": flag }),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => write!(f, "default"),
            Origin::User { path, line } | Origin::Workspace { path, line } => {
                write!(f, "`{}` line {line}", path.display())
            }
            Origin::Environment { variable } => write!(f, "the variable `{variable}`"),
            Origin::Flag { flag } => write!(f, "the flag `{flag}`"),
        }
    }
}

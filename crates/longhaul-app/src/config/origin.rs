//! Where a value came from: the layer, and the file and line, variable or flag to change.
//! Made by the layers; shown by `config show --origin` and in every message about an invalid value.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "layer", rename_all = "snake_case")]
pub enum Origin {
    /// It is not set.
    Default,
    /// The user's own file.
    User {
        /// The file.
        #[serde(serialize_with = "lossy")]
        #[schemars(with = "String")]
        path: PathBuf,
        /// The line of the file, from 1.
        line: usize,
    },
    /// The project's `longhaul.toml`.
    Workspace {
        /// The file.
        #[serde(serialize_with = "lossy")]
        #[schemars(with = "String")]
        path: PathBuf,
        /// The line of the file, from 1.
        line: usize,
    },
    /// A variable of the environment.
    Environment {
        /// Its name.
        variable: String,
    },
    /// A flag of this command.
    Flag {
        /// Its name.
        flag: &'static str,
    },
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

/// A path may hold bytes that are no text.
fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

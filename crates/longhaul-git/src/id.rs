//! Ids of commits and trees as types of their own: hexadecimal, whole, and so never an option or a revision expression.
//! Made from what git prints or from what the caller stored; nothing here asks a repository.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a text is not the id of an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the full id of a git object", text.escape_debug())]
pub struct BadObjectId {
    text: String,
}

macro_rules! object_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The id as git prints it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadObjectId;

            fn from_str(text: &str) -> Result<Self, BadObjectId> {
                full_id(text).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadObjectId;

            fn try_from(text: String) -> Result<Self, BadObjectId> {
                full_id(&text).map(Self)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }
    };
}

object_id! {
    /// A commit.
    CommitId
}
object_id! {
    /// A tree: the content of all files at one moment.
    TreeId
}

fn full_id(text: &str) -> Result<String, BadObjectId> {
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let is_full = matches!(text.len(), 40 | 64) && text.chars().all(is_digit);
    if is_full { Ok(text.to_owned()) } else { Err(BadObjectId { text: text.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::CommitId;

    #[test]
    fn only_full_lower_case_ids_are_taken() {
        assert!("4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse::<CommitId>().is_ok());
        assert!("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321".parse::<CommitId>().is_ok());
        for bad in ["", "HEAD", "--all", "4b825dc", "4B825DC642CB6EB9A060E54BF8D69288FBEE4904", &"g".repeat(40)] {
            assert!(bad.parse::<CommitId>().is_err(), "{bad}");
        }
    }
}

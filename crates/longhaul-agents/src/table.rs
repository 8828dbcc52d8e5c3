//! Finding an agent by its name. The table itself is one line per agent in `lib.rs`.
//! An unknown name is an error that lists the known names, declared ones included.

use longhaul_core::edit_distance::distance;

use crate::AGENTS;
use crate::agent::Agent;
use crate::declared::BadDeclaration;

/// No usable agent has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownAgent {
    /// The name is unknown.
    #[error("unknown agent `{name}`; known: {}", known.join(", "))]
    Name {
        /// What was asked for.
        name: String,
        /// What there is, nearest first.
        known: Vec<String>,
    },
    /// It was declared in a way that this version cannot read.
    #[error("the declaration of agent `{name}` is invalid: {why}")]
    Unreadable {
        /// Which.
        name: String,
        /// What is wrong with it.
        #[source]
        why: Box<BadDeclaration>,
    },
}

pub(crate) fn find(agents: &'static [&'static dyn Agent], name: &str) -> Result<&'static dyn Agent, UnknownAgent> {
    let found = agents.iter().copied().find(|agent| agent.about().name == name);
    found.ok_or_else(|| unknown(name, std::iter::empty()))
}

/// The error with all known names, declared ones included.
pub(crate) fn unknown<'a>(name: &str, declared: impl Iterator<Item = &'a str>) -> UnknownAgent {
    let mut known: Vec<String> = AGENTS.iter().map(|agent| agent.about().name.to_string()).collect();
    known.extend(declared.map(str::to_owned));
    known.sort_by_key(|candidate| distance(candidate, name));
    UnknownAgent::Name { name: name.to_owned(), known }
}

#[cfg(test)]
mod tests {
    use super::{UnknownAgent, unknown};

    #[test]
    fn the_nearest_name_comes_first() {
        for (written, meant) in [("cdex", "codex"), ("cluade", "claude"), ("open-code", "opencode"), ("mime", "mine")] {
            let UnknownAgent::Name { known, .. } = unknown(written, ["mine"].into_iter()) else { panic!("{written}") };
            assert_eq!(known[0], meant, "{written}: {known:?}");
        }
    }
}

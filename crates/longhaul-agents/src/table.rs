//! Finding an agent by its name. The table itself is one line per agent in `lib.rs`.
//! It knows which names there are, declared ones too, and says so when one is unknown.

use longhaul_core::edit_distance::distance;

use crate::AGENTS;
use crate::agent::Agent;
use crate::declared::BadDeclaration;

/// There is no agent of this name that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownAgent {
    /// Nobody knows the name.
    #[error("there is no agent `{name}`; known: {}", known.join(", "))]
    Name {
        /// What was asked for.
        name: String,
        /// What there is, nearest first.
        known: Vec<String>,
    },
    /// It was declared in a way that this version cannot read.
    #[error("the agent `{name}` is declared in a way that cannot be used: {why}")]
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

/// Says which names there are, with those that were declared.
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

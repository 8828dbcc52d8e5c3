//! How an agent's own interface is started for a person, as data: made by the agent's file, carried out by `longhaul takeover`.
//! Nothing here starts anything.

/// The program's own interface, in a conversation that is there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interactive {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Fixed settings that are no secrets.
    pub env_set: Vec<(String, String)>,
}

impl Interactive {
    /// A start with nothing set.
    pub(crate) fn new(argv: Vec<String>) -> Interactive {
        Interactive { argv, env_set: Vec::new() }
    }

    /// The same with a variable set.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Interactive {
        self.env_set.push((name.to_owned(), value.to_owned()));
        self
    }
}

#[cfg(test)]
mod tests;

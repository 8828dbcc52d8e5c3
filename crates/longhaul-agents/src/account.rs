//! Which account an agent works with, as far as its environment shows: a usage limit belongs to it and is shared by all tasks that use it.
//! Made of the agent's name, the model that was asked for, the directories that hold its login, and the names of its other variables that are
//! set. Never of a key, not even a digest: two keys under one name count as one account.

use std::ffi::OsString;

use crate::chosen::Chosen;

/// The account, in words that people can read. The variables are those the agent will see.
pub fn account(agent: &Chosen, model: Option<&str>, variable: &dyn Fn(&str) -> Option<OsString>) -> String {
    let about = agent.about();
    let chosen = model.map(|model| format!("model {model}"));
    let set = about.env.iter().filter_map(|name| {
        let value = variable(name)?;
        Some(if is_directory(name) { format!("{name}={}", value.to_string_lossy()) } else { name.to_string() })
    });
    std::iter::once(about.name.to_string()).chain(chosen).chain(set).collect::<Vec<_>>().join(", ")
}

/// Whether the variable of this name holds a place, which is no secret.
fn is_directory(name: &str) -> bool {
    name.ends_with("_HOME") || name.ends_with("_DIR")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::choose;

    fn of(agent: &str, model: Option<&str>, set: &[(&str, &str)]) -> String {
        let agent = choose(agent, &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}"));
        let variable = |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, value)| OsString::from(value));
        account(&agent, model, &variable)
    }

    #[test]
    fn an_account_is_told_by_places_and_names_and_holds_no_key() {
        let subscription = [("CLAUDE_CONFIG_DIR", "/home/ann/.claude"), ("EDITOR", "vi")];
        assert_eq!(of("claude", None, &subscription), "claude, CLAUDE_CONFIG_DIR=/home/ann/.claude");
        assert_eq!(of("claude", None, &[]), "claude");
        assert_eq!(of("codex", Some("gpt-5.5"), &[("CODEX_HOME", "/c")]), "codex, model gpt-5.5, CODEX_HOME=/c");
        for agent in ["claude", "codex", "opencode", "pi", "gemini"] {
            let about = choose(agent, &BTreeMap::new()).unwrap_or_else(|error| panic!("{error}")).about().env.to_vec();
            let all: Vec<(&str, &str)> = about.iter().map(|name| (&**name, "sk-secret")).collect();
            let places = all.iter().filter(|(name, _)| is_directory(name)).count();
            assert_eq!(of(agent, None, &all).matches("sk-secret").count(), places, "{agent}");
        }
        assert!(of("claude", None, &[("ANTHROPIC_API_KEY", "k")]).ends_with("ANTHROPIC_API_KEY"), "the control");
    }
}

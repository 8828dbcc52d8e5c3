//! The reference page of the agents, written from their table. Only a test uses it, which fails when the page is stale;
//! `UPDATE_DOCS=1` writes it.

use longhaul_agents::{AGENTS, About, BUILT_IN_KEYS, Cost, Ids, Login, Mode};

const INTRO: &str = "# Agents

Written by a test from the table of agents (`UPDATE_DOCS=1 cargo test -p longhaul`).

`longhaul agents` shows which of them are found here, in which version, and whether they are logged in. What a person declares in
`[agents.<name>]` is described in [the configuration](config.md) and in [the guide](../guide/custom-agents.md).
";

fn page() -> String {
    let rows: String = AGENTS.iter().map(|agent| row(agent.about())).collect();
    let table =
        format!("\n| agent | program | conversations | known versions | login |\n|---|---|---|---|---|\n{rows}");
    let sections: String = AGENTS.iter().map(|agent| section(agent.about())).collect();
    [INTRO.to_owned(), table, sections, custom()].concat()
}

fn row(about: &About) -> String {
    let program = about.program.as_deref().map_or_else(|| "built in".to_owned(), |program| format!("`{program}`"));
    let known = if about.version.known.is_empty() { "-".to_owned() } else { about.version.known.join(", ") };
    format!("| `{}` | {program} | {} | {known} | {} |\n", about.name, ids(about.ids), login(about))
}

fn ids(ids: Ids) -> &'static str {
    match ids {
        Ids::Preset => "resumed by an id that Longhaul chooses",
        Ids::Captured => "resumed by the id that the program tells",
        Ids::None => "none: every session starts afresh",
    }
}

fn login(about: &About) -> String {
    match about.login {
        Login::NotNeeded => "not needed".to_owned(),
        Login::Command(arguments) => {
            format!("told by `{} {}`", about.program.as_deref().unwrap_or_default(), arguments.join(" "))
        }
        Login::Unknown => "unknown until a session; a variable with a key is told".to_owned(),
    }
}

fn section(about: &About) -> String {
    let modes =
        [("read-only", &about.modes.read_only), ("workspace", &about.modes.workspace), ("full", &about.modes.full)];
    let modes: String = modes.iter().map(|(name, mode)| mode_line(name, mode)).collect();
    let env: Vec<String> = about.env.iter().map(|name| format!("`{name}`")).collect();
    let cost = match about.cost {
        Cost::Told => "told",
        Cost::Unknown => "not told, so `--max-cost` cannot stop it",
    };
    let env = if env.is_empty() { "none".to_owned() } else { env.join(", ") };
    format!(
        "\n## `{}`\n\n{}.\n\n{modes}- network: {}\n- cost of a session: {cost}\n- variables it takes its login and configuration from: {env}\n",
        about.name,
        sentence(&about.summary),
        about.modes.network
    )
}

fn mode_line(name: &str, mode: &Mode) -> String {
    let warning = mode.warning.as_ref().map_or_else(String::new, |warning| format!(" **Warning: {warning}.**"));
    format!("- `--sandbox {name}`: {}.{warning}\n", mode.means)
}

fn custom() -> String {
    let keys: Vec<String> = BUILT_IN_KEYS.iter().map(|key| format!("`{}`", key.name)).collect();
    format!(
        "\nOf a built-in agent `[agents.<name>]` changes {}; a table of any other name declares an agent.\n",
        keys.join(", ")
    )
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[test]
fn the_page_of_agents_is_fresh() {
    let path = format!("{}/../../docs/reference/agents.md", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, page()).expect("docs/reference exists");
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), page());
}

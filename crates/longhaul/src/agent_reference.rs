//! Generates the reference page of the agents from their table.
//! Only a test uses it; the test fails if the page is stale, and `UPDATE_DOCS=1` rewrites the page.

use longhaul_agents::{AGENTS, About, BUILT_IN_KEYS, Cost, Ids, Login, Mode};

const INTRO: &str = "# Agents

A test generates this page from the table of agents (`UPDATE_DOCS=1 cargo test -p longhaul`).

`longhaul agents` shows which agents are installed, their versions, and whether they are logged in. To change an agent or declare your
own with `[agents.<name>]`, see [the configuration](config.md) and [the guide](../guide/custom-agents.md).
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
        Ids::Captured => "resumed by the id that the program reports",
        Ids::None => "not resumed: every session starts a new one",
    }
}

fn login(about: &About) -> String {
    match about.login {
        Login::NotNeeded => "not needed".to_owned(),
        Login::Command(arguments) => {
            format!("checked with `{} {}`", about.program.as_deref().unwrap_or_default(), arguments.join(" "))
        }
        Login::Unknown => "unknown before the first session; Longhaul shows if a key variable is set".to_owned(),
    }
}

fn section(about: &About) -> String {
    let modes =
        [("read-only", &about.modes.read_only), ("workspace", &about.modes.workspace), ("full", &about.modes.full)];
    let modes: String = modes.iter().map(|(name, mode)| mode_line(name, mode)).collect();
    let env: Vec<String> = about.env.iter().map(|name| format!("`{name}`")).collect();
    let cost = match about.cost {
        Cost::Told => "reported",
        Cost::Unknown => "not reported, so `--max-cost` cannot stop it",
    };
    let env = if env.is_empty() { "none".to_owned() } else { env.join(", ") };
    format!(
        "\n## `{}`\n\n{}.\n\n{modes}- network: {}\n- cost of a session: {cost}\n- variables for its login and configuration: {env}\n",
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
        "\nFor a built-in agent, `[agents.<name>]` can set {}. A table with any other name declares a custom agent.\n",
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

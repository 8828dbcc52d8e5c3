//! Tests: tables of agents are read with their places, put together layer by layer, and each mistake is told with file, line and key.
//! What the keys mean is tested where they are read, in the agents' crate.

use serde_json::json;

use super::World;

const MINE: &str = "[agents.mine]\nargv = ['tool', '--json']\nsilence = '5m'\n";

#[test]
fn a_declared_agent_can_be_chosen_everywhere() {
    let loaded = World::new().user(&format!("agent = 'mine'\nfallbacks = ['demo', 'mine']\n{MINE}")).load().unwrap();
    assert_eq!(loaded.settings.agent.as_deref(), Some("mine"));
    assert_eq!(loaded.settings.agents["mine"], json!({ "argv": ["tool", "--json"], "silence": "5m" }));
    let loaded = World::new().user(MINE).var("LONGHAUL_AGENT", "mine").load().unwrap();
    assert_eq!(loaded.settings.agent.as_deref(), Some("mine"));
}

#[test]
fn a_name_that_nobody_declared_is_told_with_those_there_are() {
    let error = World::new().user(&format!("{MINE}[limits]\nattempts = 3\n")).var("LONGHAUL_AGENT", "mime").error();
    assert!(error.contains("`LONGHAUL_AGENT`") && error.contains("`mime`") && error.contains("`mine`"), "{error}");
    let error = World::new().user("\nfallbacks = ['nobody']").error();
    assert!(error.contains("line 2") && error.contains("`nobody`") && error.contains("`demo`"), "{error}");
}

#[test]
fn later_layers_win_key_by_key_and_each_keeps_its_place() {
    let world =
        World::new().user(MINE).trusted("\n[agents.mine]\nsilence = '1h'\n[agents.codex]\nprogram = '/opt/codex'\n");
    let loaded = world.load().unwrap();
    assert_eq!(loaded.settings.agents["mine"], json!({ "argv": ["tool", "--json"], "silence": "1h" }));
    assert_eq!(loaded.settings.agents["codex"], json!({ "program": "/opt/codex" }));
    let written = loaded.agents["mine"].written();
    let lines: Vec<String> =
        written.iter().map(|(key, value, entry)| format!("{key} = {value} # {}", entry.origin)).collect();
    assert!(lines[0].starts_with("agents.mine.argv = [\"tool\", \"--json\"] # "), "{lines:?}");
    assert!(lines[0].ends_with("config.toml` line 2") && lines[1].ends_with("longhaul.toml` line 3"), "{lines:?}");
}

#[test]
fn an_untrusted_file_declares_nothing_and_that_is_told() {
    let world = World::new().user(MINE).workspace("[agents.mine]\nargv = ['evil']\n[agents.new]\nargv = ['evil']\n");
    let loaded = world.load().unwrap();
    assert_eq!(loaded.settings.agents.len(), 1);
    assert_eq!(loaded.settings.agents["mine"]["argv"], json!(["tool", "--json"]));
    let notice = loaded.notices[0].to_string();
    assert!(notice.contains("agents.mine, agents.new"), "{notice}");
    assert!(World::new().user(MINE).workspace(MINE).load().unwrap().notices.is_empty(), "it is so anyway");
    let error = World::new().workspace("[agents.new]\nargv = ['evil']").var("LONGHAUL_AGENT", "new").error();
    assert!(error.contains("`new`"), "{error}");
}

#[test]
fn every_mistake_is_told_with_file_line_and_key() {
    for (text, line, words) in [
        ("agents = 3", 1, "`agents` cannot be integer; it takes a table"),
        ("[agents]\nmine = 3", 2, "`[agents.mine]`"),
        ("[agents.mine]\n", 1, "`argv` is missing"),
        ("[agents.mine]\nargv = 'x --json'", 2, "`argv` cannot be `x --json`"),
        ("[agents.mine]\nargv = ['x']\nargs = ['y']", 3, "unknown key `agents.mine.args`; did you mean `argv`?"),
        ("[agents.mine]\nargv = ['x']\nresumes = []", 3, "did you mean `resume`?"),
        (
            "[agents.codex]\n\nargv = ['x']",
            3,
            "the built-in agent `codex` takes only `program`, `arguments`, `silence`, `wall`",
        ),
        ("[agents.codx]\nprogram = '/x'", 2, "did you mean the agent `codex`?"),
        ("[agents.codex]\nsilence = 5", 2, "`90s`"),
        ("[agents.'a b']\nargv = ['x']", 1, "contains ` `"),
        ("[agents.none]\nargv = ['x']", 1, "`none` means no agent"),
        ("[agents.mine]\nargv = ['x']\nstop = 1979-05-27", 3, "`stop`"),
        ("[agents.mine]\nargv = ['x']\ndone = { when = { '/a' = 1.5 } }", 3, "`/a`"),
        ("[agents.mine]\nargv = ['x', '{modle}']", 2, "`{model}`"),
    ] {
        let error = World::new().user(text).error();
        assert!(error.contains(&format!("config.toml` line {line}:")), "{text}: {error}");
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn what_is_shown_is_a_file_that_means_the_same() {
    let text = r#"
        [agents."a.b"]
        argv = ["tool", ["--model", "{model}"], "it's \"quoted\""]
        set = { A = "b", C_D = "e" }
        done = [{ when = { "/type" = "end", "/n" = 3, "/ok" = true } }, "/over"]
        errors = [{ contains = "rate limit", class = "limited" }]
        cumulative = true
    "#;
    let loaded = World::new().user(text).load().unwrap();
    let shown: String =
        loaded.agents["a.b"].written().iter().map(|(key, value, _)| format!("{key} = {value}\n")).collect();
    assert_eq!(World::new().user(&shown).load().unwrap().settings, loaded.settings, "{shown}");
}

//! `longhaul mcp install` with the real programs: what they read afterwards, and what stays as it was.

use std::path::PathBuf;

use longhaul_scripted_model::{Agent, Reply, Turn};
use serde_json::{Value, json};

use super::world::World;

const CLIENTS: [Agent; 3] = [Agent::Claude, Agent::Codex, Agent::OpenCode];
/// OpenCode writes it into each configuration that it reads without it.
const OPENCODE_SCHEMA: &str = "https://opencode.ai/config.json";
const GUIDE: &str = include_str!("../../../../../docs/guide/mcp.md");

fn world(agent: Agent) -> World {
    World::new(agent, |_: &Turn| Reply::text("ok"))
}

/// The configuration that `install` changes, and a line of a person's in it.
fn file(world: &World, agent: Agent) -> (PathBuf, &'static str) {
    let home = world.env.path().join("agents");
    match agent {
        Agent::Claude => (home.join(".claude/.claude.json"), "\"command\": \"other\""),
        Agent::Codex => (home.join(".codex/config.toml"), "command = \"other\" # my own"),
        Agent::OpenCode => (home.join(".config/opencode/opencode.jsonc"), "// my own\n  \"username\": \"me\""),
        Agent::Pi | Agent::Gemini => unreachable!("no client of ours"),
    }
}

pub(super) fn read(world: &World, agent: Agent) -> String {
    std::fs::read_to_string(file(world, agent).0).unwrap_or_default()
}

fn write(world: &World, agent: Agent, text: &str) {
    std::fs::write(file(world, agent).0, text).unwrap();
}

/// Adds the person's own line.
fn personalise(world: &World, agent: Agent) {
    let before = read(world, agent);
    let (_, own) = file(world, agent);
    match agent {
        Agent::Claude => write(world, agent, &format!("{{\"mcpServers\": {{\"other\": {{{own}}}}}}}")),
        Agent::Codex => write(world, agent, &format!("{before}\n[mcp_servers.other]\n{own}\n")),
        _ => write(world, agent, &format!("{{\n  \"$schema\": \"{OPENCODE_SCHEMA}\",\n  {own}\n}}\n")),
    }
}

/// What the client itself lists.
fn listed(world: &World, agent: Agent) -> String {
    let done = world.agent(agent, &["mcp", "list"], "");
    assert_eq!(done.code, 0, "{}", done.stderr);
    done.stdout + &done.stderr
}

#[test]
fn a_client_gets_the_server_once_and_keeps_everything_else() {
    for agent in CLIENTS {
        let world = world(agent);
        personalise(&world, agent);
        let before = read(&world, agent);
        let planned = world.install(agent, &["--dry-run"]);
        assert!(planned.code == 0 && planned.stdout.contains("would "), "{}", planned.stderr);
        assert_eq!(read(&world, agent), before, "{planned}: a dry run changes nothing", planned = planned.stdout);
        assert!(!listed(&world, agent).contains("longhaul"), "the control");

        let installed = world.install(agent, &[]);
        assert_eq!(installed.code, 0, "{}", installed.stderr);
        let after = read(&world, agent);
        assert!(after.contains(file(&world, agent).1), "{after}");
        let list = listed(&world, agent);
        let words = if agent == Agent::Codex { "enabled" } else { "onnected" };
        let line = list.lines().find(|line| line.contains("longhaul")).unwrap_or_else(|| panic!("{list}"));
        assert!(line.contains(words), "{list}");

        let written = read(&world, agent);
        let again = world.install(agent, &[]);
        assert!(again.stdout.contains("nothing was changed"), "{}{}", again.stdout, again.stderr);
        assert_eq!(read(&world, agent), written);
    }
}

#[test]
fn an_older_entry_is_updated_and_a_foreign_one_is_left_alone() {
    for agent in CLIENTS {
        let world = world(agent);
        for (program, is_ours) in [("/old/longhaul", true), ("/usr/bin/other", false)] {
            let text = match agent {
                Agent::Claude => {
                    json!({ "mcpServers": { "longhaul": { "command": program, "args": ["mcp"] } } }).to_string()
                }
                Agent::Codex => format!("[mcp_servers.longhaul]\ncommand = \"{program}\"\nargs = [\"mcp\"]\n"),
                _ => json!({ "$schema": OPENCODE_SCHEMA, "mcp": { "longhaul": { "type": "local", "command": [program, "mcp"] } } }).to_string(),
            };
            write(&world, agent, &text);
            let done = world.install(agent, &[]);
            let after = read(&world, agent);
            if is_ours {
                assert_eq!(done.code, 0, "{}", done.stderr);
                assert!(after.contains(env!("CARGO_BIN_EXE_longhaul")) && !after.contains(program), "{after}");
            } else {
                assert_eq!((done.code, &after), (8, &text), "{}", done.stderr);
                assert!(done.stderr.contains("another server called `longhaul`"), "{}", done.stderr);
            }
        }
    }
}

#[test]
fn a_configuration_that_cannot_be_read_is_left_alone() {
    for agent in CLIENTS {
        let world = world(agent);
        write(&world, agent, "{ [[[ // mine\n");
        let done = world.install(agent, &[]);
        assert!(done.code != 0 && done.stderr.contains("nothing was changed"), "{}", done.stderr);
        assert!(done.stderr.contains("hint: fix"), "{}", done.stderr);
        assert_eq!(read(&world, agent), "{ [[[ // mine\n");
    }
}

#[test]
fn codex_gets_names_of_variables_and_approval_only_when_asked() {
    let mut world = world(Agent::Codex);
    world.env.set("LONGHAUL_ENV_NEED", "ACME_TOKEN");
    world.env.set("ACME_TOKEN", "a-secret-value");
    assert_eq!(world.install(Agent::Codex, &[]).code, 0);
    let text = read(&world, Agent::Codex);
    assert!(!text.contains("a-secret-value") && !text.contains("default_tools_approval_mode"), "{text}");
    let got = world.agent(Agent::Codex, &["mcp", "get", "longhaul", "--json"], "");
    let transport = &serde_json::from_str::<Value>(&got.stdout).unwrap()["transport"];
    assert_eq!(transport["env"]["LONGHAUL_HOME"], world.env.home().to_str().unwrap(), "{transport}");
    // The last is named in codex's own configuration.
    let names: Vec<&str> = transport["env_vars"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len(), "each once: {names:?}");
    for name in ["ACME_TOKEN", "ANTHROPIC_API_KEY", "CODEX_HOME", "XDG_CONFIG_HOME", "SCRIPTED_KEY"] {
        assert!(names.contains(&name), "{name}: {transport}");
    }
    let text = text.replace("[mcp_servers.longhaul]\n", "[mcp_servers.longhaul]\ntool_timeout_sec = 70 # mine\n");
    write(&world, Agent::Codex, &text);
    let approved = world.install(Agent::Codex, &["--auto-approve"]);
    assert!(!approved.stderr.contains("codex asks you"), "{}", approved.stderr);
    let text = read(&world, Agent::Codex);
    for line in ["default_tools_approval_mode = \"approve\"", "tool_timeout_sec = 70 # mine"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let again = world.install(Agent::Codex, &[]);
    assert!(again.stdout.contains("nothing was changed"), "it is not taken back: {}", again.stdout);
    assert!(!again.stderr.contains("codex asks you"), "{}", again.stderr);
}

#[test]
fn a_file_behind_a_link_stays_there_with_its_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = world(Agent::Codex);
    let (path, _) = file(&world, Agent::Codex);
    let dotfiles = world.env.path().join("dotfiles.toml");
    std::fs::rename(&path, &dotfiles).unwrap();
    std::fs::set_permissions(&dotfiles, std::fs::Permissions::from_mode(0o644)).unwrap();
    symlink(&dotfiles, &path).unwrap();
    assert_eq!(world.install(Agent::Codex, &[]).code, 0);
    assert!(path.is_symlink() && std::fs::read_to_string(&dotfiles).unwrap().contains("[mcp_servers.longhaul]"));
    assert_eq!(dotfiles.metadata().unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn what_cannot_be_installed_is_refused_with_a_reason() {
    let mut world = world(Agent::Claude);
    for (arguments, code, words) in [
        (&["--client", "gemini"][..], 2, "[possible values: codex, claude, opencode]"),
        (&["--client", "claude", "--auto-approve"], 2, "only codex"),
        (&["--client", "claude", "--rights", "rule"], 2, "there is no right `rule`"),
        (&["--client", "claude", "--transport", "http", "--url", "localhost"], 2, "`localhost` is no address"),
        (&["--client", "claude", "--url", "http://127.0.0.1:7717/mcp"], 2, "add `--transport http`"),
        (&["--client", "claude", "--transport", "http", "--rights", "approve"], 2, "the rights of its key"),
        (&[], 2, "--client"),
        (&["--client", "opencode"], 1, "`opencode` is not installed, or not on PATH"),
    ] {
        let done = world.env.run(&[&["mcp", "install"], arguments].concat());
        assert_eq!(done.code, code, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains(words), "{arguments:?}: {}", done.stderr);
    }
    world.env.set("LONGHAUL_SESSION", "0190c5a4-7d4e-7c3a-8f00-000000000001");
    let refused = world.install(Agent::Claude, &[]);
    assert_eq!(refused.code, 8, "{}", refused.stderr);
    assert!(!read(&world, Agent::Claude).contains("longhaul"));
}

/// The guide's first section, in its code blocks.
#[test]
fn every_setup_line_of_the_guide_works() {
    let section = GUIDE.split("\n## ").find(|section| section.starts_with("Connect a client")).unwrap();
    let blocks: Vec<&str> = section.split("```").skip(1).step_by(2).collect();
    let lines = blocks.iter().filter_map(|block| block.strip_prefix("sh\n")).flat_map(str::lines);
    let commands: Vec<&str> = lines.filter(|line| line.starts_with("longhaul ")).collect();
    let world = World::with(&CLIENTS, longhaul_scripted_model::Login::Key, |_: &Turn| Reply::text("ok"));
    for command in &commands {
        let words: Vec<&str> = command.split('#').next().unwrap().split_whitespace().skip(1).collect();
        world.env.ok(&words);
    }
    assert!(CLIENTS.iter().all(|agent| commands.iter().any(|command| command.contains(agent.name()))), "{commands:?}");
    let json: Vec<&str> = blocks.iter().filter_map(|block| block.strip_prefix("json\n")).collect();
    assert_eq!(json.len(), 1, "{blocks:?}");
    let config = json[0].replace("\"longhaul\",", &format!("{:?},", env!("CARGO_BIN_EXE_longhaul")));
    let said = world.agent(
        Agent::Claude,
        &["-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config", "--mcp-config", &config],
        "hello",
    );
    assert!(said.stdout.contains("{\"name\":\"longhaul\",\"status\":\"connected\""), "{}{}", said.stdout, said.stderr);
}

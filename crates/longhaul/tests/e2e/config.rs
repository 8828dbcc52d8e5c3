//! The configuration through the real binary: `config`, `trust`, and what `run` takes from it.
//! Every rule for every key is tested beside the table; here is what only whole commands can show.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::env::{Done, TestEnv, done};
use crate::sight::listing;

const SESSION: &str = "0190c5a4-7d4e-7c3a-8f00-0123456789ab";

fn user_file(env: &TestEnv) -> PathBuf {
    env.path().join("config/longhaul/config.toml")
}

fn write_user(env: &TestEnv, text: &str) {
    std::fs::create_dir_all(user_file(env).parent().unwrap()).unwrap();
    std::fs::write(user_file(env), text).unwrap();
}

fn write_project(env: &TestEnv, text: &str) {
    std::fs::write(env.workspace().join("longhaul.toml"), text).unwrap();
}

fn below(env: &TestEnv, args: &[&str]) -> Done {
    done(&env.command(args).env("LONGHAUL_SESSION", SESSION).output().unwrap())
}

/// One key of `config show --json`.
fn shown(env: &TestEnv, key: &str) -> Value {
    let document = env.json(&["config", "show"]);
    document["keys"].as_array().unwrap().iter().find(|row| row["key"] == key).unwrap().clone()
}

#[test]
fn show_says_what_holds_and_why_and_makes_nothing() {
    let env = TestEnv::new().without_agent().var("LONGHAUL_SESSION_DELAY", "7s");
    write_user(&env, "agent = 'demo'\n[limits]\nmax_time = '8h'\nmax_cost = 2.5\n");
    write_project(&env, "limits.max_time = '1h'\n");
    let text = env.ok(&["config", "show", "--origin"]);
    let user = user_file(&env).display().to_string();
    let project = env.workspace().join("longhaul.toml").display().to_string();
    for line in [
        format!("agent = \"demo\"  # `{user}` line 1"),
        format!("limits.max_cost = \"2.5\"  # `{user}` line 4"),
        format!("limits.max_time = \"1h\"  # `{project}` line 1"),
        "session.delay = \"7s\"  # the variable `LONGHAUL_SESSION_DELAY`".to_owned(),
        "limits.attempts = 5  # default".to_owned(),
    ] {
        assert!(text.contains(&format!("{line}\n")), "{line} in\n{text}");
    }
    assert_eq!(shown(&env, "limits.max_cost")["value"], "2.5");
    assert_eq!(shown(&env, "limits.max_time")["origin"]["layer"], "workspace");
    assert_eq!(shown(&env, "limits.max_time")["origin"]["line"], 1);
    assert_eq!(shown(&env, "limits.max_sessions")["value"], Value::Null);
    let delay = shown(&env, "session.delay");
    assert_eq!((&delay["value"], &delay["written"]), (&"7s".into(), &"\"7s\"".into()));
    assert_ne!(delay["default"], delay["value"]);
    assert!(!env.home().exists(), "reading makes nothing");
}

#[test]
fn what_show_prints_can_be_used_as_the_file_that_longhaul_config_names() {
    let mut env = TestEnv::new();
    write_user(&env, "[verify]\ncommands = ['make \"all\"', 'x']\n[env]\nonly = ['HOME']\n");
    let copy = env.path().join("copy.toml");
    let before = env.ok(&["config", "show"]);
    std::fs::write(&copy, &before).unwrap();
    std::fs::remove_file(user_file(&env)).unwrap();
    assert_ne!(env.ok(&["config", "show"]), before);
    env.set("LONGHAUL_CONFIG", copy.to_str().unwrap());
    assert_eq!(env.ok(&["config", "show"]), before);
    std::fs::remove_file(&copy).unwrap();
    let missing = env.run(&["config", "show"]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("LONGHAUL_CONFIG"), "{}", missing.stderr);
}

#[test]
fn paths_schema_and_reference_are_printed() {
    let env = TestEnv::new();
    write_project(&env, "model = 'x'\n");
    let text = env.ok(&["config", "path"]);
    assert!(text.contains(&format!("{} (does not exist)", user_file(&env).display())), "{text}");
    assert!(text.contains("longhaul.toml (not trusted)"), "{text}");
    env.ok(&["trust", "."]);
    let files = env.json(&["config", "path"])["files"].clone();
    assert_eq!(files[1]["state"], "trusted");
    write_project(&env, "model = 'y'\n");
    assert!(env.ok(&["config", "path"]).contains("(changed since it was trusted)"));
    let schema: Value = serde_json::from_str(&env.ok(&["config", "schema"])).unwrap();
    assert_eq!(schema["properties"]["limits"]["properties"]["attempts"]["default"], 5);
    let page = env.ok(&["config", "reference"]);
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/config.md");
    assert_eq!(page, std::fs::read_to_string(reference).unwrap());
}

#[test]
fn a_bad_configuration_ends_a_run_before_anything_is_made() {
    let mut env = TestEnv::new();
    write_user(&env, "\n[limits]\nmax_tme = '3h'\n");
    let run = env.run(&["run", "-d", "Something"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    for part in ["line 3", "limits.max_tme", "limits.max_time", "config reference"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    std::fs::remove_file(user_file(&env)).unwrap();
    env.set("LONGHAUL_AGENT", "dem");
    let run = env.run(&["run", "-d", "Something"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("LONGHAUL_AGENT") && run.stderr.contains("`demo`"), "{}", run.stderr);
    assert!(!env.home().exists());
    env.set("LONGHAUL_AGENT", "demo");
    assert_eq!(env.run(&["run", "-d", "Something"]).code, 0, "the control: without it all is well");
}

#[test]
fn trust_is_asked_for_given_lost_by_a_change_and_taken_back() {
    let env = TestEnv::new();
    write_project(&env, "model = 'theirs'\nlimits.attempts = 2\n[verify]\ncommands = ['make check']\n");
    let model = |name: &str| {
        let run = env.run(&["run", "-d", "Do it", "--name", name]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        (env.task(name)["submission"]["model"].clone(), run.stderr)
    };
    let (untrusted, notice) = model("one");
    assert_eq!(untrusted, Value::Null);
    for part in ["is not trusted", "model, verify.commands", &format!("longhaul trust {}", env.workspace().display())] {
        assert!(notice.contains(part), "{part}: {notice}");
    }
    assert!(!notice.contains("limits.attempts"), "a lower limit is harmless: {notice}");

    let given = env.ok(&["trust", "."]);
    let trusted = env.json(&["trust", "--list"])["trusted"].clone();
    let hash = trusted[0]["sha256"].as_str().unwrap().to_owned();
    assert_eq!(hash.len(), 64);
    for part in ["make check", "model = \"theirs\"", &format!("sha256 {hash}")] {
        assert!(given.contains(part), "{part}: {given}");
    }
    let mode = env.home().join("trust.toml").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (trusted, notice) = model("two");
    assert_eq!(trusted, "theirs");
    assert!(!notice.contains("trust"), "{notice}");

    write_project(&env, "model = 'worse'\n");
    let (changed, notice) = model("three");
    assert_eq!(changed, Value::Null);
    assert!(notice.contains("has changed since it was trusted"), "{notice}");
    let wrong = env.run(&["trust", ".", "--sha256", &hash]);
    assert_eq!(wrong.code, 8, "{}", wrong.stderr);
    env.ok(&["trust", "longhaul.toml"]);
    assert_eq!(model("four").0, "worse");

    env.ok(&["trust", "--remove", "."]);
    assert_eq!(model("five").0, Value::Null);
    assert_eq!(env.run(&["trust", "--remove", "."]).code, 2);
}

#[test]
fn what_cannot_be_trusted_is_refused_and_nothing_is_stored() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["trust", "."]).code, 2, "there is no file");
    assert_eq!(env.run(&["trust"]).code, 2);
    assert_eq!(env.run(&["trust", "nowhere"]).code, 2);
    write_project(&env, "modle = 'x'\n");
    let wrong = env.run(&["trust", "."]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("did you mean `model`"), "{}", wrong.stderr);
    let file = env.workspace().join("longhaul.toml");
    std::fs::rename(&file, env.workspace().join("real.toml")).unwrap();
    std::os::unix::fs::symlink("real.toml", &file).unwrap();
    let link = env.run(&["trust", "."]);
    assert_eq!(link.code, 2);
    assert!(link.stderr.contains("not a regular file"), "{}", link.stderr);
    let inside = env.home().join("worktrees/x");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::write(inside.join("longhaul.toml"), "model = 'x'").unwrap();
    let refused = env.run(&["trust", inside.to_str().unwrap()]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("Longhaul's home"), "{}", refused.stderr);
    let unread = done(&env.command(&["config", "path"]).current_dir(&inside).output().unwrap());
    assert!(!unread.stdout.contains("longhaul.toml"), "a task's worktree has no say: {}", unread.stdout);
    assert_eq!(env.json(&["trust", "--list"])["trusted"], serde_json::json!([]));
}

#[test]
fn a_project_that_is_gone_can_still_lose_its_trust() {
    let env = TestEnv::new();
    let project = env.path().join("other");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("longhaul.toml"), "model = 'x'").unwrap();
    env.ok(&["trust", project.to_str().unwrap()]);
    std::fs::remove_file(project.join("longhaul.toml")).unwrap();
    std::fs::remove_dir(&project).unwrap();
    let removed = env.json(&["trust", "--remove", project.to_str().unwrap()])["removed"].clone();
    assert!(removed["path"].as_str().unwrap().ends_with("other/longhaul.toml"), "{removed}");
    assert_eq!(env.json(&["trust", "--list"])["trusted"], serde_json::json!([]));
}

#[test]
fn below_an_agent_session_nothing_is_trusted_and_the_projects_file_does_not_count() {
    let env = TestEnv::new();
    write_project(&env, "model = 'theirs'\n");
    env.ok(&["trust", "."]);
    let before = (listing(&env.home()), std::fs::read(env.home().join("trust.toml")).unwrap());
    for args in [&["trust", "."][..], &["trust", "--list"], &["trust", "--remove", "."]] {
        let refused = below(&env, args);
        assert_eq!(refused.code, 8, "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("an agent session may only"), "{args:?}: {}", refused.stderr);
    }
    assert_eq!(before, (listing(&env.home()), std::fs::read(env.home().join("trust.toml")).unwrap()));
    assert_eq!(shown(&env, "model")["value"], "theirs", "the control: above, it counts");
    let text = below(&env, &["config", "show"]).stdout;
    assert!(text.contains("model = \"none\""), "{text}");
}

#[test]
fn the_file_counts_at_the_root_of_the_checkout_from_anywhere_in_it() {
    let mut env = TestEnv::new();
    env.unset("LONGHAUL_SESSION_DELAY");
    std::fs::create_dir_all(env.workspace().join("a/b")).unwrap();
    std::fs::create_dir(env.workspace().join(".git")).unwrap();
    env.put(".git/HEAD", "ref: refs/heads/main\n");
    write_project(&env, "session.delay = '9s'\n");
    std::fs::write(env.workspace().join("a/longhaul.toml"), "session.delay = '8s'\n").unwrap();
    let show = |directory: &str| {
        let mut command = env.command(&["config", "show"]);
        done(&command.current_dir(env.workspace().join(directory)).output().unwrap()).stdout
    };
    for directory in [".", "a", "a/b"] {
        assert!(show(directory).contains("session.delay = \"9s\""), "{directory}");
    }
    let other = env.run(&["trust", "a/longhaul.toml"]);
    assert_eq!(other.code, 2, "it is not the one that counts: {}", other.stderr);
}

#[test]
fn damage_of_the_list_is_told_and_trusts_nothing() {
    let env = TestEnv::new();
    write_project(&env, "model = 'theirs'\n");
    env.ok(&["trust", "."]);
    std::fs::write(env.home().join("trust.toml"), "version = 1\n[[trusted").unwrap();
    for args in [&["run", "-d", "Do it"][..], &["trust", "--list"], &["trust", "."], &["config", "show"]] {
        let damaged = env.run(args);
        assert_eq!(damaged.code, 9, "{args:?}: {}", damaged.stderr);
        assert!(damaged.stderr.contains("trust.toml"), "{args:?}: {}", damaged.stderr);
    }
}

//! `config set`, `get`, `unset` and `edit`: what a person wrote stays, and what would not be valid never reaches the file.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use crate::custom_agents::configure;
use crate::env::{Done, TestEnv, done};
use crate::screen::Terminal;

const FILE: &str = "#:schema x\n# mine\nagent = \"demo\" # no login\n\n[limits] # of each task\nmax_time = \"8h\"\n";

fn user_file(env: &TestEnv) -> PathBuf {
    env.path().join("config/longhaul/config.toml")
}

fn user_text(env: &TestEnv) -> String {
    std::fs::read_to_string(user_file(env)).unwrap()
}

fn world() -> TestEnv {
    let mut env = TestEnv::new().without_agent();
    env.unset("LONGHAUL_SESSION_DELAY");
    env
}

#[track_caller]
fn refused(env: &TestEnv, args: &[&str], code: i32, words: &str) -> Done {
    let done = env.run(args);
    assert_eq!(done.code, code, "{args:?}: {}", done.stderr);
    assert!(done.stderr.contains(words), "{args:?}: {}", done.stderr);
    done
}

#[test]
fn a_key_is_set_read_and_removed_and_the_rest_of_the_file_stays() {
    let env = world();
    configure(&env, FILE);
    env.ok(&["config", "set", "limits.max_time", "9h"]);
    env.ok(&["config", "set", "verify.commands", "cargo test", "cargo clippy -- -D warnings"]);
    env.ok(&["config", "set", "session.hours", "22:00-07:00"]);
    let text = user_text(&env);
    assert!(text.starts_with(&FILE.replace("8h", "9h")), "{text}");
    assert_eq!(env.ok(&["config", "get", "limits.max_time"]), "9h\n");
    assert_eq!(env.ok(&["config", "get", "verify.commands"]), "cargo test\ncargo clippy -- -D warnings\n");
    assert_eq!(env.ok(&["config", "get", "model"]), "none\n");
    assert!(env.ok(&["config", "get", "session"]).contains("session.hours = \"22:00-07:00\"\n"));
    assert_eq!(env.json(&["config", "get", "agent"])["keys"][0]["origin"]["line"], 3);
    env.ok(&["config", "unset", "limits.max_time", "verify.commands", "session.hours"]);
    assert_eq!(env.ok(&["config", "get", "limits.max_time"]), "5h\n");
    assert!(user_text(&env).starts_with(&FILE.replace("max_time = \"8h\"\n", "")));
    let again = env.run(&["config", "unset", "limits.max_time"]);
    assert!(again.code == 0 && again.stderr.contains("nothing to change in"), "{}", again.stderr);
}

#[test]
fn the_first_key_makes_the_file() {
    let env = world();
    let made = env.json(&["config", "set", "agent", "demo"]);
    assert_eq!((&made["layer"], &made["changed"]), (&"user".into(), &true.into()));
    assert_eq!(user_text(&env), "agent = \"demo\"\n");
    assert!(!env.home().exists());
}

#[test]
fn what_is_not_valid_is_refused_and_nothing_is_written() {
    let env = world();
    configure(&env, FILE);
    for (args, words) in [
        (&["set", "agnet", "codex"][..], "did you mean `agent`?"),
        (&["set", "limits.max_time", "soon"], "`limits.max_time` cannot be `soon`: it takes "),
        (&["set", "agent", "cladue"], "`claude`"),
        (&["set", "agents.mine.argv", "[]"], "[agents.mine]"),
        (&["set", "agent", "demo", "codex"], "`agent` cannot be"),
        (&["unset", "agnet"], "did you mean `agent`?"),
        (&["get", "agnet"], "did you mean `agent`?"),
        (&["edit"], "an editor needs a terminal"),
    ] {
        refused(&env, &[&["config"], args].concat(), 2, words);
        assert_eq!(user_text(&env), FILE, "{args:?}");
    }
    configure(&env, "agent = \n");
    refused(&env, &["config", "set", "model", "x"], 2, "not valid TOML");
    configure(&env, "agnet = 'demo'\n");
    refused(&env, &["config", "set", "model", "x"], 2, "line 1: unknown key `agnet`");
    env.ok(&["config", "unset", "agnet"]);
    assert_eq!(user_text(&env), "");
}

#[test]
fn a_link_stays_a_link_and_a_read_only_file_stays_as_it_is() {
    let env = world();
    configure(&env, FILE);
    let (file, dotfiles) = (user_file(&env), env.path().join("dotfiles.toml"));
    std::fs::rename(&file, &dotfiles).unwrap();
    std::fs::set_permissions(&dotfiles, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&dotfiles, &file).unwrap();
    env.ok(&["config", "set", "agent", "codex"]);
    assert!(file.is_symlink() && std::fs::read_to_string(&dotfiles).unwrap().contains("agent = \"codex\" # no login"));
    assert_eq!(dotfiles.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    std::fs::set_permissions(&dotfiles, std::fs::Permissions::from_mode(0o440)).unwrap();
    let before = user_text(&env);
    refused(&env, &["config", "set", "agent", "demo"], 1, "is read-only, so nothing was changed");
    assert_eq!(user_text(&env), before);
    std::fs::remove_file(&dotfiles).unwrap();
    refused(&env, &["config", "set", "agent", "demo"], 1, "cannot write");
    assert!(file.is_symlink(), "a link to nothing stays too");
    let nowhere = env.var("LONGHAUL_CONFIG", "/dev/null");
    refused(&nowhere, &["config", "set", "agent", "demo"], 2, "LONGHAUL_CONFIG is /dev/null");
}

#[test]
fn the_project_file_keeps_its_trust_and_gains_none() {
    let env = world();
    env.ok(&["config", "set", "--project", "model", "ours"]);
    assert_eq!(env.ok(&["config", "get", "model"]), "ours\n", "all of the file is this person's");
    let file = env.workspace().join("longhaul.toml");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    env.ok(&["config", "set", "--project", "sandbox", "read-only"]);
    assert_eq!(env.ok(&["config", "get", "sandbox"]), "read-only\n");
    std::fs::write(&file, "model = 'theirs'\n").unwrap();
    let done = env.run(&["config", "set", "--project", "network", "true"]);
    assert!(done.code == 0 && done.stderr.contains("is not trusted"), "{}", done.stderr);
    assert_eq!(env.ok(&["config", "get", "model"]), "none\n");
    let hidden = env.run(&["config", "set", "limits.attempts", "4"]);
    assert!(!hidden.stderr.contains("has no effect"), "{}", hidden.stderr);
    std::fs::write(&file, "limits.attempts = 2\n").unwrap();
    let hidden = env.run(&["config", "set", "limits.attempts", "3"]);
    assert!(hidden.stderr.contains("longhaul.toml` line 1, so the change has no effect"), "{}", hidden.stderr);
}

#[test]
fn below_an_agent_session_nothing_is_changed() {
    let env = world();
    configure(&env, FILE);
    let session = "0190c5a4-7d4e-7c3a-8f00-0123456789ab";
    for args in [
        &["config", "set", "agent", "codex"][..],
        &["config", "unset", "agent"],
        &["config", "set", "--project", "model", "x"],
    ] {
        let refused = done(&env.command(args).env("LONGHAUL_SESSION", session).output().unwrap());
        assert_eq!(refused.code, 8, "{args:?}: {}", refused.stderr);
    }
    assert_eq!(user_text(&env), FILE);
    assert!(!env.workspace().join("longhaul.toml").exists());
}

/// An editor that writes these lines, one more of them each time.
fn editor(env: &mut TestEnv, texts: &[&str]) {
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(env.path().join(format!("text-{number}")), text).unwrap();
    }
    let place = env.path().display().to_string();
    let script =
        format!("n=$(ls {place}/seen-* 2>/dev/null | wc -l); cp \"$1\" {place}/seen-$n; cp {place}/text-$n \"$1\"");
    env.set("VISUAL", &format!("sh -c '{script}' sh"));
}

#[test]
fn the_editor_gets_a_copy_and_only_a_valid_text_is_saved() {
    let mut env = world();
    configure(&env, FILE);
    editor(&mut env, &["agnet = 'demo'\n", "# new\nagent = 'demo'\n"]);
    let mut terminal = Terminal::run(&env, &["config", "edit"]);
    terminal.shows("unknown key `agnet`; did you mean `agent`?");
    terminal.shows("Edit it again? [Y/n]");
    assert_eq!(user_text(&env), FILE, "nothing is saved yet");
    terminal.press(b"\n");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(user_text(&env), "# new\nagent = 'demo'\n");
    let seen = |number: u32| std::fs::read_to_string(env.path().join(format!("seen-{number}"))).unwrap();
    assert_eq!((seen(0), seen(1)), (FILE.to_owned(), "agnet = 'demo'\n".to_owned()));
}

#[test]
fn a_refused_text_is_kept_where_the_person_finds_it() {
    let mut env = world();
    configure(&env, FILE);
    editor(&mut env, &["agnet = 'demo'\n"]);
    let place = env.path().join("tmp");
    std::fs::create_dir(&place).unwrap();
    env.set("TMPDIR", &place.display().to_string());
    let mut terminal = Terminal::run(&env, &["config", "edit"]);
    terminal.shows("your text is in `");
    terminal.shows("Edit it again? [Y/n]");
    terminal.press(b"n\n");
    assert_eq!(terminal.finish().0, 2);
    assert_eq!(user_text(&env), FILE);
    let draft = std::fs::read_dir(&place).unwrap().next().unwrap().unwrap().path().join("config.toml");
    assert_eq!(std::fs::read_to_string(draft).unwrap(), "agnet = 'demo'\n");
}

#[test]
fn an_editor_that_fails_changes_nothing() {
    let mut env = world();
    configure(&env, FILE);
    env.set("VISUAL", "exit 3; true");
    let (code, shown) = Terminal::run(&env, &["config", "edit"]).finish();
    assert!(code == 1 && shown.contains("failed") && shown.contains("set VISUAL or EDITOR"), "{shown}");
    assert_eq!(user_text(&env), FILE);
}

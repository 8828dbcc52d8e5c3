//! Completion scripts and manual pages of the real binary: there is one for every shell and verb, and shells can read them.
//! A shell that is not installed cannot be asked; bash always is.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::env::TestEnv;

/// The verbs that the help shows.
pub(crate) fn verbs(env: &TestEnv) -> Vec<String> {
    let help = env.ok(&["--help"]);
    let commands = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let verb = |line: &str| line.starts_with("  ").then(|| line.split_whitespace().next().map(str::to_owned)).flatten();
    let verbs: Vec<String> = commands.lines().filter_map(verb).collect();
    assert!(verbs.len() > 15 && verbs.contains(&"run".to_owned()), "{verbs:?}");
    verbs
}

/// Whether a shell takes a script, by its own check; none when the shell is not there.
fn takes(shell: &str, script: &str) -> Option<bool> {
    let mut child = Command::new(shell).arg("-n").stdin(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    // A shell that gave up early closes the pipe; its status says so.
    child.stdin.take().unwrap().write_all(script.as_bytes()).ok();
    Some(child.wait().unwrap().success())
}

#[test]
fn completions_are_sound_scripts() {
    let env = TestEnv::new();
    for (shell, mark) in [
        ("bash", "complete -o nospace"),
        ("zsh", "#compdef longhaul"),
        ("fish", "complete --keep-order"),
        ("elvish", "edit:completion"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = env.ok(&["completions", shell]);
        assert!(script.contains(mark), "{shell}: {script}");
        if ["bash", "zsh", "fish"].contains(&shell) {
            assert_eq!(takes(shell, &script), Some(true), "{shell} -n; `cargo xtask test` installs {shell}");
            let broken = format!("{script}\nif true; then (\n");
            assert_eq!(takes(shell, &broken), Some(false), "the control of {shell} -n");
        }
    }
    assert_eq!(env.run(&["completions", "tcsh"]).code, 2);
}

#[test]
fn every_verb_has_a_manual_page() {
    let env = TestEnv::new();
    assert!(env.ok(&["man"]).contains(".TH longhaul 1"));
    let dir = env.path().join("man/man1");
    let refused = env.run(&["man", dir.to_str().unwrap()]);
    assert!(refused.code == 1 && refused.stderr.contains("only the last one"), "{}", refused.stderr);
    assert!(!dir.parent().unwrap().exists(), "no tree of directories is made");
    std::fs::create_dir(dir.parent().unwrap()).unwrap();
    env.ok(&["man", dir.to_str().unwrap()]);
    let page = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(page("longhaul.1").contains(".SH SYNOPSIS"));
    for verb in verbs(&env) {
        let page = page(&format!("longhaul-{verb}.1"));
        assert!(page.contains(".SH NAME") && page.len() > 200, "{verb}: {page}");
    }
    let blocked = env.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    assert_eq!(env.run(&["man", blocked.to_str().unwrap()]).code, 1);
}

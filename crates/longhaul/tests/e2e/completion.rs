//! Completion at Tab: what is offered, in the shells that are installed, and that it disturbs nothing.

use std::process::{Command, Stdio};

use crate::env::{Done, TestEnv, done, wait_for};
use crate::tmux::{own_server, screen, tmux};

/// A paused task, and a finished one.
fn world() -> TestEnv {
    let env = TestEnv::new();
    env.make_repository();
    env.submit("Port the parser", &["--name", "parser", "--hours", "00:00-00:01"]);
    env.ok(&["pause", "parser"]);
    assert_eq!(env.run(&["run", "Write the docs", "--name", "docs"]).code, 0);
    env
}

/// What a shell is answered for the last of these words.
fn answer(env: &TestEnv, words: &[&str]) -> Done {
    let mut command = env.command(&[&["--", "longhaul"], words].concat());
    command.env("LONGHAUL_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    done(&command.output().unwrap())
}

#[track_caller]
fn offers(env: &TestEnv, words: &[&str], expected: &[&str]) {
    let done = answer(env, words);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{words:?}");
    // Flags are offered as well where a word could begin with one.
    let offered: Vec<&str> = done.stdout.lines().filter(|word| !word.starts_with('-')).collect();
    assert_eq!(offered, expected, "{words:?}");
}

#[test]
fn tasks_are_offered_where_the_verb_takes_them() {
    let env = world();
    for verb in ["show", "logs", "wait", "diff"] {
        offers(&env, &[verb, ""], &["docs", "parser"]);
    }
    for verb in ["pause", "resume", "cancel", "tell"] {
        offers(&env, &[verb, ""], &["parser"]);
    }
    for verb in ["retry", "land", "discard", "rm"] {
        offers(&env, &[verb, ""], &["docs"]);
    }
    offers(&env, &["show", "pa"], &["parser"]);
    offers(&env, &["run", "Do it", "--after", "d"], &["docs"]);
    offers(&env, &["show", "x"], &[]);
}

#[test]
fn agents_states_and_branches_are_offered() {
    let env = world();
    crate::custom_agents::configure(&env, "[agents.mine]\nargv = [\"mine\"]\n");
    for agent in ["codex", "claude", "opencode", "pi", "gemini", "demo"] {
        offers(&env, &["run", "--agent", &agent[..2]], &[agent]);
    }
    offers(&env, &["run", "--agent", "mi"], &["mine"]);
    offers(&env, &["list", "--state", "pau"], &["paused"]);
    env.git(&["branch", "feature/x"]);
    offers(&env, &["land", "docs", "--onto", "fea"], &["feature/x"]);
    offers(&env, &["resu"], &["resume"]);
}

/// Tab must not cost, change or print anything.
#[test]
fn completion_disturbs_nothing() {
    let env = TestEnv::new();
    offers(&env, &["show", ""], &[]);
    offers(&env, &["land", "x", "--onto", ""], &[]);
    assert!(!env.home().exists(), "nothing is made");
    std::fs::create_dir(env.home()).unwrap();
    std::fs::write(env.home().join("longhaul.db"), "not a database").unwrap();
    offers(&env, &["show", ""], &[]);
    let env = world();
    env.deserted();
    let before = env.events("parser").len();
    offers(&env, &["show", ""], &["docs", "parser"]);
    assert!(env.processes().is_empty(), "no worker was started");
    assert_eq!(env.events("parser").len(), before);
}

fn is_installed(shell: &str) -> bool {
    let mut command = Command::new(shell);
    command.args(["-c", "exit 0"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|end| end.success())
}

/// A shell in tmux with these lines typed first; Tab after a beginning must complete the task's name.
fn completes(shell: &[&str], lines: &[&str]) {
    assert!(is_installed(shell[0]), "{} is missing; `cargo xtask test` installs it", shell[0]);
    let mut env = world();
    own_server(&mut env);
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_longhaul")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("tmux");
    command.args(["-f", "/dev/null", "new-session", "-d", "-s", "shell", "-x", "120", "-y", "40"]).args(shell);
    for (name, value) in env.command(&[]).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env_remove("TMUX").env("PATH", path).env("HOME", env.path()).current_dir(env.workspace());
    assert!(command.status().unwrap().success(), "tmux starts");
    for line in lines {
        tmux(&env, &["send-keys", "-t", "shell", line, "Enter"]).unwrap();
    }
    tmux(&env, &["send-keys", "-t", "shell", "clear; echo rea''dy", "Enter"]).unwrap();
    wait_for("the shell", || screen(&env, "shell").lines().any(|line| line.trim_end() == "ready").then_some(()));
    tmux(&env, &["send-keys", "-t", "shell", "longhaul show pa", "Tab"]).unwrap();
    wait_for("the name", || screen(&env, "shell").contains("longhaul show parser").then_some(()));
    tmux(&env, &["send-keys", "-t", "shell", "Enter"]).unwrap();
    wait_for("the command", || screen(&env, "shell").contains("Port the parser").then_some(()));
    tmux(&env, &["kill-server"]);
}

#[test]
fn bash_completes_the_name_of_a_task() {
    completes(&["bash", "--norc"], &["source <(longhaul completions bash)"]);
}

#[test]
fn zsh_completes_the_name_of_a_task() {
    completes(&["zsh", "-f"], &["autoload -Uz compinit; compinit -D -u", "source <(longhaul completions zsh)"]);
}

/// zsh runs a file in $fpath only when it is first needed.
#[test]
fn zsh_completes_from_a_file_in_its_path() {
    let lines = [
        "mkdir functions; longhaul completions zsh > functions/_longhaul",
        "fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -D -u",
    ];
    completes(&["zsh", "-f"], &lines);
}

#[test]
fn fish_completes_the_name_of_a_task() {
    completes(&["fish", "--no-config"], &["longhaul completions fish | source"]);
}

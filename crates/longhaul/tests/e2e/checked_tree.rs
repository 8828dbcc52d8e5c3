//! "Verified on tree T" is true: T holds what the checks saw, whatever an agent did to its index, its settings or its branch.
//!
//! Honest agents that work in place, without a commit or beside filters are verified; lying ones are not, or the tree holds their lie.
//! Each case runs the binary with an agent made of a shell script and then checks the named tree in a clean checkout.

mod conversions;
mod expected;
mod lies;
mod removal;
mod repeats;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::checker;
use crate::env::TestEnv;

const CONFIG: &str = "agent = \"bot\"\n[agents.bot]\nargv = [\"BOT\"]\ndone = { when = { \"/event\" = \"done\" } }\n";

/// A world whose workspace was made by a shell script and whose agent runs these scripts.
fn world(setup: &str, work: &str, fix: &str) -> TestEnv {
    let env = TestEnv::new().without_agent();
    let bot = env.path().join("bot");
    fs::write(&bot, include_str!("checked_tree/bot.sh")).unwrap();
    fs::set_permissions(&bot, fs::Permissions::from_mode(0o755)).unwrap();
    let directory = env.path().join("config/longhaul");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("config.toml"), CONFIG.replace("BOT", bot.to_str().unwrap())).unwrap();
    let (home, prompts) = (env.path().join("user"), env.path().join("prompts"));
    fs::create_dir(&home).unwrap();
    let env = env.var("HOME", home.to_str().unwrap()).var("PROMPTS", prompts.to_str().unwrap());
    let env = env.var("WORK", work).var("FIX", fix);
    shell(&env, &env.workspace(), setup);
    env
}

const REPOSITORY: &str = "git init -q -b main . && echo hi >README && git add -A && git commit -qm i";

/// Runs a script that must succeed.
#[track_caller]
fn shell(env: &TestEnv, directory: &std::path::Path, script: &str) {
    let git = "git() { command git -c user.name=A -c user.email=a@b.example -c protocol.file.allow=always \"$@\"; }\n";
    let mut command = Command::new("sh");
    command.args(["-ec", &format!("{git}{script}")]).current_dir(directory).env("HOME", env.path().join("user"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs one task to its end; returns the exit code and the headline.
#[track_caller]
fn run(env: &TestEnv, check: &str, more: &[&str]) -> (i32, String) {
    let args = [&["run", "Do it", "--name", "t", "--delay", "0s", "--check", check], more].concat();
    let done = env.run(&args);
    env.deserted();
    checker::assert_clean(env);
    if done.code == 0 {
        return (0, result(env)["headline"].as_str().unwrap().to_owned());
    }
    let said = [done.stdout, done.stderr].concat();
    let headline = said.lines().rev().find(|line| line.contains("done, ") || line.contains("needs you"));
    (done.code, headline.unwrap_or(&said).to_owned())
}

fn result(env: &TestEnv) -> Value {
    env.json(&["show", "t"])["result"].clone()
}

/// The named tree in a clean checkout.
#[track_caller]
fn checkout(env: &TestEnv) -> PathBuf {
    let tree = result(env)["tree"].as_str().expect("a tree is named").to_owned();
    let place = env.path().join("clean");
    fs::create_dir(&place).unwrap();
    shell(
        env,
        &env.workspace(),
        &format!("git -c core.autocrlf=false -c core.eol=lf archive {tree} | tar -xC {}", place.display()),
    );
    place
}

/// The result is verified, and the check passes on the tree that is named and on nothing else.
#[track_caller]
fn is_verified(env: &TestEnv, check: &str, more: &[&str]) -> String {
    let (code, headline) = run(env, check, more);
    assert_eq!(code, 0, "{headline}");
    assert!(headline.contains("verified on tree "), "{headline}");
    shell(env, &checkout(env), check);
    headline
}

const MADE: &str = "test -s hello.txt";
const WORK: &str = "echo hello >hello.txt";

#[test]
fn work_in_place_is_verified_on_a_tree_that_holds_it() {
    let env = world(REPOSITORY, WORK, "");
    is_verified(&env, MADE, &["--in-place"]);
    let tree = result(&env)["tree"].as_str().unwrap().to_owned();
    let kept = env.git(&["for-each-ref", "--format=%(tree)", "refs/longhaul"]);
    assert!(kept.contains(&tree), "the tree is kept: {kept}");
    assert_eq!(env.git(&["status", "--porcelain"]), "?? hello.txt", "and nothing else is touched");
}

#[test]
fn a_repository_without_commits_is_verified_on_a_tree_that_holds_the_work() {
    let env = world("git init -q -b main .", WORK, "");
    is_verified(&env, MADE, &[]);
}

#[test]
fn the_empty_tree_is_never_verified() {
    let env = world("git init -q -b main .", "true", "");
    let (code, headline) = run(&env, "true", &[]);
    assert!(code == 10 && headline.contains("not verified, because the tree has no files"), "{headline}");
}

const LFS: &str = "printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize 6\\n' \
    $(printf 'large\\n' | sha256sum | cut -d' ' -f1) >l.png && echo '*.png filter=lfs' >.gitattributes && \
    git add -A && git commit -qm l";

#[test]
fn a_repository_with_lfs_is_verified_when_no_such_file_changed() {
    let setup = format!("{REPOSITORY} && {LFS}");
    // What git-lfs would have put there.
    let env = world(&setup, "printf 'large\\n' >l.png; echo hello >hello.txt", "");
    is_verified(&env, MADE, &[]);
    assert_eq!(env.git(&["ls-tree", "--name-only", "longhaul/t"]), ".gitattributes\nREADME\nhello.txt\nl.png");
    assert_eq!(env.git(&["diff", "--name-only", "main", "longhaul/t"]), "hello.txt");
}

#[test]
fn a_changed_file_under_a_filter_is_not_verified_and_named() {
    let env = world(&format!("{REPOSITORY} && {LFS}"), "echo other >l.png; echo hello >hello.txt", "");
    let (code, headline) = run(&env, MADE, &[]);
    assert!(code == 10 && headline.contains("git filter") && headline.contains("l.png"), "{headline}");
    assert_eq!(env.git(&["diff", "--name-only", "main", "longhaul/t"]), "hello.txt", "the rest is committed");
    assert!(env.ok(&["gc", "--age", "0s"]).contains("l.png"), "and the only copy is kept");
}

#[test]
fn ignored_entries_are_named_and_a_directory_counts_once() {
    let setup = format!("echo /dist/ >.gitignore; echo '*.log' >>.gitignore; {REPOSITORY}");
    let env = world(&setup, "mkdir dist; echo a >dist/a; echo b >dist/b; echo x >x.log", "");
    let (code, headline) = run(&env, "test -s dist/a", &[]);
    assert_eq!(code, 0, "{headline}");
    assert!(headline.contains(", with 2 ignored entries present: dist/, x.log"), "{headline}");
    assert!(headline.contains("with no change since the task started, with"), "{headline}");
    assert_eq!(result(&env)["remarks"][1], "with 2 ignored entries present: dist/, x.log");
    let list = env.ok(&["list"]);
    assert!(list.contains("  verified, 2 remarks  "), "{list}");
    let row = env.json(&["list"])["tasks"][0].clone();
    assert_eq!((&row["result"], &row["remarks"]), (&result(&env)["kind"], &2.into()));
}

#[test]
fn in_place_only_new_ignored_entries_are_named() {
    let setup = format!("echo '*.log' >.gitignore; {REPOSITORY}; echo old >old.log");
    let env = world(&setup, "echo new >new.log; echo hello >hello.txt", "");
    let headline = is_verified(&env, MADE, &["--in-place"]);
    assert!(headline.contains("with 1 ignored entry present: new.log"), "{headline}");
}

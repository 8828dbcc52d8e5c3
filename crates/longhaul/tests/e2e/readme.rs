//! The tour of the README is what the commands in it print. `UPDATE_DOCS=1` rewrites it from a real run.

use std::path::Path;

use crate::env::{TestEnv, done};

const BEGIN: &str = "```console\n";
const END: &str = "\n```\n";

fn readme() -> std::path::PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../README.md"].iter().collect()
}

/// A repository of Ann's, and a shell that finds the binary.
fn world() -> TestEnv {
    let bin = Path::new(env!("CARGO_BIN_EXE_longhaul")).parent().unwrap().display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    let env = TestEnv::new().without_agent().var("PATH", &path).var("COLUMNS", "100").var("DEMO_PACE_MS", "5");
    env.make_repository();
    env.git(&["config", "user.name", "Ann"]);
    env.git(&["config", "user.email", "ann@example.org"]);
    env
}

fn printed(env: &TestEnv, command: &str) -> String {
    let line = format!("exec 2>&1; {command}");
    let ended = done(&env.command_of(Path::new("/bin/sh"), &["-c", &line]).output().unwrap());
    assert_eq!(ended.code, 0, "{command}: {}", ended.stdout);
    ended.stdout
}

/// Without what differs from run to run: times, ids, hashes and how long things took.
fn normal(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.split_whitespace().map(word).collect::<Vec<_>>().join(" "))
        .map(|line| spans(&line))
        .collect()
}

fn word(word: &str) -> String {
    let plain = word.trim_matches(|c: char| !c.is_alphanumeric());
    if plain.len() >= 7 && plain.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
        return word.replace(plain, "HASH");
    }
    let mut normal = String::new();
    for c in word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }) {
        if c != '0' || !normal.ends_with('0') {
            normal.push(c);
        }
    }
    normal.replace("0.0s", "0s")
}

fn spans(line: &str) -> String {
    line.replace("0m 0s", "0s").replace("less than a second", "0s").replace("0s ago", "just now")
}

/// The same run as people should read it: an id is cut, and the scratch directory has a name.
fn readable(env: &TestEnv, text: &str) -> String {
    let place = env.path().canonicalize().unwrap().display().to_string();
    let text = text.replace(&place, "/home/ann");
    let cut = |word: &str| {
        let id = word.trim_matches(['(', ')']);
        let is_id = id.len() == 36 && id.matches('-').count() == 4;
        if is_id { word.replace(id, &format!("{}-…", &id[..8])) } else { word.to_owned() }
    };
    let line = |line: &str| line.split(' ').map(cut).collect::<Vec<_>>().join(" ").trim_end().to_owned();
    text.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_tour_is_what_its_commands_print() {
    let page = std::fs::read_to_string(readme()).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (tour, after) = rest.split_once(END).unwrap();
    let env = world();
    let commands = tour.lines().filter_map(|line| line.strip_prefix("$ "));
    let run: Vec<String> = commands.map(|line| format!("$ {line}\n{}", readable(&env, &printed(&env, line)))).collect();
    let now = run.join("\n");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(readme(), [before, BEGIN, &now, END, after].concat()).unwrap();
        return;
    }
    assert_eq!(normal(tour), normal(&now), "the tour is stale: UPDATE_DOCS=1 cargo test -p longhaul readme\n{now}");
}

#[test]
fn only_what_differs_from_run_to_run_is_ignored() {
    let same = |one: &str, other: &str| normal(one) == normal(other);
    assert!(same("22:58:16  ✓ check  true  0.1s", "01:02:03  ✓ check  true  12s"));
    assert!(same("task t (01a1e16e-…) submitted", "task t (01a1e16f-…) submitted"));
    assert!(same("landed as 90a2cad on main", "landed as 1111111 on main"));
    assert!(!same("✓ check  true", "✗ check  true"));
    assert!(!same("landed on main", "landed on develop"));
}

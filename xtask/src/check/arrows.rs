//! Rule: which crate may use which, and who may use certain crates from outside.
//! Called by `check` with the answer of `cargo metadata`; a crate this table does not know is a violation.
//! Arrows hold for tests too; the outside allow-lists hold for what is shipped.

use serde_json::Value;

use super::Violation;

struct Arrows {
    name: &'static str,
    may_use: &'static [&'static str],
    /// The only outside crates it may use; none when it is free.
    outside: Option<&'static [&'static str]>,
}

const CORE: &str = "longhaul-core";
const REDACT: &str = "longhaul-redact";
const GIT: &str = "longhaul-git";
const AGENTS: &str = "longhaul-agents";
const STORE: &str = "longhaul-store";
const KEEPER: &str = "longhaul-keeper";
const APP: &str = "longhaul-app";
const WORKER: &str = "longhaul-worker";
const SERVER: &str = "longhaul-server";
const BINARY: &str = "longhaul";
const XTASK: &str = "xtask";
/// A stand-in for the vendors, so it must not know us; only tests use it.
const SCRIPTED_MODEL: &str = "longhaul-scripted-model";

const ARROWS: &[Arrows] = &[
    Arrows {
        name: CORE,
        may_use: &[],
        outside: Some(&["serde", "serde_json", "sha2", "strsim", "thiserror", "uuid", "jiff"]),
    },
    Arrows {
        name: REDACT,
        may_use: &[],
        outside: Some(&["base64", "hmac", "memchr", "percent-encoding", "serde_json", "sha2"]),
    },
    Arrows { name: AGENTS, may_use: &[CORE, REDACT], outside: Some(&["serde", "serde_json", "thiserror", "jiff"]) },
    Arrows { name: STORE, may_use: &[CORE], outside: None },
    Arrows { name: KEEPER, may_use: &[CORE, REDACT], outside: None },
    // Private files and the environment of programs are the keeper's.
    Arrows { name: GIT, may_use: &[KEEPER, CORE], outside: None },
    Arrows { name: APP, may_use: &[STORE, KEEPER, GIT, AGENTS, CORE, REDACT], outside: None },
    Arrows { name: WORKER, may_use: &[APP, STORE, KEEPER, GIT, AGENTS, CORE, REDACT], outside: None },
    Arrows { name: SERVER, may_use: &[APP, CORE], outside: None },
    Arrows {
        name: BINARY,
        // Itself, to build the programs that only its tests start.
        may_use: &[SERVER, WORKER, APP, STORE, KEEPER, GIT, AGENTS, CORE, REDACT, SCRIPTED_MODEL, BINARY],
        outside: None,
    },
    Arrows { name: SCRIPTED_MODEL, may_use: &[], outside: None },
    Arrows { name: XTASK, may_use: &[WORKER, APP, STORE, KEEPER, GIT, AGENTS, CORE, REDACT], outside: None },
];

/// Outside crates that only some may ship: SQL is the store's, and a keeper has no async runtime.
const RESERVED: &[(&str, &[&str])] =
    &[("rusqlite", &[STORE, XTASK]), ("tokio", &[STORE, APP, WORKER, SERVER, BINARY, XTASK])];

/// Finds dependencies that point where no arrow goes.
pub(super) fn violations(metadata: &Value) -> Vec<Violation> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    if packages.is_empty() {
        return vec![violation("cargo metadata", "names no crate".to_owned(), "run `cargo metadata` and look why")];
    }
    packages.iter().flat_map(package_violations).collect()
}

fn package_violations(package: &Value) -> Vec<Violation> {
    let name = package["name"].as_str().unwrap_or_default();
    let Some(arrows) = ARROWS.iter().find(|arrows| arrows.name == name) else {
        let what = format!("crate `{name}` has no arrows");
        return vec![violation(name, what, "add it to the table in `xtask/src/check/arrows.rs`")];
    };
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    let broken = dependencies.iter().filter_map(|dependency| dependency_violation(arrows, dependency));
    broken.chain(run_violation(package)).collect()
}

/// `cargo run -- demo` is the first command of the README: it must mean one program.
fn run_violation(package: &Value) -> Option<Violation> {
    let is_ambiguous = package["name"] == BINARY && package["default_run"] != BINARY;
    is_ambiguous
        .then(|| violation(BINARY, "`cargo run` starts no program".to_owned(), "set `default-run` in its Cargo.toml"))
}

fn dependency_violation(arrows: &Arrows, dependency: &Value) -> Option<Violation> {
    let name = arrows.name;
    let used = dependency["name"].as_str().unwrap_or_default();
    if ARROWS.iter().any(|other| other.name == used) {
        let what = format!("`{name}` uses `{used}`, but no arrow goes there");
        let remedy = "move the code to the crate that may use both, or pass the value in";
        let is_shipped = dependency["kind"] != "dev";
        let goes_there = arrows.may_use.contains(&used) && !(is_shipped && [SCRIPTED_MODEL, BINARY].contains(&used));
        return (!goes_there).then(|| violation(name, what, remedy));
    }
    if dependency["kind"] == "dev" {
        return None;
    }
    if arrows.outside.is_some_and(|allowed| !allowed.contains(&used)) {
        let what = format!("`{name}` uses `{used}`, which its allow-list does not name");
        return Some(violation(
            name,
            what,
            "do without it, or argue in review for a new name on the list in `arrows.rs`",
        ));
    }
    let owners = RESERVED.iter().find(|(reserved, _)| *reserved == used).map(|(_, owners)| *owners)?;
    let what = format!("`{name}` uses `{used}`, which belongs to {}", owners.join(", "));
    (!owners.contains(&name)).then(|| violation(name, what, "call the crate that owns it"))
}

fn violation(place: &str, what: String, remedy: &str) -> Violation {
    Violation { rule: "arrows", place: place.to_owned(), what, remedy: remedy.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{BINARY, violations};
    use crate::repository::Repository;

    fn metadata(name: &str, used: &str, kind: Option<&str>) -> Value {
        json!({"packages": [{"name": name, "default_run": name, "dependencies": [{"name": used, "kind": kind}]}]})
    }

    #[test]
    fn cargo_run_means_one_program() {
        let binary = |default_run: Value| json!({"packages": [{"name": BINARY, "default_run": default_run}]});
        assert_eq!(violations(&binary(BINARY.into())), []);
        assert_eq!(violations(&binary(Value::Null)).len(), 1);
    }

    #[test]
    fn drawn_arrows_pass() {
        for (name, used) in [
            ("longhaul", "longhaul-worker"),
            ("longhaul-worker", "longhaul-keeper"),
            ("longhaul-store", "longhaul-core"),
            ("longhaul-store", "rusqlite"),
            ("longhaul-core", "serde"),
            ("longhaul-keeper", "nix"),
        ] {
            assert_eq!(violations(&metadata(name, used, None)), [], "{name} -> {used}");
        }
    }

    #[test]
    fn other_arrows_are_found() {
        for (name, used) in [
            ("longhaul-core", "longhaul-agents"),
            ("longhaul-worker", "longhaul"),
            ("longhaul-app", "longhaul-worker"),
            ("longhaul-server", "longhaul-worker"),
            ("longhaul-server", "longhaul-store"),
            ("longhaul-store", "longhaul-keeper"),
            ("longhaul-core", "tokio"),
            ("longhaul-agents", "sha2"),
            ("longhaul-worker", "rusqlite"),
            ("longhaul-keeper", "tokio"),
        ] {
            assert_eq!(violations(&metadata(name, used, None)).len(), 1, "{name} -> {used}");
        }
    }

    #[test]
    fn tests_may_use_outside_crates_but_follow_the_arrows() {
        assert_eq!(violations(&metadata("longhaul-core", "proptest", Some("dev"))), []);
        assert_eq!(violations(&metadata("longhaul-core", "proptest", Some("build"))).len(), 1);
        assert_eq!(violations(&metadata("longhaul-core", "longhaul-store", Some("dev"))).len(), 1);
    }

    #[test]
    fn the_scripted_model_is_for_tests_and_knows_nothing_of_ours() {
        assert_eq!(violations(&metadata("longhaul", "longhaul-scripted-model", Some("dev"))), []);
        assert_eq!(violations(&metadata("longhaul", "longhaul-scripted-model", None)).len(), 1);
        assert_eq!(violations(&metadata("longhaul", "longhaul", Some("dev"))), []);
        assert_eq!(violations(&metadata("longhaul-scripted-model", "longhaul-core", Some("dev"))).len(), 1);
    }

    #[test]
    fn unknown_crates_and_empty_answers_are_found() {
        assert_eq!(violations(&metadata("longhaul-new", "serde", None)).len(), 1);
        assert_eq!(violations(&json!({})).len(), 1);
    }

    #[test]
    fn the_answer_of_cargo_is_understood() {
        let metadata = Repository::here().metadata().expect("cargo describes this workspace");
        let packages = metadata["packages"].as_array().expect("packages are a list");
        let core = packages.iter().find(|package| package["name"] == "longhaul-core").expect("core is a crate");
        let uses_serde = |dependency: &Value| dependency["name"] == "serde" && dependency["kind"].is_null();
        assert!(core["dependencies"].as_array().expect("dependencies are a list").iter().any(uses_serde));
    }
}

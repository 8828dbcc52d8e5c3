//! Ignored files that patterns select, and names that are ignored in a worktree.

use std::collections::BTreeSet;
use std::fs;

use longhaul_keeper::Environment;

use super::scene::{Scene, with_each_git};

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn select(scene: &Scene, patterns: &[&str]) -> BTreeSet<String> {
    let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    scene.repository().ignored_files(&patterns, &Environment::of_process()).unwrap()
}

#[test]
fn patterns_select_ignored_files_only_at_any_depth() {
    with_each_git(|scene| {
        scene.write(".gitignore", ".env\n/deps/\n*.local\n");
        scene.write("tracked.local", "forced");
        scene.plain(&["add", "-f", "tracked.local"]);
        scene.commit("first");
        fs::create_dir_all(scene.project().join("deps/a")).unwrap();
        fs::create_dir_all(scene.project().join("sub")).unwrap();
        fs::create_dir_all(scene.project().join(".autonomous/t")).unwrap();
        for name in [".env", "sub/.env", "deps/a/x", "b.local", "plain", ".autonomous/t/n.local", "with space.local"] {
            scene.write(name, "x");
        }
        assert_eq!(select(scene, &[".env"]), names(&[".env", "sub/.env"]));
        assert_eq!(select(scene, &["/.env"]), names(&[".env"]));
        assert_eq!(select(scene, &["deps"]), names(&["deps/a/x"]));
        assert_eq!(select(scene, &["*.local", "!b.local"]), names(&["with space.local"]));
        assert!(!select(scene, &["plain", "*"]).contains("plain"), "it is not ignored");
        assert_eq!(select(scene, &["-x", "--others", "\n"]), names(&[]), "a pattern is no option");
    });
}

#[test]
fn a_name_is_judged_by_the_ignore_rules_of_the_worktree() {
    with_each_git(|scene| {
        scene.write(".gitignore", ".env\n");
        scene.commit("first");
        let worktree = scene.worktree("task");
        let asked = names(&[".env", "sub/.env", "other"]);
        assert_eq!(worktree.repository().ignored_among(&asked).unwrap(), names(&[".env", "sub/.env"]));
        assert_eq!(worktree.repository().ignored_among(&names(&["other"])).unwrap(), names(&[]));
    });
}

//! Files that git checks out with other bytes than they have, against what a plain checkout of the same tree holds.

use std::collections::BTreeSet;
use std::fs;

use longhaul_git::Removal;
use longhaul_keeper::Environment;

use crate::scene::{BRANCH, Scene, with_each_git, write};
use crate::traps::Traps;

/// What the wrapper finds now.
fn converted(scene: &Scene) -> BTreeSet<String> {
    let repository = scene.repository();
    let survey = repository.survey().unwrap();
    // For looking nothing is stored; around checks the tree is.
    repository.snapshot(&format!("refs/longhaul/t/{}", survey.tree.as_str()), "x").unwrap();
    let found = repository.converted_files(&survey).unwrap();
    found.into_iter().map(|path| String::from_utf8(path).unwrap()).collect()
}

/// The files that differ from a clone of the same tree, by plain git.
fn by_plain_git(scene: &Scene) -> BTreeSet<String> {
    let repository = scene.repository();
    let commit = repository.snapshot("refs/longhaul/plain/1", "x").unwrap();
    let place = scene.root.path().join("plain");
    scene.plain(&["worktree", "add", "-q", "--detach", place.to_str().unwrap(), commit.as_str()]);
    let names = scene.plain(&["ls-tree", "-r", "-z", "--name-only", commit.as_str()]);
    let differs = |name: &&str| fs::read(place.join(name)).unwrap() != fs::read(scene.project().join(name)).unwrap();
    names.split('\0').filter(|name| !name.is_empty()).filter(differs).map(str::to_owned).collect()
}

/// The wrapper and plain git agree on these names.
#[track_caller]
fn are_converted(scene: &Scene, names: &[&str]) {
    let found = converted(scene);
    assert_eq!(found, names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(by_plain_git(scene), found, "plain git");
}

#[test]
fn line_endings_identifiers_and_encodings() {
    with_each_git(|scene| {
        scene.write(
            ".gitattributes",
            "*.auto text=auto\n*.text text\n*.crlf eol=crlf\n*.lf eol=lf\n*.old crlf\n*.raw -text\n*.id ident\n\
             *.wide working-tree-encoding=UTF-16LE\n",
        );
        for ending in ["auto", "text", "crlf", "lf", "old", "raw", "none"] {
            scene.write(format!("new line\n.{ending}"), "one\n");
            scene.write(format!("windows.{ending}"), "one\r\n");
        }
        scene.write("binary.auto", "one\r\n\0");
        scene.write("new.id", "$Id$\n");
        scene.write("none.id", "no identifier\n");
        scene.write("hi.wide", "h\0i\0");
        scene.write("sub/.gitattributes", "* eol=crlf\n");
        scene.write("sub/unix", "one\n");
        let wrong = ["windows.auto", "windows.text", "new line\n.crlf", "windows.lf", "windows.old", "new.id"];
        are_converted(scene, &[&wrong[..], &["sub/.gitattributes", "sub/unix"]].concat());
    });
}

#[test]
fn nothing_is_converted_without_attributes_and_settings() {
    with_each_git(|scene| {
        scene.write("windows", "one\r\n");
        scene.write("unix", "one\n");
        scene.commit("both");
        scene.write("windows", "two\r\n");
        are_converted(scene, &[]);
    });
}

#[test]
fn settings_convert_what_no_attribute_names() {
    for (key, value, wrong) in [
        ("core.autocrlf", "true", &["unix"][..]),
        ("core.autocrlf", "input", &["windows"]),
        ("core.autocrlf", "false", &[]),
        ("core.eol", "crlf", &[]),
    ] {
        with_each_git(|scene| {
            scene.plain(&["config", key, value]);
            scene.write("windows", "one\r\n");
            scene.write("unix", "one\n");
            are_converted(scene, wrong);
        });
    }
    with_each_git(|scene| {
        scene.plain(&["config", "core.eol", "crlf"]);
        scene.write(".gitattributes", "* text=auto\n");
        scene.write("windows", "one\r\n");
        scene.write("unix", "one\n");
        are_converted(scene, &[".gitattributes", "unix"]);
    });
}

#[test]
fn what_git_itself_checked_out_is_exact() {
    with_each_git(|scene| {
        scene.write(
            ".gitattributes",
            "*.crlf eol=crlf\n*.id ident\n*.wide working-tree-encoding=UTF-16LE\n* text=auto\n",
        );
        for (name, text) in [("a.crlf", "one\n"), ("a.id", "$Id$\n"), ("a.wide", "h\0i\0"), ("a.txt", "one\n")] {
            scene.write(name, text);
        }
        let head = scene.commit("all");
        let worktree =
            scene.repository().create_worktree(&scene.place("w"), BRANCH, &head, &Environment::of_process()).unwrap();
        let repository = worktree.repository();
        let exact = |repository: &longhaul_git::Repository| {
            repository.converted_files(&repository.survey().unwrap()).unwrap().is_empty()
        };
        assert_eq!(fs::read(worktree.path().join("a.crlf")).unwrap(), b"one\r\n");
        assert!(exact(repository));
        write(worktree.path(), "a.id", "$Id: stale $\n");
        assert!(!exact(repository));
    });
}

#[test]
fn attributes_outside_the_tree_count_only_on_the_way_in() {
    with_each_git(|scene| {
        scene.write(".gitignore", ".gitattributes\n");
        scene.write(".gitattributes", "*.in text\n*.out eol=crlf\n");
        scene.write("a.in", "one\r\n");
        scene.write("a.out", "one\r\n");
        scene.write("b.out", "one\n");
        assert_eq!(converted(scene), ["a.in", "a.out"].map(str::to_owned).into());
    });
}

#[test]
fn no_program_of_the_repository_runs_and_nothing_is_left() {
    with_each_git(|scene| {
        let traps = Traps::set(scene);
        let attributes = fs::read_to_string(scene.project().join(".gitattributes")).unwrap();
        scene.write(".gitattributes", format!("{attributes}* text eol=crlf\n"));
        assert!(converted(scene).contains("old.listed"), "the control: it is checked out");
        assert_eq!(traps.fired(), BTreeSet::new());
        let left = fs::read_dir(scene.root.path().join("state/scratch")).unwrap().count();
        assert_eq!(left, 1, "only the gate is left");
    });
}

#[test]
fn a_worktree_with_the_users_line_endings_is_clean_and_can_be_removed() {
    with_each_git(|scene| {
        scene.plain(&["config", "core.autocrlf", "true"]);
        scene.write("a.txt", "one\r\n");
        let head = scene.commit("crlf");
        let worktree =
            scene.repository().create_worktree(&scene.place("w"), BRANCH, &head, &Environment::of_process()).unwrap();
        assert_eq!(worktree.remove(None).unwrap(), Removal::Removed);
    });
}

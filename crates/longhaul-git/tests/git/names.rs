//! Names that try to be options, lines, quotes or no text at all.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use longhaul_git::{Committed, WorktreeError, task_branch};
use longhaul_keeper::Environment;

use crate::scene::{BRANCH, Scene, programs, with_each_git, write};

const FILES: &[&[u8]] = &[
    b"-rf",
    b"--all",
    b"new\nline",
    b"tab\there",
    b"quote\"d",
    b"'single'",
    b"back\\slash",
    b"not-\xff\xfe-utf8",
    b" space ",
    b"$(touch x)",
    b";ls",
    b":(glob)*",
    b":!x",
    b"\xc3\xa4.txt",
    b"dir with space/-x/\xff",
];

#[test]
fn files_of_any_name_are_seen_kept_and_committed() {
    with_each_git(|scene| {
        scene.write(".gitattributes", "raw* filter=none-such\n");
        scene.commit("first");
        let head = scene.head();
        for name in FILES {
            scene.write(OsStr::from_bytes(name), name);
        }
        scene.write(OsStr::from_bytes(b"raw\"\n\xff\\"), "raw");
        let changed = scene.repository().changed_files(&head, None).unwrap();
        let has = |name: &[u8]| changed.iter().any(|file| file.path == Path::new(OsStr::from_bytes(name)));
        FILES.iter().for_each(|name| assert!(has(name), "{}", String::from_utf8_lossy(name)));
        assert_eq!(changed.len(), FILES.len() + 1);
        assert_eq!(scene.repository().uncommitted().unwrap().total, FILES.len() + 1);
        let snapshot = scene.repository().snapshot("refs/longhaul/t/1", "-m --amend").unwrap();
        scene.plain(&["add", "-A"]);
        assert_eq!(scene.plain(&["rev-parse", &format!("{snapshot}^{{tree}}")]), scene.plain(&["write-tree"]));
    });
}

#[test]
fn files_of_any_name_are_committed() {
    let scene = Scene::committed(programs().last().unwrap());
    let worktree = scene.worktree("w");
    for name in FILES {
        write(worktree.path(), OsStr::from_bytes(name), name);
    }
    assert!(matches!(worktree.commit_all("--amend\n-m x").unwrap(), Committed::All { commit: Some(_), .. }));
    assert_eq!(scene.status(worktree.path()), "");
    let message = scene.plain_in(worktree.path(), &["log", "-1", "--format=%B"]);
    assert_eq!(message.trim(), "--amend\n-m x");
}

#[test]
fn every_title_gives_a_branch_that_git_takes() {
    let scene = Scene::committed(programs().last().unwrap());
    let long = "x".repeat(5000);
    let titles = [
        "",
        " ",
        ".",
        "..",
        "...",
        "-",
        "--",
        "-x",
        "@",
        "@{",
        "@{-1}",
        "HEAD",
        "a.lock",
        "a.lock.lock",
        ".lock",
        "a.",
        "a..b",
        "a/b",
        "/",
        "//",
        "a~1",
        "a^",
        "a:b",
        "a?b*[",
        "a\\b",
        "a b\tc\nd",
        "äöü",
        "日本語",
        "\u{7f}",
        "\0",
        "a.-.lock",
        &long,
        "refs/heads/x",
        "!",
        "a-.",
        "-.-",
    ];
    for title in titles {
        let branch = task_branch(title);
        assert!(branch.starts_with("longhaul/") && branch.len() < 80, "{branch}");
        scene.plain(&["check-ref-format", "--branch", &branch]);
        scene.plain(&["check-ref-format", &format!("refs/heads/{branch}")]);
    }
    assert!(!scene.try_plain(&scene.project(), &["check-ref-format", "refs/heads/longhaul/a..b"]).status.success());
}

#[test]
fn bad_branches_are_refused() {
    let scene = Scene::committed(programs().last().unwrap());
    for bad in ["", "-x", "--orphan", "a..b", "a b", "a.lock", "a/", "/a", "@{-1}", "a\nb", "a\0b"] {
        let answer =
            scene.repository().create_worktree(&scene.place("w"), bad, &scene.head(), &Environment::of_process());
        assert!(matches!(answer, Err(WorktreeError::BadBranch { .. })), "{bad:?}: {answer:?}");
    }
    assert!(!scene.place("w").exists());
}

#[test]
fn places_of_any_name_work() {
    with_each_git(|scene| {
        scene.write("a.txt", "one\n");
        scene.commit("first");
        for name in ["-dash", "with space", "quo\"te", "co:lon", "ä", "$(x)", "-f/deeper"] {
            let worktree = scene
                .repository()
                .create_worktree(&scene.place(name), BRANCH, &scene.head(), &Environment::of_process())
                .unwrap();
            write(worktree.path(), "work", name);
            assert!(matches!(worktree.commit_all("x").unwrap(), Committed::All { commit: Some(_), .. }), "{name}");
            assert_eq!(worktree.repository().changed_files(&scene.head(), None).unwrap().len(), 1);
        }
    });
}

//! Repositories with filters and line endings stay clean and unchanged, whatever is asked.

use std::fs;
use std::path::Path;

use longhaul_git::{Committed, Removal};
use longhaul_keeper::Environment;

use crate::scene::{BRANCH, Scene, programs, with_each_git, write};

/// Asks everything that must not change the checkout, and looks at it after each.
fn ask_everything(scene: &Scene) {
    let head = scene.head();
    let before = scene.index_bytes();
    let status = scene.try_plain(&scene.project(), &["--no-optional-locks", "status", "--porcelain"]).stdout;
    let same = |what: &str| {
        let after = scene.try_plain(&scene.project(), &["--no-optional-locks", "status", "--porcelain"]).stdout;
        assert_eq!(String::from_utf8_lossy(&after), String::from_utf8_lossy(&status), "{what}");
        assert!(scene.index_bytes() == before, "{what} changed the index");
    };
    let repository = scene.repository();
    repository.uncommitted().unwrap();
    same("uncommitted");
    repository.survey().unwrap();
    same("survey");
    repository.diff(&head, None).unwrap();
    same("diff");
    repository.changed_files(&head, None).unwrap();
    same("changed_files");
    repository.snapshot("refs/longhaul/clean/1", "x").unwrap();
    same("snapshot");
    let worktree =
        repository.create_worktree(&scene.place("clean"), "longhaul/clean", &head, &Environment::of_process()).unwrap();
    same("create");
    assert_eq!(worktree.remove(None).unwrap(), Removal::Removed);
    same("remove");
}

fn head_tree(scene: &Scene) -> String {
    scene.plain(&["rev-parse", "HEAD^{tree}"])
}

/// A filter that stores text in capitals and checks it out in small letters, as LFS stores pointers for content.
fn filter(scene: &Scene) {
    scene.plain(&["config", "filter.big.clean", "tr a-z A-Z"]);
    scene.plain(&["config", "filter.big.smudge", "tr A-Z a-z"]);
    scene.plain(&["config", "filter.big.required", "true"]);
    scene.write(".gitattributes", "*.big filter=big\n");
    scene.write("one.big", "content\n");
    scene.write("two.txt", "text\n");
    scene.commit("filtered");
}

#[test]
fn a_filtered_repository_stays_clean() {
    with_each_git(|scene| {
        filter(scene);
        assert_eq!(scene.plain(&["show", "HEAD:one.big"]), "CONTENT");
        ask_everything(scene);
        assert_eq!(scene.repository().survey().unwrap().tree.as_str(), head_tree(scene));
        assert!(scene.repository().uncommitted().unwrap().is_empty());
        assert_eq!(scene.status(&scene.project()), "");
    });
}

#[test]
fn files_under_a_filter_are_kept_raw_and_never_committed_by_us() {
    with_each_git(|scene| {
        filter(scene);
        scene.write("one.big", "changed content\n");
        scene.write("new \"three\"\n.big", "new content\n");
        let repository = scene.repository();
        let snapshot = repository.snapshot("refs/longhaul/t/1", "x").unwrap();
        assert_eq!(scene.plain(&["show", &format!("{snapshot}:one.big")]), "changed content");
        assert_eq!(scene.plain(&["show", &format!("{snapshot}:new \"three\"\n.big")]), "new content");
        ask_everything(scene);

        let worktree = scene.worktree("w");
        assert_eq!(fs::read_to_string(worktree.path().join("one.big")).unwrap(), "CONTENT\n");
        write(worktree.path(), "two.txt", "more\n");
        write(worktree.path(), "one.big", "OTHER\n");
        assert!(matches!(worktree.commit_all("x").unwrap(), Committed::All { commit: Some(_), .. }));
        let in_worktree = |arguments: &[&str]| scene.plain_in(worktree.path(), arguments);
        assert_eq!(in_worktree(&["show", "HEAD:two.txt", "HEAD:one.big"]), "more\nCONTENT");
        assert_eq!(in_worktree(&["status", "--porcelain"]), " M one.big", "left to the agent, and nothing is staged");
        assert!(!worktree.repository().git_dir().join("index.lock").exists());
    });
}

/// Four ways to line endings: by attribute, by configuration, old CRLF content under `text=auto`, and none.
fn line_endings(scene: &Scene, case: &str) {
    match case {
        "attribute" => scene.write(".gitattributes", "*.txt text eol=crlf\n"),
        "configuration" => {
            scene.plain(&["config", "core.autocrlf", "true"]);
            scene.plain(&["config", "core.safecrlf", "true"]);
        }
        "old content" => {}
        other => panic!("{other}"),
    }
    scene.plain(&["config", "--add", "core.safecrlf", "false"]);
    scene.write("a.txt", "one\r\ntwo\r\n");
    scene.commit("crlf");
    if case == "old content" {
        scene.write(".gitattributes", "* text=auto\n");
        scene.commit("attributes later");
    }
    scene.plain(&["config", "--unset-all", "core.safecrlf"]);
    scene.plain(&["config", "core.safecrlf", "true"]);
}

#[test]
fn repositories_with_line_endings_stay_clean() {
    for program in programs() {
        for case in ["attribute", "configuration", "old content"] {
            let scene = Scene::with(&program);
            line_endings(&scene, case);
            assert_eq!(scene.status(&scene.project()), "", "{case}");
            ask_everything(&scene);
            // Touched, every file is read anew: the conversion must give the same again.
            touch(&scene.project().join("a.txt"));
            assert_eq!(scene.repository().survey().unwrap().content.as_str(), head_tree(&scene), "{case}");
            assert!(scene.repository().uncommitted().unwrap().is_empty(), "{case}");
            ask_everything(&scene);
            commit_in_worktree(&scene, case);
        }
    }
}

fn commit_in_worktree(scene: &Scene, case: &str) {
    let worktree = scene
        .repository()
        .create_worktree(&scene.place("w"), BRANCH, &scene.head(), &Environment::of_process())
        .unwrap();
    assert_eq!(scene.status(worktree.path()), "", "{case}");
    assert_eq!(fs::read(worktree.path().join("a.txt")).unwrap(), b"one\r\ntwo\r\n", "{case}");
    touch(&worktree.path().join("a.txt"));
    assert!(matches!(worktree.commit_all("x").unwrap(), Committed::All { commit: None, .. }), "{case}");
    write(worktree.path(), "b.txt", "three\r\n");
    assert!(matches!(worktree.commit_all("x").unwrap(), Committed::All { commit: Some(_), .. }), "{case}");
    assert_eq!(scene.status(worktree.path()), "", "{case}");
    let changed = worktree.repository().changed_files(&scene.head(), None).unwrap();
    assert_eq!(changed.len(), 1, "{case}: {changed:?}");
}

fn touch(path: &Path) {
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
    fs::File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
}

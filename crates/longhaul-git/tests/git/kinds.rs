//! Repositories of other kinds: without commits, bare, with submodules, sparse, linked, foreign, damaged, split, SHA-256.

use std::fs;
use std::os::unix::fs::chown;
use std::process::Command;

use longhaul_git::{Committed, GitError, Removal};
use longhaul_keeper::Environment;

use crate::scene::{BRANCH, Scene, programs, with_each_git, write};

fn scene() -> Scene {
    Scene::committed(programs().last().unwrap())
}

#[test]
fn a_directory_without_repository_is_none() {
    let scene = scene();
    let lone = scene.root.path().join("lone");
    fs::create_dir_all(lone.join("sub/.git")).unwrap();
    assert!(scene.git.find(&lone).unwrap().is_none());
    assert!(scene.git.find(&lone.join("sub")).unwrap().is_none(), "an empty `.git` is nothing");
    assert!(scene.git.find(&lone.join("absent")).is_err());
}

#[test]
fn a_damaged_repository_is_an_error_and_never_none() {
    with_each_git(|scene| {
        let head = scene.project().join(".git/HEAD");
        fs::rename(&head, head.with_extension("away")).unwrap();
        let error = scene.git.find(&scene.project()).unwrap_err();
        assert!(matches!(error, GitError::Damaged { .. }), "{error}");
        fs::create_dir(scene.project().join("sub")).unwrap();
        assert!(scene.git.find(&scene.project().join("sub")).is_err());
        let broken = scene.root.path().join("broken");
        write(&broken, ".git", "gitdir: /nowhere\n");
        assert!(scene.git.find(&broken).is_err());
    });
}

#[test]
fn a_repository_of_another_user_is_an_error_with_its_text() {
    if !rustix::process::geteuid().is_root() {
        // Only root can give files away; everybody else has nothing to try here.
        return;
    }
    with_each_git(|scene| {
        let project = scene.project();
        let status = Command::new("chown").args(["-R".as_ref(), "12345".as_ref(), project.as_os_str()]).status();
        assert!(status.unwrap().success());
        let error = scene.git.find(&project).unwrap_err();
        assert!(error.to_string().contains("dubious ownership"), "{error}");
        chown(&project, Some(0), Some(0)).unwrap();
        let status = Command::new("chown").args(["-R".as_ref(), "0".as_ref(), project.as_os_str()]).status();
        assert!(status.unwrap().success());
        assert!(scene.git.find(&project).unwrap().is_some());
    });
}

#[test]
fn a_repository_without_commits_has_trees_and_snapshots() {
    with_each_git(|scene| {
        let repository = scene.repository();
        assert_eq!(repository.head_commit().unwrap(), None);
        assert_eq!(repository.branch().unwrap().as_deref(), Some("main"));
        assert!(repository.uncommitted().unwrap().is_empty());
        let empty = repository.survey().unwrap().content;
        scene.write("a.txt", "one\n");
        assert_eq!(repository.uncommitted().unwrap().files, ["a.txt"]);
        assert_ne!(repository.survey().unwrap().content, empty);
        let snapshot = repository.snapshot("refs/longhaul/t/1", "x").unwrap();
        assert_eq!(repository.snapshot("refs/longhaul/t/1", "x").unwrap(), snapshot);
        assert_eq!(scene.plain(&["rev-list", "--count", snapshot.as_str()]), "1");
        assert_eq!(repository.head_commit().unwrap(), None);
        assert_eq!(scene.index_bytes(), None);
    });
}

#[test]
fn a_bare_repository_has_no_files_to_work_on() {
    let scene = scene();
    let bare = scene.root.path().join("bare.git");
    fs::create_dir(&bare).unwrap();
    scene.plain_in(&bare, &["init", "-q", "--bare"]);
    assert!(matches!(scene.git.find(&bare), Err(GitError::NoWorkTree { .. })));
    assert!(matches!(scene.git.find(&scene.project().join(".git")), Err(GitError::NoWorkTree { .. })));
    scene.plain(&["push", "-q", &bare.display().to_string(), "main"]);
    scene.plain_in(&bare, &["worktree", "add", "-q", "../of-bare", "main"]);
    let repository = scene.git.find(&scene.root.path().join("of-bare")).unwrap().unwrap();
    let worktree =
        repository.create_worktree(&scene.place("w"), BRANCH, &scene.head(), &Environment::of_process()).unwrap();
    assert_eq!(worktree.remove(None).unwrap(), Removal::Removed);
}

#[test]
fn a_subdirectory_finds_its_top_level() {
    let scene = scene();
    let found = scene.git.find(&scene.project().join("dir")).unwrap().unwrap();
    assert_eq!(found.top_level(), scene.project());
    assert_eq!(found.git_dir(), scene.repository().git_dir());
}

#[test]
fn a_linked_worktree_of_the_user_is_a_project_like_any_other() {
    with_each_git(|scene| {
        scene.write("a.txt", "one\n");
        scene.commit("first");
        let linked = scene.root.path().canonicalize().unwrap().join("linked");
        scene.plain(&["worktree", "add", "-q", "-b", "users", &linked.display().to_string()]);
        write(&linked, "mine", "x");
        let repository = scene.git.find(&linked).unwrap().unwrap();
        assert_eq!(repository.top_level(), linked);
        assert_eq!(repository.common_dir(), scene.project().join(".git"));
        assert_eq!(repository.branch().unwrap().as_deref(), Some("users"));
        assert_eq!(repository.uncommitted().unwrap().files, ["mine"]);
        let worktree =
            repository.create_worktree(&scene.place("w"), BRANCH, &scene.head(), &Environment::of_process()).unwrap();
        write(worktree.path(), "work", "x");
        assert!(matches!(worktree.commit_all("x").unwrap(), Committed::All { commit: Some(_), .. }));
        assert_eq!(scene.status(&linked), "?? mine");
        assert_eq!(scene.plain_in(&linked, &["branch", "--show-current"]), "users");
    });
}

#[test]
fn submodules_count_by_their_commit() {
    with_each_git(|scene| {
        let origin = scene.root.path().join("origin");
        write(&origin, "inside", "one\n");
        scene.plain_in(&origin, &["init", "-q"]);
        scene.plain_in(&origin, &["add", "-A"]);
        scene.plain_in(&origin, &["commit", "-q", "-m", "one"]);
        let url = origin.display().to_string();
        scene.plain(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "module"]);
        scene.commit("with module");
        let repository = scene.repository();
        assert!(repository.uncommitted().unwrap().is_empty());
        let before = repository.survey().unwrap().content;
        let module = scene.project().join("module");
        write(&module, "inside", "changed\n");
        assert_eq!(repository.survey().unwrap().content, before, "changes inside are the submodule's own");
        scene.plain_in(&module, &["commit", "-q", "-a", "-m", "two"]);
        assert_ne!(repository.survey().unwrap().content, before);
        assert_eq!(repository.uncommitted().unwrap().files, ["module"]);
        let worktree = scene.worktree("w");
        assert_eq!(scene.status(worktree.path()), "");
        assert!(matches!(worktree.commit_all("x").unwrap(), Committed::All { commit: None, .. }));
        scene.plain_in(worktree.path(), &["clone", "-q", &url, "module"]);
        assert!(matches!(worktree.remove(None).unwrap(), Removal::Kept { .. }), "a submodule with files may hold work");
    });
}

#[test]
fn a_sparse_checkout_keeps_what_is_not_checked_out() {
    with_each_git(|scene| {
        for name in ["in/a", "out/b", "top"] {
            scene.write(name, name);
        }
        scene.commit("first");
        let tree = scene.plain(&["rev-parse", "HEAD^{tree}"]);
        for mode in ["--no-sparse-index", "--sparse-index"] {
            scene.plain(&["sparse-checkout", "set", "--cone", mode, "in"]);
            assert!(!scene.project().join("out").exists());
            let repository = scene.repository();
            assert_eq!(repository.survey().unwrap().content.as_str(), tree, "{mode}");
            assert!(repository.uncommitted().unwrap().is_empty());
            let worktree = scene.worktree(mode);
            assert_eq!(scene.status(worktree.path()), "", "{mode}");
            assert!(matches!(worktree.commit_all("x").unwrap(), Committed::All { commit: None, .. }));
            write(worktree.path(), "in/new", "x");
            assert!(matches!(worktree.commit_all("x").unwrap(), Committed::All { commit: Some(_), .. }));
            assert_eq!(worktree.repository().changed_files(&scene.head(), None).unwrap().len(), 1, "{mode}");
            assert_eq!(scene.status(worktree.path()), "", "{mode}");
        }
    });
}

#[test]
fn a_split_index_is_read_whole() {
    let scene = scene();
    scene.plain(&["update-index", "--split-index"]);
    scene.write("new", "x");
    scene.plain(&["add", "new"]);
    assert_eq!(scene.repository().survey().unwrap().content.as_str(), scene.plain(&["write-tree"]));
    let worktree = scene.worktree("w");
    scene.plain_in(worktree.path(), &["update-index", "--split-index"]);
    write(worktree.path(), "work", "x");
    assert!(matches!(worktree.commit_all("x").unwrap(), Committed::All { commit: Some(_), .. }));
    assert_eq!(scene.status(worktree.path()), "");
}

#[test]
fn a_repository_with_long_ids_works() {
    with_each_git(|scene| {
        let project = scene.root.path().canonicalize().unwrap().join("long");
        fs::create_dir(&project).unwrap();
        scene.plain_in(&project, &["init", "-q", "--object-format=sha256"]);
        write(&project, "a.txt", "one\n");
        let repository = scene.git.find(&project).unwrap().unwrap();
        repository.snapshot("refs/longhaul/t/1", "x").unwrap();
        scene.plain_in(&project, &["add", "-A"]);
        scene.plain_in(&project, &["commit", "-q", "-m", "x"]);
        let head = repository.head_commit().unwrap().unwrap();
        assert_eq!(head.as_str().len(), 64);
        fs::remove_file(project.join("a.txt")).unwrap();
        assert_eq!(repository.uncommitted().unwrap().files, ["a.txt"]);
        let worktree =
            repository.create_worktree(&scene.place("w"), BRANCH, &head, &Environment::of_process()).unwrap();
        write(worktree.path(), "work", "x");
        assert!(matches!(worktree.commit_all("x").unwrap(), Committed::All { commit: Some(_), .. }));
        assert_eq!(worktree.repository().changed_files(&head, None).unwrap().len(), 1);
    });
}

#[test]
fn objects_of_another_repository_are_found() {
    let scene = scene();
    let clone = scene.root.path().canonicalize().unwrap().join("clone: \"of\" it");
    let (from, to) = (scene.project().display().to_string(), clone.display().to_string());
    scene.plain_in(scene.root.path(), &["clone", "-q", "--shared", &from, &to]);
    let repository = scene.git.find(&clone).unwrap().unwrap();
    write(&clone, "new", "x");
    assert_eq!(repository.changed_files(&scene.head(), None).unwrap().len(), 1);
    repository.snapshot("refs/longhaul/t/1", "x").unwrap();
    let worktree =
        repository.create_worktree(&scene.place("w"), BRANCH, &scene.head(), &Environment::of_process()).unwrap();
    assert_eq!(worktree.remove(None).unwrap(), Removal::Removed);
}

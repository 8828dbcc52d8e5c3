//! Worktrees: made once, found again, refused when they are no longer what was recorded, and removed only when nothing is lost.

use std::fs;

use longhaul_git::{Committed, Removal, Worktree, WorktreeError};
use longhaul_keeper::Environment;

use crate::scene::{BRANCH, Scene, programs, with_each_git, write};

fn scene() -> Scene {
    Scene::committed(programs().last().unwrap())
}

fn kept(answer: Removal) -> String {
    let Removal::Kept { why } = answer else { panic!("{answer:?}") };
    why
}

#[test]
fn a_worktree_is_made_and_the_users_checkout_is_not_touched() {
    for program in programs() {
        let scene = Scene::committed(&program);
        scene.write("a.txt", "the user's own change\n");
        let (status, index) = (scene.status(&scene.project()), scene.index_bytes());
        let worktree = scene.worktree("w");
        assert_eq!(worktree.branch(), BRANCH);
        assert_eq!(*worktree.base(), scene.head());
        assert_eq!(scene.status(worktree.path()), "");
        assert_eq!(fs::read_to_string(worktree.path().join("dir/b.txt")).unwrap(), "two\n");
        assert_eq!(scene.plain_in(worktree.path(), &["symbolic-ref", "HEAD"]), "refs/heads/longhaul/task");
        assert!(scene.index_bytes() == index);
        assert_eq!(scene.status(&scene.project()), status);
        assert_eq!(scene.plain(&["branch", "--show-current"]), "main");
        let again = scene.worktree("w");
        assert_eq!(again.record().unwrap(), worktree.record().unwrap());
        let text = serde_json::to_string(&worktree.record().unwrap()).unwrap();
        let opened = Worktree::open(&scene.git, &serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(opened.record().unwrap(), worktree.record().unwrap());
    }
}

#[test]
fn a_taken_branch_gets_a_number_and_a_blocked_one_a_flat_name() {
    with_each_git(|scene| {
        scene.write("a.txt", "one\n");
        scene.commit("first");
        scene.plain(&["branch", "longhaul/task"]);
        scene.plain(&["branch", "longhaul/task-2/deeper"]);
        assert_eq!(scene.worktree("w3").branch(), "longhaul/task-3");
        assert_eq!(scene.worktree("w3").branch(), "longhaul/task-3");
        assert_eq!(scene.worktree("w4").branch(), "longhaul/task-4");
    });
    let scene = scene();
    scene.plain(&["branch", "longhaul"]);
    assert_eq!(scene.worktree("w").branch(), "longhaul-task");
    assert_eq!(scene.worktree("w").branch(), "longhaul-task");
    assert_eq!(scene.worktree("v").branch(), "longhaul-task-2");
}

#[test]
fn what_stands_at_the_path_is_never_overwritten() {
    let scene = scene();
    let (repository, head) = (scene.repository(), scene.head());
    write(&scene.place("files"), "mine", "x");
    fs::write(scene.place("file"), "x").unwrap();
    let other = scene.place("other");
    fs::create_dir_all(&other).unwrap();
    scene.plain_in(&other, &["init", "-q"]);
    for name in ["files", "file", "other"] {
        let answer = repository.create_worktree(&scene.place(name), BRANCH, &head, &Environment::of_process());
        assert!(matches!(answer, Err(WorktreeError::PathTaken { .. })), "{name}: {answer:?}");
    }
    assert_eq!(scene.references().len(), 1, "no branch was made");
    let absent = "1".repeat(40).parse().unwrap();
    assert!(matches!(
        repository.create_worktree(&scene.place("w"), BRANCH, &absent, &Environment::of_process()),
        Err(WorktreeError::NoBase { .. })
    ));
    fs::create_dir_all(scene.place("empty")).unwrap();
    repository.create_worktree(&scene.place("empty"), BRANCH, &head, &Environment::of_process()).unwrap();
}

#[test]
fn open_names_what_is_wrong() {
    with_each_git(|scene| {
        scene.write("a.txt", "one\n");
        scene.commit("first");
        let worktree = scene.worktree("w");
        let open = || Worktree::open(&scene.git, &worktree.record().unwrap()).unwrap_err();
        scene.plain_in(worktree.path(), &["checkout", "-q", "--detach"]);
        Worktree::open(&scene.git, &worktree.record().unwrap()).unwrap();
        let kept = worktree.removable(None).unwrap();
        assert!(matches!(&kept, Removal::Kept { why } if why.contains("detached")), "{kept:?}");
        scene.plain_in(worktree.path(), &["symbolic-ref", "HEAD", "refs/heads/longhaul/task"]);
        scene.plain(&["update-ref", "-d", "refs/heads/longhaul/task"]);
        assert!(matches!(open(), WorktreeError::BranchGone { .. }));
        scene.plain(&["branch", "longhaul/task"]);
        Worktree::open(&scene.git, &worktree.record().unwrap()).unwrap();
        let away = scene.place("away");
        fs::rename(worktree.path(), &away).unwrap();
        assert!(matches!(open(), WorktreeError::Deleted { .. }));
        scene.plain(&["worktree", "prune", "--expire=now"]);
        fs::rename(&away, worktree.path()).unwrap();
        assert!(matches!(open(), WorktreeError::Pruned { .. }));
    });
}

#[test]
fn only_what_loses_nothing_is_removed() {
    with_each_git(|scene| {
        scene.write("a.txt", "one\n");
        scene.write(".gitignore", "target\n");
        scene.commit("first");
        let worktree = scene.worktree("w");
        write(worktree.path(), "untracked", "x");
        assert!(kept(worktree.remove(None).unwrap()).contains("untracked"));
        scene.plain_in(worktree.path(), &["add", "untracked"]);
        fs::remove_file(worktree.path().join("untracked")).unwrap();
        assert!(kept(worktree.remove(None).unwrap()).contains("untracked"), "staged work is work");
        write(worktree.path(), "untracked", "x");
        let Committed::All { commit: Some(commit), .. } = worktree.commit_all("work").unwrap() else { panic!() };
        assert!(kept(worktree.remove(None).unwrap()).contains(commit.as_str()));
        assert!(worktree.path().join("untracked").exists());
        scene.plain(&["update-ref", "refs/remotes/origin/task", commit.as_str()]);
        write(worktree.path(), "target/out", "ignored");
        assert_eq!(worktree.remove(None).unwrap(), Removal::Removed);
        assert!(!worktree.path().exists());
        assert!(!scene.references().iter().any(|name| name.contains("longhaul/task")));
        assert_eq!(scene.plain(&["worktree", "list"]).lines().count(), 1);
    });
}

#[test]
fn commits_on_a_detached_head_and_nested_repositories_are_kept() {
    let scene = scene();
    let worktree = scene.worktree("w");
    scene.plain_in(worktree.path(), &["checkout", "-q", "--detach"]);
    scene.plain_in(worktree.path(), &["commit", "-q", "--allow-empty", "-m", "lost?"]);
    assert!(kept(worktree.remove(None).unwrap()).contains("in no other branch"));
    scene.plain_in(worktree.path(), &["checkout", "-q", "longhaul/task"]);
    let nested = worktree.path().join("nested");
    fs::create_dir(&nested).unwrap();
    scene.plain_in(&nested, &["init", "-q"]);
    write(&nested, "file", "x");
    assert!(kept(worktree.remove(None).unwrap()).contains("nested/"));
    scene.plain_in(&nested, &["add", "-A"]);
    scene.plain_in(&nested, &["commit", "-q", "-m", "x"]);
    assert!(kept(worktree.remove(None).unwrap()).contains("nested/"));
    let answer = worktree.commit_all("x").unwrap();
    assert!(matches!(&answer, Committed::LeftToAgent { why } if why.contains("nested/")), "{answer:?}");
}

#[test]
fn a_replaced_or_grafted_history_does_not_fool_remove() {
    let scene = scene();
    let worktree = scene.worktree("w");
    write(worktree.path(), "work", "x");
    let Committed::All { commit: Some(commit), .. } = worktree.commit_all("work").unwrap() else { panic!() };
    scene.plain(&["replace", "--graft", scene.head().as_str(), commit.as_str()]);
    assert!(scene.plain(&["branch", "--contains", commit.as_str()]).contains("main"), "plain git is fooled");
    assert!(kept(worktree.remove(None).unwrap()).contains(commit.as_str()));
}

#[test]
fn a_locked_worktree_is_kept_and_a_deleted_one_is_forgotten() {
    let scene = scene();
    let worktree = scene.worktree("w");
    let path = worktree.path().display().to_string();
    scene.plain(&["worktree", "lock", "--reason", "mine", &path]);
    assert!(kept(worktree.remove(None).unwrap()).contains("locked"));
    scene.plain(&["worktree", "unlock", &path]);
    fs::rename(worktree.path(), scene.place("away")).unwrap();
    assert_eq!(worktree.remove(None).unwrap(), Removal::Removed);
    assert_eq!(scene.references().len(), 1);
    assert!(!worktree.repository().git_dir().exists());
    assert_eq!(worktree.remove(None).unwrap(), Removal::Removed, "again after a crash");
}

//! Worktrees that nobody recorded, the question before a removal, and the snapshots of a task that goes.

use std::fs;

use longhaul_core::ids::TaskId;
use longhaul_git::{Committed, Removal, Worktree, WorktreeError};

use crate::scene::{BRANCH, Scene, programs, write};

fn scene() -> Scene {
    Scene::committed(programs().last().unwrap())
}

#[test]
fn the_question_has_the_answer_of_the_removal_and_removes_nothing() {
    let scene = scene();
    let worktree = scene.worktree("w");
    let path = worktree.path().to_owned();
    let text = path.display().to_string();
    let same = |why: &str| {
        let foretold = worktree.removable(None).unwrap();
        assert!(matches!(&foretold, Removal::Kept { why: told } if told.contains(why)), "{foretold:?}");
        assert_eq!(foretold, worktree.remove(None).unwrap());
    };
    write(&path, "new.txt", "x");
    same("uncommitted files, such as `new.txt`");
    fs::remove_file(path.join("new.txt")).unwrap();
    scene.plain(&["worktree", "lock", &text]);
    same("locked");
    scene.plain(&["worktree", "unlock", &text]);
    let before = scene.references();
    assert_eq!(worktree.removable(None).unwrap(), Removal::Removed);
    assert!(path.join("a.txt").exists() && scene.references() == before, "asked only");
    assert_eq!(worktree.remove(None).unwrap(), Removal::Removed);
    assert!(!path.exists() && scene.references().len() == 1);
}

#[test]
fn an_unrecorded_worktree_is_taken_up_as_it_was_made() {
    let scene = scene();
    let made = scene.worktree("w");
    let head = scene.head();
    let adopted = Worktree::adopt(&scene.git, &scene.place("w"), Some(&head)).unwrap();
    assert_eq!(adopted.record().unwrap(), made.record().unwrap());
    assert_eq!(Worktree::adopt(&scene.git, &scene.place("w"), None).unwrap().record().unwrap(), made.record().unwrap());
    assert_eq!(adopted.remove(None).unwrap(), Removal::Removed);
    assert!(!made.path().exists() && scene.references().len() == 1);
}

#[test]
fn work_that_is_only_there_is_never_taken_for_known() {
    let scene = scene();
    let made = scene.worktree("w");
    write(made.path(), "work", "x");
    let Committed::All { commit: Some(commit), .. } = made.commit_all("work").unwrap() else { panic!() };
    let error = Worktree::adopt(&scene.git, made.path(), None).unwrap_err();
    assert!(matches!(&error, WorktreeError::OnlyHere { commit: lost } if lost == commit.as_str()), "{error}");
    let adopted = Worktree::adopt(&scene.git, made.path(), Some(&scene.head())).unwrap();
    assert!(matches!(adopted.remove(None).unwrap(), Removal::Kept { .. }));
    scene.plain(&["branch", "saved", BRANCH]);
    let adopted = Worktree::adopt(&scene.git, made.path(), None).unwrap();
    assert_eq!(adopted.remove(None).unwrap(), Removal::Removed, "the control: it is elsewhere now");
}

#[test]
fn only_a_worktree_on_a_branch_of_a_task_is_taken_up() {
    let scene = scene();
    let refused = |path: &std::path::Path| Worktree::adopt(&scene.git, path, None).unwrap_err();
    assert!(matches!(refused(&scene.place("missing")), WorktreeError::NoWorktree { .. }));
    assert!(matches!(refused(&scene.project()), WorktreeError::NoWorktree { .. }), "the user's checkout");
    let below = scene.project().join("dir");
    assert!(matches!(refused(&below), WorktreeError::NoWorktree { .. }), "a directory of it");
    let made = scene.worktree("w");
    scene.plain_in(made.path(), &["switch", "-q", "-c", "mine"]);
    assert!(matches!(refused(made.path()), WorktreeError::OtherBranch { .. }));
    scene.plain_in(made.path(), &["switch", "-q", "--detach"]);
    assert!(matches!(refused(made.path()), WorktreeError::OtherBranch { .. }));
}

#[test]
fn the_snapshots_of_one_task_go_and_no_others() {
    let scene = scene();
    let repository = scene.repository();
    let task: TaskId = "0190c5a4-7d4e-7c3a-8f00-000000000001".parse().unwrap();
    assert_eq!(repository.remove_snapshots(task).unwrap(), 0);
    scene.write("new.txt", "x");
    let others = ["refs/longhaul/0190c5a4-7d4e-7c3a-8f00-000000000002/1", "refs/longhaul/0190c5a4-7d4e-7c3a-8f00-0/1"];
    for name in [format!("refs/longhaul/{task}/1"), format!("refs/longhaul/{task}/2")] {
        repository.snapshot(&name, "x").unwrap();
    }
    for name in others {
        repository.snapshot(name, "x").unwrap();
    }
    let before = scene.references().len();
    assert_eq!(repository.remove_snapshots(task).unwrap(), 2);
    let left = scene.references();
    assert_eq!(left.len(), before - 2);
    assert!(others.iter().all(|name| left.iter().any(|reference| reference.starts_with(name))), "{left:?}");
    assert!(scene.project().join("new.txt").exists());
}

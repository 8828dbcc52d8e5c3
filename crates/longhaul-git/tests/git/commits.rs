//! Commits in worktrees of ours: everything that is not ignored, or nothing with a reason.

use std::fs;

use longhaul_git::{Committed, GitError, Worktree};

use crate::scene::{Scene, programs, with_each_git, write};

fn why(answer: Committed) -> String {
    let Committed::LeftToAgent { why } = answer else { panic!("{answer:?}") };
    why
}

fn worktree_with_work(scene: &Scene) -> Worktree {
    scene.write("a.txt", "one\n");
    scene.write(".gitignore", "ignored\n");
    scene.commit("first");
    let worktree = scene.worktree("w");
    write(worktree.path(), "a.txt", "two\n");
    write(worktree.path(), "new/b.txt", "new\n");
    write(worktree.path(), "ignored", "x\n");
    write(worktree.path(), ".autonomous/task/progress.md", "x\n");
    worktree
}

#[test]
fn everything_that_is_not_ignored_is_committed_once() {
    with_each_git(|scene| {
        let worktree = worktree_with_work(scene);
        assert_eq!(scene.status(worktree.path()).lines().count(), 2);
        let Committed::All { commit: Some(commit), .. } = worktree.commit_all("work\n\n-- of the agent").unwrap()
        else {
            panic!()
        };
        assert_eq!(scene.status(worktree.path()), "");
        let in_worktree = |arguments: &[&str]| scene.plain_in(worktree.path(), arguments);
        assert_eq!(in_worktree(&["rev-parse", "longhaul/task"]), commit.as_str());
        assert_eq!(in_worktree(&["rev-parse", "HEAD~1"]), scene.head().as_str());
        assert_eq!(
            in_worktree(&["show", "--name-only", "--format=%an|%s", "HEAD"]),
            "Longhaul|work\n\na.txt\nnew/b.txt"
        );
        in_worktree(&["fsck", "--strict"]);
        assert!(matches!(worktree.commit_all("again").unwrap(), Committed::All { commit: None, .. }));
        fs::remove_file(worktree.path().join("a.txt")).unwrap();
        assert!(matches!(worktree.commit_all("deleted").unwrap(), Committed::All { commit: Some(_), .. }));
        assert_eq!(scene.status(worktree.path()), "");
        assert_eq!(scene.status(&scene.project()), "", "the user's checkout is as it was");
    });
}

#[test]
fn a_commit_that_ended_before_its_index_is_completed() {
    let scene = Scene::with(programs().last().unwrap());
    let worktree = worktree_with_work(&scene);
    let index = worktree.repository().git_dir().join("index");
    let (before, time) = (fs::read(&index).unwrap(), index.metadata().unwrap().modified().unwrap());
    assert!(matches!(worktree.commit_all("work").unwrap(), Committed::All { commit: Some(_), .. }));
    fs::write(&index, before).unwrap();
    // By this time git tells files that changed in the moment the index was written.
    fs::File::options().write(true).open(&index).unwrap().set_modified(time).unwrap();
    assert_ne!(scene.status(worktree.path()), "");
    assert!(matches!(worktree.commit_all("again").unwrap(), Committed::All { commit: None, .. }));
    assert_eq!(scene.status(worktree.path()), "");
}

#[test]
fn another_branch_or_none_is_left_to_the_agent() {
    let scene = Scene::with(programs().last().unwrap());
    let worktree = worktree_with_work(&scene);
    let before = scene.references();
    scene.plain_in(worktree.path(), &["checkout", "-q", "--detach"]);
    assert!(why(worktree.commit_all("x").unwrap()).contains("detached"));
    scene.plain_in(worktree.path(), &["checkout", "-q", "-b", "agents-own"]);
    assert!(why(worktree.commit_all("x").unwrap()).contains("agents-own"));
    scene.plain_in(worktree.path(), &["checkout", "-q", "longhaul/task"]);
    scene.plain(&["branch", "-q", "-D", "agents-own"]);
    assert_eq!(scene.references(), before);
    scene.plain_in(worktree.path(), &["update-ref", "-d", "refs/heads/longhaul/task"]);
    assert!(why(worktree.commit_all("x").unwrap()).contains("deleted"));
}

#[test]
fn what_is_in_progress_is_left_to_the_agent() {
    with_each_git(|scene| {
        let worktree = worktree_with_work(scene);
        worktree.commit_all("ours").unwrap();
        scene.write("a.txt", "three\n");
        scene.commit("theirs");
        for (start, word, abort) in [
            (&["merge", "main"][..], "merge", &["merge", "--abort"][..]),
            (&["rebase", "main"], "rebase", &["rebase", "--abort"]),
            (&["cherry-pick", "main"], "cherry-pick", &["cherry-pick", "--abort"]),
        ] {
            let before = scene.references();
            assert!(!scene.try_plain(worktree.path(), start).status.success(), "{word} has a conflict");
            let status = scene.status(worktree.path());
            let why = why(worktree.commit_all("x").unwrap());
            assert!(why.contains(word), "{why}");
            worktree.repository().survey().unwrap();
            Worktree::open(&scene.git, &worktree.record().unwrap()).unwrap();
            assert_eq!(scene.status(worktree.path()), status);
            scene.plain_in(worktree.path(), abort);
            assert_eq!(scene.references(), before);
        }
        scene.try_plain(worktree.path(), &["merge", "main"]);
        fs::remove_file(worktree.repository().git_dir().join("MERGE_HEAD")).unwrap();
        assert!(why(worktree.commit_all("x").unwrap()).contains("conflicts"));
    });
}

#[test]
fn a_held_index_is_an_error_and_nothing_happens() {
    let scene = Scene::with(programs().last().unwrap());
    let worktree = worktree_with_work(&scene);
    let lock = worktree.repository().git_dir().join("index.lock");
    fs::write(&lock, "").unwrap();
    assert!(matches!(worktree.commit_all("x"), Err(GitError::IndexLocked { .. })));
    assert!(lock.exists());
    assert_eq!(worktree.repository().head_commit().unwrap(), Some(scene.head()));
}

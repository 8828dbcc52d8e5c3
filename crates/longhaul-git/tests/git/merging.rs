//! Work merged with the branch it lands on, and the task's worktree lent to that landing.

use std::fs;

use longhaul_git::{Merged, Worktree, landing_branch};

use super::scene::{Scene, with_each_git, write};

const TASK: &str = "0190c5a4-7d4e-7c3a-8f00-0123456789ab";

/// Work on `a.txt` in a worktree, and another commit on `main` that writes this into a file.
fn apart(scene: &Scene, name: &str, text: &str) -> Worktree {
    let worktree = scene.worktree("task").with_rules_of(TASK.parse().unwrap()).unwrap();
    write(worktree.path(), "a.txt", "ours\n");
    worktree.commit_all("work").unwrap();
    scene.write(name, text);
    scene.commit("meanwhile");
    worktree
}

fn merge(scene: &Scene, worktree: &Worktree) -> Merged {
    let tip = worktree.repository().head_commit().unwrap().unwrap();
    scene.repository().merge(&tip, &scene.head(), "merge").unwrap()
}

/// None where this git is too old.
fn made(merged: Merged) -> Option<(longhaul_git::CommitId, Vec<String>)> {
    match merged {
        Merged::Made { commit, conflicts } => Some((commit, conflicts)),
        Merged::Impossible { why } => {
            assert!(why.contains("git 2.38 or newer"), "{why}");
            None
        }
    }
}

#[test]
fn what_does_not_touch_the_same_lines_is_merged_without_a_file_changing() {
    with_each_git(|scene| {
        let scene = Scene::committed(&scene.program);
        let worktree = apart(&scene, "other.txt", "theirs\n");
        let before = (scene.head(), scene.status(&scene.project()), scene.references());
        let Some((commit, conflicts)) = made(merge(&scene, &worktree)) else { return };
        assert!(conflicts.is_empty());
        assert_eq!(scene.plain(&["show", &format!("{commit}:a.txt")]), "ours");
        assert_eq!(scene.plain(&["show", &format!("{commit}:other.txt")]), "theirs");
        assert_eq!((scene.head(), scene.status(&scene.project()), scene.references()), before);
    });
}

#[test]
fn conflicts_are_named_and_their_markers_found() {
    with_each_git(|scene| {
        let scene = Scene::committed(&scene.program);
        let worktree = apart(&scene, "a.txt", "theirs\n");
        let Some((commit, conflicts)) = made(merge(&scene, &worktree)) else { return };
        assert_eq!(conflicts, ["a.txt"]);
        let repository = scene.repository();
        let markers =
            |commit: &str| repository.conflict_markers(commit, &["a.txt".to_owned(), "-b".to_owned()]).unwrap();
        assert_eq!(markers(commit.as_str()), ["a.txt"]);
        assert_eq!(markers(scene.head().as_str()), Vec::<String>::new(), "the control");
    });
}

#[test]
fn a_lent_worktree_comes_back_as_it_was() {
    with_each_git(|scene| {
        let scene = Scene::committed(&scene.program);
        scene.write(".gitignore", "built\n");
        scene.commit("ignore");
        let worktree = apart(&scene, "other.txt", "theirs\n");
        let (task, root) = (TASK.parse().unwrap(), worktree.path().to_owned());
        write(&root, "built", "kept\n");
        write(&root, "notes.txt", "never committed\n");
        write(&root, "a.txt", "changed afterwards\n");
        let Some((commit, _)) = made(merge(&scene, &worktree)) else { return };
        let branch = landing_branch(worktree.branch(), task);
        for _ in 0..2 {
            worktree.lend(task, &branch, &commit).unwrap();
            assert_eq!(scene.plain_in(&root, &["branch", "--show-current"]), branch);
            assert_eq!(scene.status(&root), "", "exactly the merge");
            assert_eq!(fs::read_to_string(root.join("other.txt")).unwrap(), "theirs\n");
            assert!(root.join("built").exists() && !root.join("notes.txt").exists());
        }
        write(&root, "a.txt", "fixed\n");
        for _ in 0..2 {
            worktree.give_back(task).unwrap();
            assert_eq!(scene.plain_in(&root, &["branch", "--show-current"]), worktree.branch());
            assert_eq!(scene.status(&root), " M a.txt\n?? notes.txt");
            assert_eq!(fs::read_to_string(root.join("a.txt")).unwrap(), "changed afterwards\n");
            assert!(root.join("built").exists() && !root.join("other.txt").exists());
        }
        assert_eq!(scene.plain(&["show", &format!("refs/longhaul/{TASK}/landing:a.txt")]), "fixed");
        assert!(!scene.references().iter().any(|name| name.contains("+landing-")));
    });
}

#[test]
fn a_branch_of_another_task_is_never_taken_for_one_of_a_landing() {
    with_each_git(|scene| {
        let scene = Scene::committed(&scene.program);
        let worktree = apart(&scene, "other.txt", "theirs\n");
        let other = format!("{}-landing-12345678", worktree.branch());
        scene.plain(&["branch", &other]);
        worktree.give_back(TASK.parse().unwrap()).unwrap();
        assert!(scene.references().iter().any(|line| line.contains(&other)));
    });
}

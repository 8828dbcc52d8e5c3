//! A worktree that a person moved, switched or pruned: the task is blocked with the reason, nothing is made anew, and it goes on
//! when the worktree is put right.

use std::path::Path;
use std::process::Command;

use super::repository;
use crate::checker;
use crate::env::TestEnv;
use crate::repository::git_in;

/// Breaks the worktree of a paused task, sees it blocked for this reason, mends it and sees the task done.
#[track_caller]
fn blocks(why: &str, harm: impl Fn(&TestEnv, &Path), mend: impl Fn(&TestEnv, &Path)) {
    let env = repository().var("DEMO_FAULT", "hang@2");
    env.submit("Do it", &["--name", "t"]);
    env.live("t", 2);
    env.ok(&["pause", "t"]);
    let (root, workspace) = (env.root_of("t"), env.task("t")["workspace"].clone());
    harm(&env, &root);
    let seen = |env: &TestEnv| (env.worktrees(), env.task_branches(), root.exists());
    let harmed = seen(&env);
    env.ok(&["resume", "t"]);
    assert_eq!(env.settle("t"), "blocked");
    let told = env.ok(&["why", "t"]);
    assert!(told.contains(why) && told.contains(root.to_str().unwrap()), "{told}");
    assert_eq!(seen(&env), harmed, "nothing is made anew");
    assert_eq!(env.sessions("t").len(), 2, "no agent was started");
    mend(&env, &root);
    env.ok(&["resume", "t"]);
    assert_eq!(env.settle("t"), "done");
    assert_eq!((&env.task("t")["workspace"], env.worktrees()), (&workspace, vec![root.clone()]));
    assert_eq!(env.git(&["diff", "--name-only", "main", "longhaul/t"]), "step-1.md");
    env.deserted();
    checker::assert_clean(&env);
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

#[test]
fn a_worktree_that_was_moved_away() {
    blocks(
        "No such file or directory",
        |env, root| std::fs::rename(root, env.path().join("away")).unwrap(),
        |env, root| std::fs::rename(env.path().join("away"), root).unwrap(),
    );
}

#[test]
fn a_worktree_that_was_switched_to_another_branch() {
    blocks(
        "HEAD is on `elsewhere`, not on `longhaul/t`",
        |_, root| drop(git_in(root, &["switch", "-q", "-c", "elsewhere"])),
        |env, root| {
            git_in(root, &["switch", "-q", "longhaul/t"]);
            env.git(&["branch", "-q", "-d", "elsewhere"]);
        },
    );
}

#[test]
fn a_worktree_that_was_pruned() {
    let data = |env: &TestEnv| env.workspace().join(".git/worktrees");
    blocks(
        "was pruned",
        |env, root| {
            let away = env.path().join("away");
            copy(&data(env), &env.path().join("backup"));
            std::fs::rename(root, &away).unwrap();
            env.git(&["worktree", "prune", "--expire", "now"]);
            std::fs::rename(&away, root).unwrap();
        },
        |env, _| {
            std::fs::remove_dir_all(data(env)).ok();
            copy(&env.path().join("backup"), &data(env));
        },
    );
}

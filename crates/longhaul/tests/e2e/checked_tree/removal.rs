//! `gc` keeps every worktree that holds the only copy of something, hidden or not, and removes the others.

use super::{REPOSITORY, WORK, run, shell, world};

/// Lets the branch be merged, so that only files can keep the worktree, and sweeps.
#[track_caller]
fn sweep(env: &crate::env::TestEnv) -> (String, bool) {
    env.git(&["merge", "-q", "--ff-only", "longhaul/t"]);
    let said = env.run(&["gc", "--age", "0s"]);
    (said.stdout + &said.stderr, !env.worktrees().is_empty())
}

#[test]
fn a_worktree_is_removed_when_commits_hold_all_of_it() {
    let env = world(REPOSITORY, WORK, "");
    assert_eq!(run(&env, "echo built >built.txt", &[]).0, 0);
    assert!(env.ok(&["report", "t"]).contains("left behind: `built.txt`"));
    let (said, kept) = sweep(&env);
    assert!(!kept, "what a check left behind keeps nothing: {said}");
}

#[test]
fn an_edit_that_is_hidden_from_git_keeps_the_worktree() {
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        let env = world(REPOSITORY, WORK, "");
        assert_eq!(run(&env, "true", &[]).0, 0);
        let place = env.worktrees()[0].clone();
        shell(&env, &place, &format!("echo only copy >README; git update-index {flag} README"));
        let (said, kept) = sweep(&env);
        assert!(kept && said.contains("README"), "{flag}: {said}");
        assert_eq!(std::fs::read_to_string(place.join("README")).unwrap(), "only copy\n");
    }
}

#[test]
fn a_file_that_was_excluded_later_keeps_the_worktree() {
    let env = world(REPOSITORY, WORK, "");
    assert_eq!(run(&env, "true", &[]).0, 0);
    let place = env.worktrees()[0].clone();
    shell(&env, &place, "echo only copy >new.txt; echo new.txt >>$(git rev-parse --git-common-dir)/info/exclude");
    let (said, kept) = sweep(&env);
    assert!(kept && said.contains("new.txt"), "{said}");
}

#[test]
fn an_expected_file_that_is_ignored_keeps_the_worktree() {
    let setup = format!("echo /dist/ >.gitignore; {REPOSITORY}");
    let env =
        world(&setup, "mkdir dist; echo result >dist/result; echo scratch >dist/scratch; echo hello >hello.txt", "");
    assert_eq!(run(&env, "true", &["--expect", "dist/result"]).0, 10);
    let (said, kept) = sweep(&env);
    assert!(kept && said.contains("the expected file `dist/result` is not in any commit"), "{said}");
    std::fs::remove_file(env.worktrees()[0].join("dist/result")).unwrap();
    let (said, kept) = sweep(&env);
    assert!(!kept, "other ignored files keep nothing: {said}");
}

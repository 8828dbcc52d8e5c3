//! Where a task works, as a user sees it: a worktree and a branch of its own, and the user's checkout is left alone.

mod kept;
mod trouble;

use serde_json::{Value, json};

use crate::checker;
use crate::env::{Done, TestEnv, done};
use crate::repository::git_in;
use crate::rounds::one_step;

/// A world of short tasks whose workspace is a repository with one commit.
fn repository() -> TestEnv {
    let env = one_step();
    env.make_repository();
    env
}

/// Runs a task to its end, which must be a good one in a home without a flaw.
#[track_caller]
fn run(env: &TestEnv, more: &[&str]) -> Done {
    let done = env.run(&[&["run", "Do it"], more].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    env.deserted();
    checker::assert_clean(env);
    done
}

#[test]
fn a_task_works_in_a_worktree_of_its_own_from_the_recorded_commit() {
    let env = repository();
    let (before, base) = (env.checkout(), env.git(&["rev-parse", "HEAD"]));
    run(&env, &["--name", "t", "--check", "test -f step-1.md && test -f own.txt"]);
    let workspace = env.task("t")["workspace"].clone();
    assert_eq!((&workspace["branch"], &workspace["base"]), (&json!("longhaul/t"), &json!(base)));
    let root = env.root_of("t");
    assert!(root.starts_with(env.home().canonicalize().unwrap().join("worktrees")), "{}", root.display());
    assert_eq!((env.worktrees(), env.task_branches()), (vec![root.clone()], vec!["longhaul/t".to_owned()]));
    assert_eq!(git_in(&root, &["symbolic-ref", "--short", "HEAD"]), "longhaul/t");
    assert_eq!(env.git(&["merge-base", "main", "longhaul/t"]), base);
    assert_eq!(env.git(&["diff", "--name-only", "main", "longhaul/t"]), "step-1.md");
    assert_eq!(env.checkout(), before, "HEAD, index, status and files are the user's");
    assert!(env.ok(&["show", "t"]).contains("worktree on branch longhaul/t\n"));
}

#[test]
fn uncommitted_changes_are_told_and_not_carried_over() {
    let env = repository();
    env.put("own.txt", "changed\n");
    env.put("staged.txt", "staged\n");
    env.git(&["add", "staged.txt"]);
    env.put("loose.txt", "loose\n");
    let before = env.checkout();
    let told = run(&env, &["--name", "t"]).stderr;
    assert!(told.contains("the agent will not see 3 uncommitted file(s)"), "{told}");
    assert!(told.contains("own.txt") && told.contains("staged.txt") && told.contains("loose.txt"), "{told}");
    assert!(told.contains("--in-place"), "{told}");
    assert_eq!(env.git(&["ls-tree", "--name-only", "longhaul/t"]), "own.txt\nstep-1.md");
    assert_eq!(std::fs::read_to_string(env.root_of("t").join("own.txt")).unwrap(), "mine\n");
    assert_eq!(env.checkout(), before);
}

#[test]
fn the_control_a_clean_checkout_is_not_told_of() {
    assert!(!run(&repository(), &["--name", "t"]).stderr.contains("uncommitted"));
}

#[test]
fn without_git_or_without_a_commit_the_task_works_in_place_and_says_so() {
    let in_place = |env: &TestEnv, why: &str| {
        let told = run(env, &["--name", "t"]).stderr;
        assert!(told.contains(&format!("{why}: the agent works in place")), "{told}");
        assert_eq!(env.root_of("t"), env.workspace().canonicalize().unwrap());
        assert_eq!(env.task("t")["workspace"]["branch"], Value::Null);
        assert!(env.workspace().join("step-1.md").exists() && env.task_dir("t").is_dir());
    };
    in_place(&one_step(), "this is not a git repository");
    let env = one_step();
    env.git(&["init", "-q", "-b", "main"]);
    in_place(&env, "the repository has no commit yet");
    assert!(env.task_branches().is_empty() && env.worktrees().is_empty());
}

#[test]
fn a_branch_that_is_taken_is_left_alone_and_ours_gets_a_number() {
    let env = repository();
    env.git(&["branch", "longhaul/t"]);
    let theirs = env.git(&["rev-parse", "longhaul/t"]);
    run(&env, &["--name", "t"]);
    assert_eq!(env.task("t")["workspace"]["branch"], "longhaul/t-2");
    assert_eq!(env.task_branches(), ["longhaul/t", "longhaul/t-2"]);
    assert_eq!(env.git(&["rev-parse", "longhaul/t"]), theirs);
}

#[test]
fn a_generated_name_avoids_branches_that_are_there() {
    let env = repository();
    assert_eq!(env.submit("Do it", &[]), "do-it", "the control: nothing is in the way");
    assert_eq!(env.settle("do-it"), "done");
    let env = repository();
    env.git(&["branch", "longhaul/do-it"]);
    let name = env.submit("Do it", &[]);
    assert_eq!(name, "do-it-2");
    assert_eq!(env.settle(&name), "done");
    assert_eq!(env.task(&name)["workspace"]["branch"], "longhaul/do-it-2");
}

#[test]
fn a_resumed_task_goes_on_in_the_same_worktree_from_the_same_commit() {
    let env = repository().var("DEMO_FAULT", "hang@2");
    env.submit("Do it", &["--name", "t"]);
    env.live("t", 2);
    env.ok(&["pause", "t"]);
    let (workspace, worktrees) = (env.task("t")["workspace"].clone(), env.worktrees());
    env.put("own.txt", "the user went on\n");
    env.git(&["commit", "-qam", "more"]);
    env.ok(&["resume", "t"]);
    assert_eq!(env.settle("t"), "done");
    assert_eq!((&env.task("t")["workspace"], env.worktrees()), (&workspace, worktrees));
    assert_eq!(env.task_branches(), ["longhaul/t"]);
    assert_eq!(json!(env.git(&["merge-base", "main", "longhaul/t"])), workspace["base"]);
}

#[test]
fn started_below_the_top_the_agent_works_there_and_the_task_directory_is_at_the_top() {
    let env = repository();
    let below = env.workspace().join("sub/deep");
    std::fs::create_dir_all(&below).unwrap();
    env.put("sub/deep/file.txt", "here\n");
    env.git(&["add", "sub"]);
    env.git(&["commit", "-q", "-m", "below"]);
    let before = env.checkout();
    let mut command = env.command(&["run", "Do it", "--name", "t", "--check", "test -f file.txt"]);
    let ended = done(&command.current_dir(&below).output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let root = env.root_of("t");
    assert_eq!(env.task("t")["workspace"]["cwd"], json!(root.join("sub/deep").to_str().unwrap()));
    assert!(root.join(".autonomous/t/task_list.md").exists());
    assert_eq!(env.git(&["diff", "--name-only", "main", "longhaul/t"]), "sub/deep/step-1.md");
    assert_eq!(env.checkout(), before);
    env.deserted();
    checker::assert_clean(&env);
}

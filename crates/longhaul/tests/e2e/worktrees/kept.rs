//! What becomes of work that the agent did not commit: committed by us in a worktree, a private ref in place, or told why not.

use serde_json::json;

use super::{repository, run};
use crate::env::TestEnv;
use crate::repository::git_in;

/// The work is in one commit of ours, and nothing of it is left over.
#[track_caller]
fn committed_by_us(env: &TestEnv) {
    let ours = env.git(&["rev-parse", "longhaul/t"]);
    assert_eq!(env.saved("t"), [json!("nothing"), json!({ "commit": ours })]);
    assert_eq!(env.git(&["log", "--format=%s", "main..longhaul/t"]), "longhaul: t, session 2 (work)");
    assert_eq!(env.git(&["diff", "--name-only", "main", "longhaul/t"]), "step-1.md");
    assert_eq!(git_in(&env.root_of("t"), &["status", "--porcelain"]), "");
}

#[test]
fn the_control_an_agent_that_commits_leaves_us_nothing_to_do() {
    let env = repository();
    run(&env, &["--name", "t"]);
    assert_eq!(env.saved("t"), [json!("nothing"), json!("nothing")]);
    assert!(env.git(&["log", "--format=%an", "main..longhaul/t"]).lines().all(|author| author == "Demo Agent"));
}

#[test]
fn work_that_the_agent_left_uncommitted_is_committed_after_the_session() {
    let env = repository();
    env.pre_commit("exit 1");
    run(&env, &["--name", "t"]);
    committed_by_us(&env);
}

#[test]
fn a_lock_that_the_agents_git_left_is_removed_and_the_work_committed() {
    let env = repository();
    let seen = env.path().join("seen");
    env.pre_commit(&format!("ls \"$(git rev-parse --absolute-git-dir)\" > '{}'; kill -9 $PPID", seen.display()));
    run(&env, &["--name", "t"]);
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.lines().any(|name| name == "index.lock"), "the control: git died with its lock: {seen}");
    committed_by_us(&env);
    let git_dir = env.task("t")["workspace"]["git"]["dir"].as_str().unwrap().to_owned();
    assert!(!std::path::Path::new(&git_dir).join("index.lock").exists());
}

#[test]
fn files_with_a_filter_are_not_committed_and_the_reason_is_told() {
    let env = repository();
    env.put(".gitattributes", "*.md filter=lfs\n");
    env.git(&["add", ".gitattributes"]);
    env.git(&["commit", "-q", "-m", "large files"]);
    env.pre_commit("exit 1");
    run(&env, &["--name", "t"]);
    assert_eq!(env.saved("t")[1], json!({ "left": "`step-1.md` uses a git filter, which Longhaul does not run" }));
    assert_eq!(env.git(&["rev-parse", "longhaul/t"]), env.git(&["rev-parse", "main"]), "no commit");
    assert!(env.root_of("t").join("step-1.md").exists(), "the work is where the agent left it");
    let told = env.ok(&["events", "t"]);
    assert!(told.contains("`step-1.md` uses a git filter"), "{told}");
}

#[test]
fn in_place_work_is_kept_under_private_refs_and_never_committed() {
    let env = repository();
    // The user's git is in the middle of something: the agent's commit fails, and nobody takes the lock away.
    env.put(".git/index.lock", "");
    let (head, index) = (env.git(&["rev-parse", "HEAD"]), std::fs::read(env.workspace().join(".git/index")).unwrap());
    run(&env, &["--name", "t", "--in-place"]);
    let name = format!("refs/longhaul/{}/2", env.task("t")["id"].as_str().unwrap());
    assert_eq!(env.saved("t"), [json!("nothing"), json!({ "snapshot": name })]);
    assert_eq!(env.git(&["for-each-ref", "--format=%(refname)", "refs/longhaul"]), name);
    assert_eq!(env.git(&["ls-tree", "--name-only", &name]), "own.txt\nstep-1.md");
    assert_eq!(env.root_of("t"), env.workspace().canonicalize().unwrap());
    assert_eq!(env.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(std::fs::read(env.workspace().join(".git/index")).unwrap(), index);
    assert!(env.workspace().join(".git/index.lock").exists() && env.worktrees().is_empty());
    assert!(env.task_branches().is_empty());
}

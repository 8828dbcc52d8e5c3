//! `land` and `discard` as a user sees them: the work is one commit of the user's on their branch, and nothing of theirs is lost.

mod bad_input;
mod forms;
mod kills;
mod moved;
mod pull_requests;

use serde_json::json;

use crate::checker;
use crate::env::TestEnv;
use crate::rounds::one_step;

/// What the key of the configuration changes.
pub(crate) const EFFECT: (&str, fn()) = ("land.trailer", forms::the_trailer_can_be_left_out);

/// A world of short tasks whose workspace is a repository of Ann's with one commit.
pub(crate) fn repository() -> TestEnv {
    let mut env = one_step();
    let user = env.path().join("user");
    std::fs::create_dir(&user).unwrap();
    std::fs::write(user.join(".gitconfig"), "[user]\n\tname = Ann\n\temail = ann@example.org\n").unwrap();
    env.set("HOME", &user.display().to_string());
    env.make_repository();
    env
}

/// Runs a task to its end.
pub(crate) fn finished(env: &TestEnv, name: &str, more: &[&str]) {
    let done = env.run(&[&["run", "Port the parser\n\nKeep the API.", "--name", name], more].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
}

#[test]
fn verified_work_becomes_one_commit_of_the_users() {
    let env = repository();
    finished(&env, "t", &["--check", "test -f step-1.md"]);
    let tree = env.json(&["show", "t"])["result"]["tree"].as_str().unwrap().to_owned();
    let base = env.git(&["rev-parse", "main"]);
    env.put("own.txt", "changed by me\n");
    let seen = env.json(&["land", "t", "--dry-run"]);
    assert_eq!((&seen["onto"], &seen["unverified"], &seen["commit"]), (&json!("main"), &json!(null), &json!(null)));
    assert_eq!(env.git(&["rev-parse", "main"]), base, "a dry run changes nothing");
    let landed = env.run(&["land", "t"]);
    assert_eq!(landed.code, 0, "{}", landed.stderr);
    let commit = env.git(&["rev-parse", "main"]);
    assert_eq!(landed.stdout.trim(), format!("t: landed as {} on main", &commit[..7]));
    assert!(landed.stderr.contains("hooks did not run") && landed.stderr.contains("reset --keep"), "{}", landed.stderr);
    assert_eq!(
        env.git(&["show", "-s", "--format=%T %P %an <%ae> %cn", "main"]),
        format!("{tree} {base} Ann <ann@example.org> Ann")
    );
    let message = env.git(&["show", "-s", "--format=%B", "main"]);
    let id = env.json(&["show", "t"])["task"]["id"].as_str().unwrap().to_owned();
    assert!(message.starts_with("Port the parser\n\nKeep the API.\n"), "{message}");
    assert!(message.ends_with(&format!("\n\nLonghaul-Task: {id}")), "{message}");
    assert_eq!(env.git(&["status", "--porcelain"]), "M own.txt", "other work stays as it was");
    assert_eq!((env.worktrees().len(), env.task_branches().len()), (0, 0));
    assert_eq!(env.git(&["cat-file", "-t", &format!("refs/longhaul/{id}/final")]), "commit");
    let list = env.ok(&["list"]);
    assert!(list.contains("landed as") && !list.contains("landing"), "{list}");
    assert!(env.ok(&["show", "t"]).contains(&format!("landed as {} on main", &commit[..7])));
    let again = env.run(&["land", "t"]);
    assert!(again.code == 0 && again.stderr.contains("nothing to land"), "{}", again.stderr);
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn work_that_is_not_verified_needs_a_word() {
    let env = repository();
    finished(&env, "t", &[]);
    let refused = env.run(&["land", "t"]);
    assert!(refused.code == 8 && refused.stderr.contains("no checks") && refused.stderr.contains("--unverified"));
    assert_eq!(env.git(&["log", "--format=%s", "main"]), "begin");
    env.ok(&["land", "t", "--unverified", "--reason", "I read it", "-m", "parser: port"]);
    assert_eq!(env.git(&["log", "--format=%s", "main"]), "parser: port\nbegin");
}

#[test]
fn what_cannot_land_is_refused_and_nothing_changes() {
    let env = repository();
    finished(&env, "t", &["--check", "true"]);
    let refused = |args: &[&str], code: i32, reason: &str| {
        let before = (env.checkout(), env.worktrees(), env.task_branches());
        let done = env.run(args);
        assert!(done.code == code && done.stderr.contains(reason), "{args:?}: {} {}", done.code, done.stderr);
        assert!((env.checkout(), env.worktrees(), env.task_branches()) == before, "{args:?}");
    };
    refused(&["land", "nobody"], 7, "there is no task");
    refused(&["land", "t", "--onto", "gone"], 2, "there is no branch `gone`");
    refused(&["land", "t", "--onto", "longhaul/t"], 2, "is the branch of a task");
    env.put("step-1.md", "mine\n");
    refused(&["land", "t"], 8, "untracked or ignored files");
    std::fs::remove_file(env.workspace().join("step-1.md")).unwrap();
    env.ok(&["land", "t"]);
}

#[test]
fn without_an_author_git_says_what_to_configure() {
    let env = repository();
    std::fs::remove_file(env.path().join("user/.gitconfig")).unwrap();
    finished(&env, "t", &["--check", "true"]);
    let refused = env.run(&["land", "t"]);
    assert_eq!(refused.code, 8);
    assert!(refused.stderr.contains("git config --global user.name"), "{}", refused.stderr);
}

#[test]
fn work_in_place_is_there_already() {
    let env = repository();
    finished(&env, "t", &["--in-place", "--check", "true"]);
    let done = env.run(&["land", "t"]);
    assert!(done.code == 0 && done.stderr.contains("already in your checkout"), "{}", done.stderr);
}

#[test]
fn discarded_work_comes_back() {
    let env = repository();
    finished(&env, "t", &["--check", "true"]);
    let tip = env.git(&["rev-parse", "longhaul/t"]);
    env.ok(&["discard", "t"]);
    assert_eq!((env.worktrees().len(), env.task_branches().len()), (0, 0));
    assert!(env.ok(&["list"]).contains("discarded"));
    let refused = env.run(&["land", "t"]);
    assert!(refused.code == 8 && refused.stderr.contains("discard --undo t"), "{}", refused.stderr);
    env.ok(&["discard", "--undo", "t"]);
    assert_eq!(env.git(&["rev-parse", "longhaul/t"]), tip);
    assert!(env.root_of("t").join("step-1.md").exists());
    assert!(!env.ok(&["list"]).contains("discarded"));
    env.ok(&["land", "t"]);
}

#[test]
fn gc_removes_a_task_with_what_followed_it() {
    let env = repository();
    finished(&env, "t", &["--check", "true"]);
    env.ok(&["land", "t"]);
    env.deserted();
    env.ok(&["gc", "--count", "0"]);
    assert_eq!(env.json(&["list", "--all"])["tasks"], json!([]));
    assert_eq!(env.git(&["for-each-ref", "refs/longhaul"]), "");
    assert_eq!(env.run(&["store", "check"]).code, 0);
}

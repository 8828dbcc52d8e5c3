//! A worktree goes with its task when every commit and file of it is also elsewhere; otherwise both stay, and the reason is told.

use std::path::{Path, PathBuf};
use std::process::Command;

use longhaul_app::{Home, now};
use longhaul_core::ids::{LeaseId, TaskId, WorkerId};
use longhaul_core::names::TaskName;
use longhaul_core::task::{Actor, Event, Submission, Workspace};
use longhaul_git::{Git, Worktree};
use longhaul_keeper::Environment;
use longhaul_keeper::random;
use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{Change, Guard, NewLease, Store, Stored};

use super::{names, strings};
use crate::env::{TestEnv, done};

pub(super) fn git(directory: &Path, arguments: &[&str]) {
    let fixed = ["-c", "user.name=A", "-c", "user.email=a@b"];
    let output = Command::new("git").args(fixed).args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with one commit, and a home with a worktree of it that belongs to a cancelled task.
fn world(name: &str) -> (TestEnv, Worktree) {
    let env = TestEnv::new();
    let project = env.workspace();
    git(&project, &["init", "--quiet", "-b", "main"]);
    std::fs::write(project.join("a.txt"), "one\n").unwrap();
    git(&project, &["add", "a.txt"]);
    git(&project, &["commit", "--quiet", "-m", "first"]);
    let home = Home::create(&env.home()).unwrap();
    let worktrees = env.home().join("worktrees");
    let repository = Git::open(&home.git()).unwrap().find(&project).unwrap().unwrap();
    let base = repository.head_commit().unwrap().unwrap();
    let worktree = repository
        .create_worktree(&worktrees.join(name), &format!("longhaul/{name}"), &base, &Environment::of_process())
        .unwrap();
    let workspace = worktree.record().unwrap();
    let directory = worktree.path().join(".autonomous").join(name);
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("task_list.md"), "- [ ] Task 1: x\n").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(cancelled_task(&SqliteStore::open(&env.home()).unwrap(), name, &text(&project), workspace));
    (env, worktree)
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Stores a task that got this workspace and was given up.
async fn cancelled_task(store: &SqliteStore, name: &str, project: &str, workspace: Workspace) {
    let submission = Submission::new("Work".into(), TaskName::new(name).unwrap(), project.into(), "demo".into());
    let lease =
        NewLease { id: LeaseId::mint(now(), random()), worker: WorkerId::mint(now(), random()), host: "here".into() };
    let change = Change {
        task: TaskId::mint(now(), random()),
        guard: Guard::New,
        events: vec![Event::Submitted { submission: submission.into() }],
        actor: Actor::person("ann"),
        at: now(),
        key: None,
        claim: Some(lease),
        session_cap: None,
    };
    let owned = store.commit(change.clone()).await.unwrap().stored;
    let ended = vec![Event::Placed { workspace }, Event::Cancelled { by: "ann".into(), reason: None }];
    let next = Change { guard: owner(&owned), events: ended, claim: None, ..change };
    assert!(store.commit(next).await.unwrap().stored.task.state.is_final());
}

fn owner(stored: &Stored) -> Guard {
    Guard::Owner { version: stored.task.version, lease: stored.owner.as_ref().unwrap().lease }
}

pub(super) fn branches(env: &TestEnv) -> String {
    let output = Command::new("git").args(["branch", "--list"]).current_dir(env.workspace()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_clean_worktree_goes_with_its_task_and_the_task_directory_in_it() {
    let (env, worktree) = world("clean");
    let swept = env.json(&["gc", "--count", "0"]);
    assert_eq!(strings(&swept["removed"], "name"), ["clean"], "{swept}");
    assert!(!worktree.path().exists() && !branches(&env).contains("longhaul/"), "{}", branches(&env));
    assert!(names(&env).is_empty());
    assert_eq!(std::fs::read_to_string(env.workspace().join("a.txt")).unwrap(), "one\n");
}

/// The task stays as long as the work is only there, and goes when it is elsewhere.
#[track_caller]
fn kept(why: &str, work: impl Fn(&PathBuf), save: impl Fn(&TestEnv, &PathBuf)) {
    let (env, worktree) = world("busy");
    let path = worktree.path().to_owned();
    work(&path);
    let foretold = env.json(&["gc", "--count", "0", "--dry-run"]);
    let swept = env.json(&["gc", "--count", "0"]);
    assert_eq!((&swept["removed"], &swept["failed"]), (&serde_json::json!([]), &serde_json::json!(0)), "{swept}");
    assert!(swept["kept"][0]["why"].as_str().unwrap().contains(why), "{swept}");
    assert_eq!((&foretold["removed"], &foretold["kept"]), (&swept["removed"], &swept["kept"]), "as the dry run said");
    assert!(path.join(".autonomous/busy/task_list.md").exists() && names(&env) == ["busy"]);
    assert!(branches(&env).contains("longhaul/busy"));
    save(&env, &path);
    let foretold = env.json(&["gc", "--count", "0", "--dry-run"]);
    assert_eq!(strings(&foretold["removed"], "name"), ["busy"], "{foretold}");
    assert!(path.exists(), "a dry run removes nothing");
    assert_eq!(strings(&env.json(&["gc", "--count", "0"])["removed"], "name"), ["busy"]);
    assert!(!path.exists() && names(&env).is_empty());
}

#[test]
fn uncommitted_work_is_kept() {
    kept(
        "uncommitted files, such as `new.txt`",
        |path| std::fs::write(path.join("new.txt"), "work").unwrap(),
        |_, path| std::fs::remove_file(path.join("new.txt")).unwrap(),
    );
}

#[test]
fn unmerged_commits_are_kept() {
    let work = |path: &PathBuf| {
        std::fs::write(path.join("a.txt"), "two\n").unwrap();
        git(path, &["commit", "--quiet", "-am", "second"]);
    };
    kept("is in no other branch", work, |env, _| git(&env.workspace(), &["merge", "--quiet", "longhaul/busy"]));
}

#[test]
fn a_worktree_that_is_not_as_we_made_it_is_kept() {
    kept(
        "HEAD is on `elsewhere`",
        |path| git(path, &["switch", "--quiet", "-c", "elsewhere"]),
        |_, path| git(path, &["switch", "--quiet", "longhaul/busy"]),
    );
}

#[test]
fn a_sweep_killed_after_the_worktree_is_finished_by_the_next() {
    let (env, worktree) = world("clean");
    let fails = env.path().join("fails");
    std::fs::create_dir(&fails).unwrap();
    let mut command = env.command(&["gc", "--count", "0"]);
    command.env("LONGHAUL_FAIL_POINTS", "gc.worktree_removed").env("LONGHAUL_FAIL_DIR", &fails);
    assert_eq!(done(&command.output().unwrap()).code, -1, "killed");
    assert!(!worktree.path().exists() && names(&env) == ["clean"]);
    assert_eq!(strings(&env.json(&["gc", "--count", "0"])["removed"], "name"), ["clean"]);
    assert!(names(&env).is_empty());
}

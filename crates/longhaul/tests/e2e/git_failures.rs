//! A git that is killed, or cannot start, fails the machine and not the task: tried again, and a person is asked in the end.

use std::os::unix::fs::PermissionsExt;

use crate::env::{TestEnv, wait_for};
use crate::repository::git_in;
use crate::sight::finish;

/// A repository, and a `git` first on PATH that runs `script` before the real one.
fn world(script: &str) -> TestEnv {
    let env = TestEnv::new();
    env.make_repository();
    let programs = env.path().join("bin");
    std::fs::create_dir(&programs).unwrap();
    let path = std::env::var("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|directory| directory.join("git")).find(|git| git.is_file()).unwrap();
    let text = format!("#!/bin/sh\ntest={}\n{script}\nexec {} \"$@\"\n", env.path().display(), real.display());
    std::fs::write(programs.join("git"), text).unwrap();
    std::fs::set_permissions(programs.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    env.var("PATH", &format!("{}:{path}", programs.display()))
}

/// Kills a git with these words in its arguments, the first time.
fn dies_once(words: &str) -> TestEnv {
    world(&format!("case \"$*\" in *\"{words}\"*) mkdir $test/once 2>/dev/null && kill -9 $$;; esac"))
}

#[test]
fn a4_a_git_that_is_killed_before_a_session_is_run_again() {
    let env = dies_once("worktree add");
    let name = env.submit("Try again", &["--agent", "demo", "--backoff", "20ms"]);
    assert_eq!(env.settle(&name), "done");
    assert!(env.path().join("once").exists(), "the control: one git was killed");
    let events = env.ok(&["events", &name]);
    assert!(events.contains("git could not run") && events.contains("was killed by signal 9"), "{events}");
}

#[test]
fn a4_the_work_is_kept_by_the_next_git_when_one_is_killed_at_it() {
    let env = dies_once("commit-tree");
    env.pre_commit("exit 1");
    let name = env.submit("Keep it", &["--agent", "demo", "--backoff", "20ms"]);
    assert_eq!(env.settle(&name), "done");
    assert!(env.path().join("once").exists(), "the control: one git was killed");
    let saved = env.saved(&name);
    assert!(saved[1]["commit"].is_string() && saved[2]["commit"].is_string(), "by us: {saved:?}");
    let root = env.root_of(&name);
    assert_eq!(git_in(&root, &["status", "--porcelain"]), "", "everything is committed");
}

#[test]
fn a_git_that_is_killed_at_a_clean_checkout_is_run_again() {
    let env = dies_once("read-tree --reset").var("LONGHAUL_VERIFY_WHERE", "clean");
    let name = env.submit("Check it", &["--agent", "demo", "--backoff", "20ms", "--check", "pwd | grep -q checkouts"]);
    assert_eq!(env.settle(&name), "done");
    assert!(env.path().join("once").exists(), "the control: one git was killed");
    assert!(env.ok(&["events", &name]).contains("git could not run"));
}

#[test]
fn a4_a_git_that_is_killed_ten_times_more_asks_a_person() {
    let env = world("case \"$*\" in *\"worktree add\"*) echo x >>$test/killed; [ -e $test/well ] || kill -9 $$;; esac");
    let name = env.submit("In vain", &["--agent", "demo", "--backoff", "1ms"]);
    assert_eq!(env.settle(&name), "blocked");
    assert_eq!(std::fs::read_to_string(env.path().join("killed")).unwrap().lines().count(), 11);
    let why = env.ok(&["why", &name]);
    assert!(why.contains("git could not run") && why.contains("killed by signal 9"), "{why}");
    std::fs::write(env.path().join("well"), "").unwrap();
    env.ok(&["resume", &name]);
    assert_eq!(env.settle(&name), "done");
}

#[test]
fn a_git_that_hangs_while_a_name_is_found_stops_no_other_task() {
    let slow = "[ -e $test/slow ] && echo x >>$test/asked; while [ -e $test/slow ]; do sleep 0.02; done";
    // Every task hangs, so none is done before it is cancelled.
    let env = world(&format!("case \"$*\" in *for-each-ref*) {slow};; esac")).var("DEMO_FAULT", "hang");
    env.submit("Serve", &["--agent", "demo", "--name", "first"]);
    env.live("first", 1);
    std::fs::write(env.path().join("slow"), "").unwrap();
    let unnamed = ["one", "two", "three"].map(|goal| env.start(&["run", "-d", "--agent", "demo", goal]));
    let asked = || std::fs::read_to_string(env.path().join("asked")).unwrap_or_default().lines().count();
    wait_for("more slow gits than the worker has threads", || (asked() >= unnamed.len()).then_some(()));
    env.submit("Come too", &["--agent", "demo", "--name", "second"]);
    assert_eq!(env.worker_pid("second"), env.worker_pid("first"), "the worker took it at once");
    std::fs::remove_file(env.path().join("slow")).unwrap();
    for child in unnamed {
        assert_eq!(finish(child).code, 0);
    }
    for task in ["first", "second", "one", "two", "three"] {
        env.ok(&["cancel", task]);
    }
    env.deserted();
}

#[test]
fn why_tells_what_a_backoff_waits_for() {
    let env = world("case \"$*\" in *\"worktree add\"*) kill -9 $$;; esac");
    let name = env.submit("Tell me", &["--agent", "demo", "--backoff", "1h"]);
    env.reach(&name, "waiting");
    let why = env.ok(&["why", &name]);
    assert!(why.contains("waiting (backoff)") && why.contains("because git could not run"), "{why}");
    env.ok(&["cancel", &name]);
}

#[test]
fn a_missing_git_asks_at_once() {
    let mut env = TestEnv::new();
    env.make_repository();
    let name = env.submit("Gone", &["--agent", "demo", "--once"]);
    assert_eq!(env.settle(&name), "paused");
    env.set("PATH", "/nonexistent");
    env.ok(&["resume", &name]);
    assert_eq!(env.settle(&name), "blocked");
    let why = env.ok(&["why", &name]);
    assert!(why.contains("`git` was not found"), "{why}");
    assert!(!env.kinds(&name).iter().any(|kind| kind == "noted"), "nothing was tried again");
}

//! A worker is killed around the task's worktree and the work in it (W17 to W19): one worktree, one branch, nothing committed twice.

use serde_json::json;

use super::trial::{Story, TASK, Trial};
use crate::processes::Process;

/// A world whose workspace is a repository with one commit.
fn in_a_repository() -> Trial {
    let trial = Trial::new();
    trial.env.make_repository();
    trial
}

/// The task came to the end that it has without a kill, in one worktree on one branch; the user's checkout is as it was.
#[track_caller]
fn same_end_in_one_worktree(trial: &Trial) -> Story {
    let story = trial.conclude().unwrap();
    story.assert_sessions_after(0);
    assert_eq!(story.count("placed"), 1);
    assert_eq!(trial.env.worktrees(), [trial.env.root_of(TASK)]);
    assert_eq!(trial.env.task_branches(), [format!("longhaul/{TASK}")]);
    let made = trial.env.git(&["ls-tree", "--name-only", &format!("longhaul/{TASK}")]);
    assert_eq!(made, "own.txt\nstep-1.md\nstep-2.md\nstep-3.md\nstep-4.md");
    assert_eq!((trial.env.git(&["status", "--porcelain"]), trial.env.lines("own.txt")), (String::new(), 1));
    story
}

#[test]
fn w17_worktree_made_and_not_committed() {
    let mut trial = in_a_repository();
    trial.kill_worker_at("worker.placed").unwrap();
    let made = trial.env.worktrees();
    assert_eq!((made.len(), trial.story().count("placed")), (1, 0));
    trial.start_worker();
    same_end_in_one_worktree(&trial);
    assert_eq!(trial.env.worktrees(), made, "the same one");
}

#[test]
fn w18_place_committed() {
    let mut trial = in_a_repository();
    trial.kill_worker_at("worker.place_committed").unwrap();
    let placed = trial.env.root_of(TASK);
    assert_eq!(trial.story().count("placed"), 1);
    trial.start_worker();
    same_end_in_one_worktree(&trial);
    assert_eq!(trial.env.worktrees(), [placed]);
}

/// The worker is killed when it has kept the work of the second session and not told its end.
fn work_is_kept(more: &[&str]) -> Trial {
    let mut trial = in_a_repository().var("DEMO_FAULT", "stop@2");
    // The agent's own commits are refused, so that all work is left to us.
    trial.env.pre_commit("exit 1");
    trial.submit(more);
    let agent = trial.env.live(TASK, 2).agent;
    trial.env.owner(TASK).unwrap().kill_9();
    trial.arm("worker.work_kept");
    trial.start_worker();
    Process::now(agent).unwrap().release();
    trial.reached("worker.work_kept").unwrap();
    trial.env.wait_until_workers_are_dead();
    trial.disarm();
    assert_eq!(trial.story().count("session_ended"), 1, "the control: only the planning session's end is told");
    trial
}

#[test]
fn w19_work_committed_in_the_worktree_and_end_not_told() {
    let trial = work_is_kept(&[]);
    let subjects = || trial.env.git(&["log", "--format=%s", &format!("main..longhaul/{TASK}")]);
    let second = format!("longhaul: {TASK}, session 2 (work)");
    assert_eq!(subjects(), second);
    trial.start_worker();
    let story = same_end_in_one_worktree(&trial);
    assert_eq!(story.count("claimed"), 3);
    assert_eq!(subjects(), format!("longhaul: {TASK}, session 3 (work)\n{second}"), "committed once");
}

#[test]
fn w19_work_kept_under_a_private_ref_and_end_not_told() {
    let trial = work_is_kept(&["--in-place"]);
    let refs = || trial.env.git(&["for-each-ref", "--format=%(refname)", "refs/longhaul"]);
    let name = |number| format!("refs/longhaul/{}/{number}", trial.env.task(TASK)["id"].as_str().unwrap());
    assert_eq!(refs(), name(2));
    let tree = || trial.env.git(&["rev-parse", &format!("{}^{{tree}}", name(2))]);
    let kept = tree();
    trial.start_worker();
    trial.conclude().unwrap().assert_sessions_after(0);
    assert_eq!((refs(), tree()), (format!("{}\n{}", name(2), name(3)), kept));
    assert_eq!(trial.env.saved(TASK)[1], json!({ "snapshot": name(2) }));
    assert_eq!(trial.env.git(&["log", "--format=%s", "--branches"]), "begin", "nothing is committed");
}

//! Something is killed around the setup of a worktree (S1 to S4): it is whole, its setup was seen to pass, and only then an agent starts.

use serde_json::json;

use super::trial::{Story, TASK, Trial};
use crate::env::wait_for;

/// A repository that ignores `.env`; the setup notes each of its runs and waits for the file `go`.
fn trial() -> Trial {
    let trial = Trial::new();
    trial.env.make_repository();
    trial.env.put(".gitignore", ".env\nb.env\n");
    trial.env.git(&["add", ".gitignore"]);
    trial.env.git(&["commit", "-q", "-m", "ignore"]);
    let (runs, go) = (trial.env.path().join("runs"), trial.env.path().join("go"));
    let setup = format!("echo run >> {}; until test -e {}; do sleep 0.02; done", runs.display(), go.display());
    trial.var("LONGHAUL_WORKSPACE_SETUP", &setup)
}

fn runs(trial: &Trial) -> usize {
    std::fs::read_to_string(trial.env.path().join("runs")).map_or(0, |text| text.lines().count())
}

/// The same with the setup running.
fn setting_up() -> Trial {
    let trial = trial();
    trial.submit(&[]);
    wait_for("the setup", || (runs(&trial) == 1).then_some(()));
    trial
}

fn let_setup_end(trial: &Trial) {
    std::fs::write(trial.env.path().join("go"), "").unwrap();
}

/// The setup ran so often, its last run passed, and no agent ran before that.
#[track_caller]
fn set_up(trial: &Trial, times: usize) -> Story {
    let story = trial.conclude().unwrap();
    assert_eq!(runs(trial), times);
    let purposes = trial.env.purposes(TASK);
    let first = purposes.iter().position(|purpose| purpose != "setup").unwrap();
    assert_eq!(purposes[first..], ["plan", "work", "work"]);
    assert_eq!(trial.env.evidence(TASK).len(), 1, "only of a run whose end was seen");
    story
}

#[test]
fn s1_worker_while_the_setup_runs() {
    let trial = setting_up();
    let (session, _, setup) = trial.env.live_session(TASK);
    trial.env.owner(TASK).unwrap().kill_9();
    assert!(setup.is_alive(), "the setup never notices");
    trial.start_worker();
    let_setup_end(&trial);
    let story = set_up(&trial, 1);
    assert_eq!((story.sessions[0].id.as_str(), story.count("claimed")), (session.as_str(), 2));
}

#[test]
fn s2_keeper_while_the_setup_runs() {
    let trial = setting_up();
    let (_, keeper, _) = trial.env.live_session(TASK);
    keeper.kill_9();
    let_setup_end(&trial);
    let story = set_up(&trial, 2);
    assert_eq!(story.sessions[0].exit, json!("unknown"));
}

#[test]
fn s3_keeper_and_worker_while_the_setup_runs() {
    let trial = setting_up();
    let (_, keeper, _) = trial.env.live_session(TASK);
    trial.env.owner(TASK).unwrap().kill_9();
    keeper.kill_9();
    let_setup_end(&trial);
    trial.start_worker();
    set_up(&trial, 2);
}

#[test]
fn s4_one_of_two_files_copied() {
    let mut trial = trial().var("LONGHAUL_WORKSPACE_COPY", "*.env");
    let_setup_end(&trial);
    trial.env.put(".env", "1\n");
    trial.env.put("b.env", "2\n");
    trial.kill_worker_at("copy.file_written").unwrap();
    let copies = |trial: &Trial, root: &std::path::Path| {
        [".env", "b.env"]
            .map(|name| std::fs::read_to_string(root.join(name)).unwrap_or_default())
            .concat()
            .lines()
            .count()
            + trial.env.worktrees().len()
    };
    let root = trial.env.worktrees().remove(0);
    assert_eq!((copies(&trial, &root), trial.story().count("placed")), (2, 0), "the control: one file, one worktree");
    // What a kill in the middle of a file leaves.
    std::fs::write(root.join(".b.env.1-0.tmp"), "half").unwrap();
    trial.start_worker();
    set_up(&trial, 1);
    assert_eq!(copies(&trial, &root), 3);
    assert!(!root.join(".b.env.1-0.tmp").exists());
}

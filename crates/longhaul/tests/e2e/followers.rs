//! `run` and `attach` say why the task they follow does not start: one line for each reason, in the words of `why` and `list`.

use std::fs::File;
use std::path::PathBuf;
use std::process::Child;

use crate::bot::bot;
use crate::checker;
use crate::env::{TestEnv, wait_for};
use crate::slots::one_slot_in_use;

/// A command that follows a task, with what it has said so far in a file.
struct Follower {
    child: Child,
    said: PathBuf,
}

impl Follower {
    fn start(env: &TestEnv, args: &[&str]) -> Follower {
        let said = env.path().join(format!("said-by-{}", args.concat().replace(' ', "-")));
        let child = env.command(args).stderr(File::create(&said).unwrap()).spawn().unwrap();
        Follower { child, said }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap()
    }

    fn says(&self, words: &str) {
        wait_for(&format!("`{words}` of a follower"), || self.said().contains(words).then_some(()));
    }

    /// Its exit code and how often it said this.
    fn finish(mut self, words: &str) -> (Option<i32>, usize) {
        let code = self.child.wait().unwrap().code();
        (code, self.said().matches(words).count())
    }
}

#[test]
fn a_wait_for_a_slot_is_said_once() {
    let env = one_slot_in_use();
    let words = "waiting for a free slot (1 of 1 in use)";
    let run = Follower::start(&env, &["run", "Wait for it", "--name", "second"]);
    run.says(words);
    let attach = Follower::start(&env, &["attach", "second"]);
    attach.says(words);
    assert!(env.ok(&["why", "second"]).contains(words) && env.ok(&["list"]).contains(words));
    for number in 0..5 {
        env.ok(&["tell", "second", &format!("each change makes them look again: {number}")]);
        run.says(&format!("look again: {number}"));
        attach.says(&format!("look again: {number}"));
    }
    env.ok(&["pause", "first", "--now"]);
    assert_eq!(run.finish(words), (Some(0), 1));
    assert_eq!(attach.finish(words), (Some(0), 1));
    env.ok(&["cancel", "first"]);
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn waits_for_a_directory_for_another_task_and_for_hours_are_said() {
    let env = bot(r#"work() { while [ ! -e "$SCRATCH_DIR/go" ]; do sleep 0.02; done; tick; }"#);
    env.make_repository();
    env.submit("g", &["--name", "a", "--in-place", "--check", "true"]);
    env.reach("a", "working");
    let directory = "waiting for a directory in use by task a";
    let in_place = Follower::start(&env, &["run", "g", "--name", "b", "--in-place"]);
    in_place.says(directory);
    let first = "must be verified first";
    let after = Follower::start(&env, &["run", "g", "--name", "c", "--after", "a"]);
    after.says(first);
    let hours = "waiting (outside its hours) until ";
    let never_now = never_now();
    let later = Follower::start(&env, &["run", "g", "--name", "d", "--hours", &never_now]);
    later.says(hours);
    env.ok(&["cancel", "d"]);
    assert_eq!(later.finish(hours), (Some(4), 1));
    std::fs::write(env.path().join("go"), "").unwrap();
    assert_eq!(in_place.finish(directory), (Some(0), 1));
    assert_eq!(after.finish(first), (Some(0), 1));
    env.deserted();
    checker::assert_clean(&env);
}

/// One hour of the day that is far from now.
fn never_now() -> String {
    let now = jiff::Zoned::now().hour();
    let [from, to] = [12, 13].map(|later| (i32::from(now) + later) % 24);
    format!("{from:02}:00-{to:02}:00")
}

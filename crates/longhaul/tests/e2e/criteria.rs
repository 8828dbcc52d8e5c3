//! What a task is wanted to reach and to start from: criteria, constraints, expected files and inputs, from flag to verdict.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::checker;
use crate::env::{PASSED, TestEnv};
use crate::rounds::one_step;

fn run(env: &TestEnv, more: &[&str]) -> i32 {
    let done = env.run(&[&["run", "Do it", "--name", "t", "--fix-attempts", "0"], more].concat());
    env.deserted();
    checker::assert_clean(env);
    done.code
}

#[test]
fn a_criterion_is_shown_to_every_session_and_its_check_decides() {
    let env = one_step();
    let more = ["--criterion", "it is said well = test -d .", "--criterion", "it reads well", "--constraint", "no C++"];
    assert_eq!(run(&env, &[&more[..], &["--check", "echo own"]].concat()), PASSED);
    for number in [1, 2] {
        let prompt = env.prompt("t", number);
        for told in ["it is said well (shown by `test -d .`)", "- it reads well\n", "- no C++\n", "- `echo own`\n"] {
            assert!(prompt.contains(told), "{told}: {prompt}");
        }
    }
    let commands: Vec<_> = env.evidence("t").iter().map(|evidence| evidence["command"].clone()).collect();
    assert_eq!(commands, ["echo own", "test -d ."]);
    assert_eq!(env.task("t")["state"]["verdict"], json!({ "not_verified": { "doubts": ["no_git"] } }));
}

#[test]
fn a_criterion_whose_check_fails_is_no_pass() {
    assert_eq!(run(&one_step(), &["--criterion", "it is there = test -e nowhere"]), 3);
}

#[test]
fn words_alone_verify_nothing() {
    let env = one_step();
    assert_eq!(run(&env, &["--criterion", "it reads well"]), 0);
    assert_eq!(env.task("t")["state"]["verdict"], "no_checks");
    assert!(env.ok(&["show", "t"]).contains("unverified"));
}

#[test]
fn a_check_named_twice_is_run_once() {
    let env = one_step();
    assert_eq!(run(&env, &["--check", "echo x >> ran", "--criterion", "ran = echo x >> ran"]), PASSED);
    assert_eq!(env.lines("ran"), 1);
}

#[test]
fn an_expected_file_must_be_a_file_in_the_workspace() {
    let env = one_step();
    env.put("there.txt", "content");
    assert_eq!(run(&env, &["--expect", "there.txt"]), PASSED, "present");
    let files = env.told("t", "round_started")[0]["files"].clone();
    let sha = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";
    assert_eq!(files, json!([{ "path": "there.txt", "sha256": sha }]));

    let env = one_step();
    assert_eq!(run(&env, &["--expect", "missing.txt"]), 3, "missing");
    let why = env.task("t")["state"]["reason"]["verification_failed"]["why"].clone();
    assert_eq!(why, "expected file `missing.txt` is missing");

    let env = one_step();
    std::fs::create_dir(env.workspace().join("directory")).unwrap();
    assert_eq!(run(&env, &["--expect", "directory"]), 3, "a directory is no file");
}

#[test]
fn a_link_is_not_the_expected_file_wherever_it_points() {
    for target in ["there.txt", "../outside.txt", "/etc/hostname"] {
        let env = one_step();
        env.put("there.txt", "content");
        std::fs::write(env.path().join("outside.txt"), "content").unwrap();
        symlink(target, env.workspace().join("link.txt")).unwrap();
        assert_eq!(run(&env, &["--expect", "link.txt"]), 3, "{target}");
    }
    let env = one_step();
    let outside = env.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("file.txt"), "content").unwrap();
    symlink(&outside, env.workspace().join("down")).unwrap();
    assert_eq!(run(&env, &["--expect", "down/file.txt"]), 3, "through a link");
}

#[test]
fn a_missing_expected_file_is_mended_like_a_failed_check() {
    let env = one_step();
    let done = env.run(&["run", "Do it", "--name", "t", "--expect", "FIXES.md"]);
    assert_eq!(done.code, PASSED, "{}", done.stderr);
    assert_eq!(env.purposes("t"), ["plan", "work", "fix"]);
    assert!(env.prompt("t", 3).contains("expected file `FIXES.md` is missing"));
}

#[test]
fn an_expected_file_is_looked_for_also_when_a_person_ticks_the_last_step() {
    // Two steps in two sessions; the person ticks the second one while the task is paused.
    let env = TestEnv::new().var("DEMO_STEPS", "2").var("DEMO_STEPS_PER_SESSION", "1");
    env.submit("Do it", &["--name", "t", "--expect", "missing.txt", "--fix-attempts", "0", "--max-sessions", "2"]);
    assert_eq!(env.settle("t"), "stopped");
    let list = env.task_dir("t").join("task_list.md");
    let text = std::fs::read_to_string(&list).unwrap().replace("- [ ]", "- [x]");
    std::fs::write(&list, text).unwrap();
    env.ok(&["resume", "t", "--max-sessions", "9"]);
    assert_eq!(env.run(&["wait", "t"]).code, 3, "nothing was made, so nothing is verified");
}

#[test]
fn paths_that_lead_out_of_the_workspace_are_refused_before_anything_is_made() {
    let env = one_step();
    for path in ["/etc/hostname", "../up", "a/../../b", ""] {
        let done = env.run(&["run", "-d", "Do it", "--expect", path]);
        assert_eq!(done.code, 2, "{path}: {}", done.stderr);
    }
    assert!(!env.home().join("longhaul.db").exists() || env.json(&["list"])["tasks"] == json!([]));
}

#[test]
fn inputs_are_named_to_the_agent_and_must_be_there() {
    let env = one_step();
    env.put("notes.txt", "content");
    assert_eq!(run(&env, &["--input", "notes.txt", "--check", "true"]), PASSED);
    let path = env.workspace().canonicalize().unwrap().join("notes.txt");
    assert!(env.prompt("t", 1).contains(&format!("- `{}`", path.display())));
    let sha = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";
    assert_eq!(env.task("t")["submission"]["inputs"][0]["sha256"], sha);
    for bad in ["missing.txt", "."] {
        let done = env.run(&["run", "-d", "Do it", "--input", bad]);
        assert_eq!(done.code, 2, "{bad}: {}", done.stderr);
        assert!(done.stderr.contains(bad), "{}", done.stderr);
    }
    assert_eq!(env.json(&["list"])["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn what_belongs_to_the_goal_stays_checked_when_checks_are_taken_away() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang");
    env.submit(
        "Do it",
        &["--name", "t", "--check", "false", "--criterion", "it holds = test 1", "--expect", "out.txt"],
    );
    env.live_session("t");
    let edited = env.run(&["edit", "t", "--no-checks"]);
    assert_eq!(edited.code, 0, "{}", edited.stderr);
    let told = "still checked: commands of criteria: `test 1`; expected files: `out.txt`";
    assert!(edited.stderr.contains("task t: no checks\n") && edited.stderr.contains(told), "{}", edited.stderr);
    let submission = env.task("t")["submission"].clone();
    assert_eq!((&submission["checks"], &submission["criteria"][0]["check"]), (&json!([]), &json!("test 1")));
    assert!(!env.run(&["edit", "t", "--priority", "3"]).stderr.contains("still checked"), "only when it was asked for");
}

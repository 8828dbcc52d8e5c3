//! What was checked before an interruption says nothing about the files after it: the round starts again from the first check.
//! A directory without git, where no tree would show that something changed.

use serde_json::json;

use crate::checker;
use crate::env::TestEnv;
use crate::rounds::one_step;

/// Reports that it runs and waits for the file `go`.
const WAITS: &str = "echo run >> runs; until test -e go; do sleep 0.02; done";

/// A task whose first check needs the file `kept` and has passed; the second one runs.
fn halfway() -> TestEnv {
    let env = one_step();
    env.put("kept", "");
    let first = "echo run >> firsts; test -e kept";
    env.submit("Do it", &["--name", "t", "--fix-attempts", "0", "--check", first, "--check", WAITS]);
    env.await_lines("runs", 1);
    env
}

#[test]
fn a_file_removed_during_a_pause_fails_the_check_that_had_passed() {
    let env = halfway();
    env.ok(&["pause", "t"]);
    std::fs::remove_file(env.workspace().join("kept")).unwrap();
    env.put("go", "");
    env.ok(&["resume", "t"]);
    assert_eq!(env.run(&["wait", "t"]).code, 3, "{}", env.ok(&["events", "t"]));
    let failures: Vec<_> = env.evidence("t").iter().map(|evidence| evidence["failure"].clone()).collect();
    assert_eq!(failures, [json!(null), json!("exit code 1"), json!(null)]);
    checker::assert_clean(&env);
}

#[test]
fn the_control_nothing_changed_and_the_whole_second_round_verifies() {
    let env = halfway();
    env.ok(&["pause", "t"]);
    env.put("go", "");
    env.ok(&["resume", "t"]);
    env.settle("t");
    let round = env.task("t")["round"].clone();
    assert_eq!((&round["number"], round["evidence"].as_array().unwrap().len()), (&json!(2), 2));
    assert_eq!((env.state("t").as_str(), env.lines("firsts")), ("done", 2));
    checker::assert_clean(&env);
}

#[test]
fn a_killed_worker_ends_no_round() {
    let env = halfway();
    env.owner("t").unwrap().kill_9();
    env.put("go", "");
    env.ok(&["worker", "--only", "--detach"]);
    env.settle("t");
    assert_eq!((env.state("t").as_str(), env.lines("firsts"), env.lines("runs")), ("done", 1, 1));
    checker::assert_clean(&env);
}

#[test]
fn a_check_sees_none_of_our_variables_where_a_group_holds_it() {
    const SEES: &str = "env | grep -c ^LONGHAUL_ > seen; true";
    let seen = |env: &TestEnv| {
        env.submit("Do it", &["--name", "t", "--check", SEES]);
        env.settle("t");
        let session = env.sessions("t")[2]["run"]["id"].as_str().unwrap().to_owned();
        let seen = std::fs::read_to_string(env.workspace().join("seen")).unwrap().trim().parse::<u32>().unwrap();
        (env.group(&session).is_some(), seen)
    };
    let (is_grouped, count) = seen(&one_step());
    assert_eq!(count == 0, is_grouped, "{count}");
    assert_eq!(seen(&one_step().var("LONGHAUL_CONTAIN", "walk")), (false, 2), "home and session: how strays are found");
}

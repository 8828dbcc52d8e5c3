//! One task at a time works in a directory of the person's: the others wait, say for whom, and start by themselves. Nobody waits for ever.

use crate::bot::bot;
use crate::checker;
use crate::env::{TestEnv, wait_for};
use crate::runner::Runner;
use crate::sight::kill_9;

/// Writes down when a working session begins and ends, and stands still in between until there is a file `go`.
const WHO: &str = r#"
work() {
    echo "$task in" >>"$SCRATCH_DIR/who"
    while [ ! -e "$SCRATCH_DIR/go" ]; do sleep 0.02; done
    echo "$task out" >>"$SCRATCH_DIR/who"
    tick
}"#;

fn go(env: &TestEnv) {
    std::fs::write(env.path().join("go"), "").unwrap();
}

/// Waits until somebody works.
fn working(env: &TestEnv, who: &str) {
    wait_for(&format!("{who} to work"), || env.noted("who").contains(&format!("{who} in")).then_some(()));
}

#[test]
fn tasks_in_one_checkout_work_one_after_the_other_and_say_for_whom_they_wait() {
    let env = bot(WHO);
    env.make_repository();
    env.submit("g", &["--name", "a", "--in-place"]);
    working(&env, "a");
    let told = env.run(&["run", "-d", "g", "--name", "b", "--in-place"]).stderr;
    assert!(told.contains("task a (working)") && told.contains("waits until it is finished"), "{told}");
    env.submit("g", &["--name", "tree"]);
    working(&env, "tree");
    let waits = "waiting for a directory in use by task a";
    wait_for("b to be in line", || env.ok(&["list"]).contains(waits).then_some(()));
    assert!(env.ok(&["show", "b"]).contains(waits));
    let why = env.ok(&["why", "b"]);
    assert!(
        why.contains(waits) && why.contains("starts automatically once task a no longer needs the directory"),
        "{why}"
    );
    let events = env.kinds("b");
    env.ok(&["tell", "a", "this rings the bell"]);
    assert_eq!(env.kinds("b"), events, "waiting writes nothing");
    go(&env);
    for task in ["a", "b", "tree"] {
        assert_eq!(env.settle(task), "done");
    }
    let who = env.noted("who").replace("tree in\n", "").replace("tree out\n", "");
    assert_eq!(who, "a in\na out\nb in\nb out\n");
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_paused_task_keeps_its_directory_and_the_waiting_one_names_what_to_do() {
    let env = bot(WHO);
    env.submit("g", &["--name", "a"]);
    working(&env, "a");
    let inside = env.workspace().join("inside");
    std::fs::create_dir(&inside).unwrap();
    env.submit("g", &["--name", "b", "--workspace", inside.to_str().unwrap()]);
    env.ok(&["pause", "a"]);
    let why = wait_for("b to name what it waits for", || {
        Some(env.ok(&["why", "b"])).filter(|why| why.contains("directory in use by task a"))
    });
    assert!(why.contains("task a (paused) waits for you: continue with `longhaul resume a`"), "{why}");
    assert!(why.contains("longhaul cancel a"), "{why}");
    let refused = env.run(&["run", "-d", "g", "--name", "c", "--no-wait"]);
    assert_eq!(refused.code, 8, "{}", refused.stderr);
    assert!(refused.stderr.contains("--no-wait was given"), "{}", refused.stderr);
    assert!(refused.stderr.contains("longhaul resume a"), "{}", refused.stderr);
    let elsewhere = env.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    go(&env);
    let free = env.run(&["run", "g", "--name", "d", "--no-wait", "--workspace", elsewhere.to_str().unwrap()]);
    assert_eq!(free.code, 0, "the control: {}", free.stderr);
    assert_eq!(env.sessions("b").len(), 0);
    env.ok(&["cancel", "a"]);
    assert_eq!(env.settle("b"), "done");
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn w24_the_wait_for_a_directory_survives_the_worker() {
    let env = bot(WHO);
    env.submit("g", &["--name", "a"]);
    working(&env, "a");
    env.submit("g", &["--name", "b"]);
    env.reach("b", "preparing");
    kill_9(env.worker_pid("b"));
    env.ok(&["worker", "--only", "--detach"]);
    wait_for("the adopter", || env.owner("b"));
    assert_eq!((env.state("b").as_str(), env.sessions("b").len()), ("preparing", 0));
    go(&env);
    assert_eq!((env.settle("a"), env.settle("b")), ("done".into(), "done".into()));
    assert_eq!(env.noted("who"), "a in\na out\nb in\nb out\n");
    env.deserted();
    checker::assert_clean(&env);
}

/// A stranger waits behind the parent, the parent behind its child, and the child only for the parent's live session.
#[test]
fn a_child_in_a_plain_directory_works_between_the_sessions_of_its_parent() {
    let env = bot(
        r#"plan() { printf '# H\n\n## Tasks\n\n- [ ] Task 1: x\n- [ ] Task 2: y\n' >"$td/task_list.md"; echo p >"$td/progress.md"; }
        work() {
            echo "$task in" >>"$SCRATCH_DIR/who"
            if [ "$task" = dad ] && [ ! -e "$SCRATCH_DIR/said" ]; then
                while [ ! -e "$SCRATCH_DIR/go" ]; do sleep 0.02; done
                longhaul run -d --name kid c >"$SCRATCH_DIR/said" 2>&1
                longhaul wait kid >>"$SCRATCH_DIR/said" 2>&1; echo "exit $?" >>"$SCRATCH_DIR/said"
                # The worker may not have claimed it yet.
                until longhaul show kid | grep -q '^state *waiting'; do sleep 0.02; done
                longhaul why kid >"$SCRATCH_DIR/why" 2>&1
                sed -i '0,/- \[ \]/s//- [x]/' "$td/task_list.md"
            else
                sed -i 's/- \[ \]/- [x]/' "$td/task_list.md"
            fi
            echo "$task out" >>"$SCRATCH_DIR/who"
        }"#,
    );
    env.submit("g", &["--name", "dad", "--max-sessions", "9"]);
    working(&env, "dad");
    env.submit("g", &["--name", "stranger"]);
    go(&env);
    for task in ["dad", "kid", "stranger"] {
        wait_for(task, || env.run(&["show", task]).stdout.contains("done").then_some(()));
    }
    let said = env.noted("said");
    assert!(said.contains("exit 75") && said.contains("needs this session's directory"), "{said}");
    assert!(said.contains("starts when this session has ended"), "{said}");
    let why = env.noted("why");
    assert!(why.contains("directory in use by task dad"), "{why}");
    let line = "dad in\ndad out\nkid in\nkid out\ndad in\ndad out\nstranger in\nstranger out\n";
    assert_eq!(env.noted("who"), line);
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_child_that_needs_the_slot_of_its_parents_session_is_not_waited_for() {
    let env = bot(r#"work() {
            case $task in dad)
                longhaul run -d --name kid c >"$SCRATCH_DIR/said" 2>&1
                longhaul wait kid >>"$SCRATCH_DIR/said" 2>&1; echo "exit $?" >>"$SCRATCH_DIR/said";;
            esac
            tick
        }"#);
    env.make_repository();
    env.ok(&["worker", "--only", "--sessions", "1"]);
    assert_eq!(env.run(&["run", "g", "--name", "dad"]).code, 0);
    let said = env.noted("said");
    assert!(said.contains("exit 75") && said.contains("needs this session's slot"), "{said}");
    assert_eq!(env.settle("kid"), "done");
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn run_session_waits_for_nobody_and_warns() {
    let runner = Runner::new();
    let env = &runner.env;
    env.submit("Do it", &["--agent", "demo", "--name", "other", "--once"]);
    env.reach("other", "paused");
    let done = runner.run(&["-n", "t", "Do that"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("warning: task other (paused) also works in this directory"), "{}", done.stderr);
    env.ok(&["cancel", "other"]);
    assert!(!runner.run(&["-n", "u", "Do that"]).stderr.contains("task other"), "the control");
}

//! What a person does with a task's directory and name: `reopen`, `rename`, `path` and `shell`.

use serde_json::json;

use crate::checker;
use crate::env::{TestEnv, done};
use crate::rounds::one_step;

fn repository() -> TestEnv {
    let env = one_step();
    env.make_repository();
    env
}

fn finished(env: &TestEnv, name: &str, more: &[&str]) {
    let done = env.run(&[&["run", "Port the parser", "--name", name], more].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
}

/// The commit that the worktree of a task began with.
fn base(env: &TestEnv, task: &str) -> String {
    env.task(task)["workspace"]["base"].as_str().unwrap().to_owned()
}

#[test]
fn a_finished_task_is_reopened_from_its_branch_in_its_conversation() {
    let env = repository();
    finished(&env, "t", &["--check", "test -f step-1.md", "--constraint", "be kind"]);
    let before = env.events("t");
    let tip = env.git(&["rev-parse", "longhaul/t"]);
    let reopened = env.run(&["reopen", "t", "now also the docs"]);
    assert_eq!(reopened.code, 0, "{}", reopened.stderr);
    assert!(reopened.stderr.contains("continues t from its branch, longhaul/t"), "{}", reopened.stderr);
    let (old, new) = (env.task("t"), env.task("t-2"));
    assert_eq!((base(&env, "t-2"), new["state"]["verdict"]["verified"].is_object()), (tip, true));
    for same in ["constraints", "checks", "agent", "project"] {
        assert_eq!(new["submission"][same], old["submission"][same], "{same}");
    }
    let goal = new["submission"]["goal"].as_str().unwrap();
    assert!(
        goal.starts_with("now also the docs\n") && goal.contains("`t`") && goal.contains("Port the parser"),
        "{goal}"
    );
    let last = env.sessions("t").into_iter().rfind(|session| session["run"]["purpose"] == "work").unwrap();
    let first = env.sessions("t-2").remove(0);
    assert!(last["run"]["conversation"].is_string(), "the control");
    assert_eq!(first["run"]["resumes"], last["run"]["conversation"]);
    assert!(env.prompt("t-2", 1).contains("now also the docs"), "{}", env.prompt("t-2", 1));
    assert_eq!(env.events("t"), before, "the finished task is not touched");
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn landed_work_is_reopened_from_the_commit_that_landed_and_discarded_work_from_what_was_kept() {
    let env = repository();
    finished(&env, "t", &["--check", "true"]);
    env.ok(&["land", "t"]);
    let landed = env.git(&["rev-parse", "main"]);
    env.put("own.txt", "later\n");
    env.git(&["commit", "-qam", "later"]);
    assert_eq!(env.run(&["reopen", "t", "more", "--name", "again"]).code, 0);
    assert_eq!(base(&env, "again"), landed, "not where main is now");
    finished(&env, "u", &["--check", "true"]);
    env.ok(&["discard", "u", "--yes"]);
    let id = env.json(&["show", "u"])["task"]["id"].as_str().unwrap().to_owned();
    let kept = env.git(&["rev-parse", &format!("refs/longhaul/{id}/final")]);
    assert_eq!(env.run(&["reopen", "u", "more"]).code, 0);
    assert_eq!(base(&env, "u-2"), kept);
}

#[test]
fn what_cannot_be_reopened_is_refused_and_nothing_is_submitted() {
    let env = repository().var("DEMO_FAULT", "hang@2");
    let name = env.submit("Not yet", &[]);
    let live = env.live(&name, 2);
    let refused = env.run(&["reopen", &name, "more"]);
    assert!(refused.code == 8 && refused.stderr.contains("it is not finished"), "{}", refused.stderr);
    let mut below = env.command(&["reopen", &name, "more"]);
    let below = done(&below.env("LONGHAUL_SESSION", &live.session).output().unwrap());
    assert_eq!(below.code, 8, "{}", below.stderr);
    env.ok(&["cancel", &name]);
    assert_eq!(env.settle(&name), "cancelled");
    assert_eq!(env.run(&["reopen", &name, " "]).code, 2);
    assert_eq!(env.run(&["reopen", "nobody", "more"]).code, 7);
    env.git(&["worktree", "remove", "--force", &env.root_of(&name).display().to_string()]);
    env.git(&["branch", "-D", &format!("longhaul/{name}")]);
    let gone = env.run(&["reopen", &name, "more"]);
    assert!(gone.code == 8 && gone.stderr.contains("longhaul retry"), "{}", gone.stderr);
    assert_eq!(env.json(&["list", "--all"])["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn in_place_the_work_goes_on_in_the_checkout() {
    let env = repository();
    finished(&env, "t", &["--in-place"]);
    assert_eq!(env.run(&["reopen", "t", "more"]).code, 0);
    assert!(env.task("t-2")["workspace"]["branch"].is_null());
}

#[test]
fn an_unfinished_task_gets_another_name_and_keeps_its_files() {
    let env = repository().var("DEMO_FAULT", "stop@2");
    let name = env.submit("Old name", &["--name", "old"]);
    env.live(&name, 2);
    let (_, _, agent) = env.live_session(&name);
    let said = env.run(&["rename", "old", "new"]);
    assert!(said.code == 0 && said.stderr.contains("task old is now called new"), "{}", said.stderr);
    assert_eq!(env.run(&["show", "old"]).code, 7);
    agent.release();
    assert_eq!(env.settle("new"), "done");
    let task = env.task("new");
    assert_eq!(
        (&task["workspace"]["branch"], &task["submission"]["files_name"]),
        (&json!("longhaul/old"), &json!("old"))
    );
    assert!(env.root_of("new").join(".autonomous/old/task_list.md").exists());
    assert!(!env.root_of("new").join(".autonomous/new").exists());
    assert!(env.ok(&["list"]).contains("new") && env.ok(&["events", "new"]).contains("name new"));
    assert!(env.ok(&["diff", "new", "--stat"]).contains("step-1.md"));
    env.ok(&["land", "new", "--unverified"]);
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_taken_name_is_refused_and_nothing_changes() {
    let env = repository();
    finished(&env, "done", &[]);
    let mut env = env;
    env.set("DEMO_FAULT", "hang");
    let (one, two) = (env.submit("One", &["--name", "one"]), env.submit("Two", &["--name", "two"]));
    for name in [&one, &two] {
        env.ok(&["pause", name]);
        assert_eq!(env.settle(name), "paused");
    }
    let (before, version) = (env.events(&one), env.column(&one, "version"));
    for (name, why) in [("two", "an unfinished task"), ("done", "a finished task")] {
        let refused = env.run(&["rename", &one, name]);
        assert!(refused.code == 8 && refused.stderr.contains(why), "{}", refused.stderr);
    }
    assert_eq!(env.run(&["rename", &one, "../up"]).code, 2);
    let finished = env.run(&["rename", "done", "other"]);
    assert!(finished.code == 8 && finished.stderr.contains("a finished task never changes"), "{}", finished.stderr);
    assert_eq!((env.events(&one), env.column(&one, "version")), (before, version));
    env.ok(&["cancel", &one]);
    env.ok(&["cancel", &two]);
    assert_eq!(env.run(&["rename", &one, "free"]).code, 8, "finished now");
}

#[test]
fn path_and_shell_lead_to_the_worktree() {
    let env = repository().var("SHELL", "/bin/sh");
    finished(&env, "t", &[]);
    let root = env.root_of("t");
    assert_eq!(env.ok(&["path", "t"]).trim(), root.display().to_string());
    let view = env.json(&["path", "t"]);
    assert_eq!((&view["branch"], &view["is_live"]), (&json!("longhaul/t"), &json!(false)));
    let mut shell = env.command(&["shell", "t"]);
    let mut shell = shell.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut shell.stdin.take().unwrap(), b"pwd; git branch --show-current; exit 3\n").unwrap();
    let output = shell.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{}\nlonghaul/t\n", root.display()));
    env.ok(&["discard", "t", "--yes"]);
    for verb in ["path", "shell"] {
        let gone = env.run(&[verb, "t"]);
        assert!(gone.code == 8 && gone.stderr.contains("longhaul discard --undo t"), "{}", gone.stderr);
    }
}

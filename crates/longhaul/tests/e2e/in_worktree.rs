//! Verbs that are run inside a task's worktree, by a person or by the agent itself: the project is the task's, and no name means the task.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::env::{Done, TestEnv, done};

fn git(directory: &Path, arguments: &[&str]) {
    let fixed = ["-c", "user.name=A", "-c", "user.email=a@b"];
    let output = Command::new("git").args(fixed).args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Two tasks of one project, each at work in its own worktree; the first one's session and a directory in its worktree.
fn world() -> (TestEnv, String, PathBuf) {
    let env = TestEnv::new().var("DEMO_FAULT", "hang");
    let project = env.workspace();
    git(&project, &["init", "--quiet", "-b", "main"]);
    std::fs::create_dir(project.join("below")).unwrap();
    std::fs::write(project.join("below/a.txt"), "one\n").unwrap();
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "-m", "first"]);
    for name in ["one", "two"] {
        env.submit("Work", &["--name", name]);
        env.live_session(name);
    }
    let (session, ..) = env.live_session("one");
    let root = PathBuf::from(env.task("one")["workspace"]["root"].as_str().unwrap());
    assert!(root.starts_with(env.home().canonicalize().unwrap().join("worktrees")), "{}", root.display());
    (env, session, root.join("below"))
}

fn run(env: &TestEnv, directory: &Path, session: Option<&str>, args: &[&str]) -> Done {
    let mut command = env.command(args);
    command.current_dir(directory).envs(session.map(|session| ("LONGHAUL_SESSION", session)));
    done(&command.output().unwrap())
}

fn names(done: &Done) -> Vec<String> {
    let shown: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let tasks = shown["data"]["tasks"].as_array().unwrap().clone();
    tasks.iter().map(|task| task["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_bare_verb_means_the_task_and_list_its_project() {
    let (env, _, inside) = world();
    assert_eq!(names(&run(&env, &inside, None, &["list", "--json"])), ["two", "one"]);
    let shown = run(&env, &inside, None, &["show", "--json"]);
    assert!(shown.code == 0 && shown.stdout.contains("\"name\":\"one\""), "{}{}", shown.stdout, shown.stderr);
    assert_eq!(run(&env, &inside, None, &["show", "two"]).code, 0, "names are those of the project");
    let ambiguous = env.run(&["pause"]);
    assert!(ambiguous.code == 2 && ambiguous.stderr.contains("several"), "the control: {}", ambiguous.stderr);
    let paused = run(&env, &inside, None, &["pause"]);
    assert_eq!(paused.code, 0, "{}", paused.stderr);
    assert_eq!((env.state("one").as_str(), env.state("two").as_str()), ("paused", "planning"));
}

#[test]
fn below_a_session_list_shows_the_own_task_and_its_children() {
    let (env, session, inside) = world();
    assert_eq!(names(&run(&env, &inside, Some(&session), &["list", "--json"])), ["one"]);
    assert_eq!(run(&env, &inside, Some(&session), &["run", "-d", "A child"]).code, 0);
    assert_eq!(names(&run(&env, &inside, Some(&session), &["list", "--json"])), ["a-child", "one"]);
    let elsewhere = env.path().to_owned();
    assert_eq!(names(&run(&env, &elsewhere, Some(&session), &["list", "--json"])), ["a-child", "one"]);
    let lines = run(&env, &inside, Some(&session), &["list"]).stdout;
    assert!(lines.contains("a-child") && !lines.contains("two"), "{lines}");
    let why = run(&env, &inside, Some(&session), &["show", "--json"]);
    assert!(why.stdout.contains("\"name\":\"one\""), "the own one: {}{}", why.stdout, why.stderr);
}

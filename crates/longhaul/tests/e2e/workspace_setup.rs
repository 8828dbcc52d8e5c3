//! The setup command in a task's worktree and the files that are copied into it: before any agent, and never on an agent's word.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::checker;
use crate::env::TestEnv;
use crate::rounds::one_step;

/// A repository that ignores `deps`, `.env` and `*.local`; its tasks have one step.
fn world() -> TestEnv {
    let env = one_step();
    env.make_repository();
    env.put(".gitignore", "deps\n.env\n*.local\n");
    env.git(&["add", ".gitignore"]);
    env.git(&["commit", "-q", "-m", "ignore"]);
    env
}

#[test]
fn setup_runs_once_in_the_worktree_before_the_first_session() {
    let env =
        world().var("LONGHAUL_WORKSPACE_SETUP", "pwd >> deps; ls -A >> deps").var("LONGHAUL_VERIFY_WHERE", "workspace");
    assert_eq!(env.run(&["run", "Do it", "--name", "t", "--check", "test -f deps"]).code, 0);
    assert_eq!(env.purposes("t"), ["setup", "plan", "work", "check"]);
    let root = env.root_of("t");
    let seen = std::fs::read_to_string(root.join("deps")).unwrap();
    assert!(seen.starts_with(&format!("{}\n", root.display())) && !seen.contains("step-1.md"), "{seen}");
    assert!(env.git(&["ls-tree", "--name-only", "longhaul/t"]).contains("step-1.md"), "the control");
    assert_eq!(env.evidence("t")[0]["role"], "setup");
    assert!(env.ok(&["events", "t"]).contains("setup `pwd >> deps; ls -A >> deps` passed"));
    env.deserted();
    checker::assert_clean(&env);
}

#[test]
fn a_failed_setup_asks_before_any_agent_starts() {
    let env = world().var("LONGHAUL_WORKSPACE_SETUP", "echo no network; exit 7");
    let done = env.run(&["run", "Do it", "--name", "t"]);
    assert_eq!(done.code, 5, "{}", done.stderr);
    assert!(done.stderr.contains("`--setup none` starts without it"), "{}", done.stderr);
    assert_eq!(env.task("t")["state"]["reason"]["setup_failed"]["why"], "setup `echo no network; exit 7`: exit code 7");
    assert_eq!((env.purposes("t"), env.ledger_lines().len()), (vec!["setup".to_owned()], 0));
    assert!(env.ok(&["logs", "t"]).contains("no network"));
    env.ok(&["resume", "t", "--reason", "network is back", "--setup", "echo fine > deps"]);
    assert_eq!(env.settle("t"), "done");
    assert_eq!(env.purposes("t"), ["setup", "setup", "plan", "work"]);
    assert!(env.root_of("t").join("deps").exists());
}

#[test]
fn a_person_can_go_without_a_setup() {
    let env = world().var("LONGHAUL_WORKSPACE_SETUP", "exit 7");
    assert_eq!(env.run(&["run", "Do it", "--name", "t"]).code, 5);
    env.ok(&["resume", "t", "--reason", "not needed", "--setup", "none"]);
    assert_eq!(env.settle("t"), "done");
    assert_eq!(env.purposes("t"), ["setup", "plan", "work"]);
}

#[test]
fn a_pause_stops_the_setup_and_it_runs_again() {
    let env = world();
    let (runs, go) = (env.path().join("runs"), env.path().join("go"));
    let setup = format!("echo run >> {}; until test -e {}; do sleep 0.02; done", runs.display(), go.display());
    let env = env.var("LONGHAUL_WORKSPACE_SETUP", &setup);
    env.submit("Do it", &["--name", "t"]);
    crate::env::wait_for("the setup", || runs.exists().then_some(()));
    assert_eq!(env.state("t"), "setting_up");
    assert!(env.ok(&["list"]).contains("running the setup"));
    env.ok(&["pause", "t"]);
    assert_eq!(env.settle("t"), "paused");
    std::fs::write(&go, "").unwrap();
    env.ok(&["resume", "t"]);
    assert_eq!(env.settle("t"), "done");
    assert_eq!((env.purposes("t").len(), std::fs::read_to_string(&runs).unwrap().lines().count()), (4, 2));
}

#[test]
fn in_place_there_is_nothing_to_set_up() {
    let env = world().var("LONGHAUL_WORKSPACE_SETUP", "exit 7").var("LONGHAUL_WORKSPACE_COPY", ".env");
    assert_eq!(env.run(&["run", "Do it", "--name", "t", "--in-place"]).code, 0);
    assert_eq!(env.purposes("t"), ["plan", "work"]);
}

#[test]
pub(crate) fn ignored_files_are_copied_and_links_and_others_are_not() {
    let env =
        world().var("LONGHAUL_WORKSPACE_COPY", ".env\n*.local\nown.txt\nsecret").var("LONGHAUL_VERIFY_WHERE", "clean");
    env.put(".env", "TOKEN=1\n");
    env.put("secret", "not ignored\n");
    env.put("own.txt", "tracked, and changed\n");
    std::fs::create_dir_all(env.workspace().join("config/deep")).unwrap();
    env.put("config/deep/dev.local", "mine\n");
    symlink("/etc/hostname", env.workspace().join("link.local")).unwrap();
    let done = env.run(&["run", "Do it", "--name", "t", "--check", "cat .env config/deep/dev.local"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("not copied into the worktree: `link.local`"), "{}", done.stderr);
    let root = env.root_of("t");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).ok();
    assert_eq!(read(".env").as_deref(), Some("TOKEN=1\n"));
    assert_eq!((read("own.txt").as_deref(), read("secret"), read("link.local")), (Some("mine\n"), None, None));
    assert!(!env.git(&["ls-tree", "-r", "--name-only", "longhaul/t"]).contains("env"), "never committed");
    let result = env.json(&["list"])["tasks"][0]["status"].clone();
    assert!(result.as_str().unwrap().contains("1 remark"), "{result}");
    assert!(env.ok(&["show", "t"]).contains("with 2 ignored entries present: .env, config/deep/dev.local"));
}

#[test]
fn what_the_commit_does_not_ignore_is_not_copied() {
    let env = world().var("LONGHAUL_WORKSPACE_COPY", "new.secret");
    env.put(".gitignore", "*.secret\n");
    env.put("new.secret", "1\n");
    env.submit("Do it", &["--name", "t"]);
    assert_eq!(env.settle("t"), "blocked");
    let why = env.ok(&["why", "t"]);
    assert!(why.contains("`new.secret` is not copied") && why.contains("longhaul retry"), "{why}");
    assert!(env.ledger_lines().is_empty());
    env.ok(&["cancel", "t"]);
    env.git(&["add", ".gitignore"]);
    env.git(&["commit", "-q", "-m", "ignore"]);
    assert_eq!(env.run(&["retry", "t"]).code, 0);
    assert!(env.root_of("t-2").join("new.secret").exists());
}

#[test]
fn too_many_files_are_refused_before_anything_is_submitted() {
    let env = world().var("LONGHAUL_WORKSPACE_COPY", "deps");
    std::fs::create_dir(env.workspace().join("deps")).unwrap();
    (0..1001).for_each(|number| env.put(&format!("deps/{number}"), ""));
    let done = env.run(&["run", "Do it", "--name", "t"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("selects 1001 files, and at most 1000"), "{}", done.stderr);
    assert_eq!(env.json(&["list", "--all"])["tasks"], json!([]));
    std::fs::remove_file(env.workspace().join("deps/7")).unwrap();
    assert_eq!(env.run(&["run", "Do it", "--name", "t"]).code, 0, "the control");
}

#[test]
fn a_project_file_that_nobody_trusts_runs_no_setup_and_copies_nothing() {
    let env = world();
    env.put(".env", "TOKEN=1\n");
    env.put("longhaul.toml", "[workspace]\nsetup = \"touch deps\"\ncopy = [\".env\"]\n");
    assert_eq!(env.run(&["run", "Do it", "--name", "t"]).code, 0);
    assert!(!env.root_of("t").join("deps").exists() && !env.root_of("t").join(".env").exists());
    env.ok(&["trust", "."]);
    assert_eq!(env.run(&["run", "Do it", "--name", "u"]).code, 0);
    assert!(env.root_of("u").join("deps").exists() && env.root_of("u").join(".env").exists(), "the control");
}

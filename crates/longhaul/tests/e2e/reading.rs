//! The facts that show, list, why and diff tell: checks with evidence, limits, guidance, priority, workspace, a stopped worker.

use std::process::Command;

use nix::sys::signal::Signal;

use crate::env::{PASSED, TestEnv, done};
use crate::sight::send;

#[test]
fn list_says_verified_or_not() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Checked", "--check", "true", "--priority", "5"]).code, PASSED);
    assert_eq!(env.run(&["run", "Unchecked"]).code, 0);
    let list = env.ok(&["list"]);
    assert!(
        list.contains("✓ checked")
            && list.contains("  checks passed, not verified  ")
            && list.contains("  unverified: no checks  "),
        "{list}"
    );
    let rows = env.json(&["list"])["tasks"].clone();
    assert_eq!((&rows[0]["result"], &rows[1]["result"]), (&"no_checks".into(), &"not_verified".into()), "newest first");
    assert_eq!((&rows[0]["priority"], &rows[1]["priority"]), (&0.into(), &5.into()));
}

#[test]
fn show_tells_the_round_with_its_evidence() {
    let env = TestEnv::new();
    let args =
        ["run", "Fails", "--check", "exit 7", "--check", "true", "--expect", "missing.txt", "--fix-attempts", "0"];
    assert_eq!(env.run(&args).code, 3);
    let show = env.ok(&["show", "fails"]);
    for part in [
        "checks     round 1: verification failed",
        "fail     exit 7",
        "exit code 7",
        "pass     true",
        "fail     expected file missing.txt",
    ] {
        assert!(show.contains(part), "`{part}` is missing in\n{show}");
    }
    assert!(show.contains("check  exit code 7") && show.contains("`exit 7`"), "the session names its command: {show}");
    let facts = env.json(&["show", "fails"]);
    assert_eq!(facts["verification"]["checks"][0]["evidence"]["exit"], "exit code 7");
    // In a plain directory the next task would wait for this one.
    env.ok(&["cancel", "fails"]);
    assert_eq!(env.run(&["run", "Open", "--check", "true", "--once"]).code, 5);
    assert!(env.ok(&["show", "open"]).contains("not run on the current work"));
}

#[test]
fn limits_guidance_and_place_are_shown() {
    let env = TestEnv::new();
    let args =
        ["run", "Bounded", "--max-sessions", "2", "--max-tokens", "1000000", "--model", "tiny", "--priority", "-3"];
    assert_eq!(env.run(&args).code, 6);
    env.ok(&["tell", "bounded", "mind the\ngap"]);
    let show = env.ok(&["show", "bounded"]);
    for part in [
        "max-sessions 2 of 2",
        "of 1000000",
        "guidance   for the next session: mind the gap",
        "workspace  in place\n",
        "priority   -3",
        "model tiny",
    ] {
        assert!(show.contains(part), "`{part}` is missing in\n{show}");
    }
    let why = env.ok(&["why", "bounded"]);
    assert!(why.starts_with("bounded is stopped (since "), "what was told moved nothing: {why}");
    assert!(why.contains("max-sessions 2 of 2 used") && why.contains("guidance for the next session: 1"), "{why}");
    assert_eq!(env.json(&["why", "bounded"])["also"].as_array().unwrap().len(), 2);
}

#[test]
fn a_stopped_worker_is_marked() {
    let env = TestEnv::new().var("DEMO_FAULT", "hang@2");
    let name = env.submit("Halt", &[]);
    env.live(&name, 2);
    assert_eq!(env.json(&["show", &name])["owner"]["stopped"], false);
    let worker = env.worker_pid(&name);
    send(worker, Signal::SIGSTOP);
    crate::env::wait_for("the worker to be stopped", || {
        let stat = std::fs::read_to_string(format!("/proc/{worker}/stat")).ok()?;
        stat.rsplit_once(") ").filter(|(_, rest)| rest.starts_with('T')).map(|_| ())
    });
    let show = env.ok(&["show", &name]);
    assert!(show.contains("is stopped and does not answer"), "{show}");
    assert_eq!(env.json(&["show", &name])["owner"]["stopped"], true);
    send(worker, Signal::SIGCONT);
}

#[test]
fn logs_show_a_check_as_command_and_output() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Look", "--check", "printf '{\"type\":\"text\"}\\n'; echo oops >&2"]).code, PASSED);
    let logs = env.ok(&["logs", "look", "--session", "4"]);
    let lines: Vec<&str> = logs.lines().collect();
    assert!(lines[0].starts_with("--- session 4: check") && lines[1].starts_with("$ printf"), "{logs}");
    assert!(lines.contains(&"{\"type\":\"text\"}"), "no agent speaks here: {logs}");
    assert!(lines.contains(&"  2> oops"), "{logs}");
    let raw = env.run(&["logs", "look", "--session", "4", "--raw"]);
    assert_eq!(raw.stdout, "{\"type\":\"text\"}\n", "as it was printed");
}

#[test]
fn without_git_diff_says_why_it_knows_nothing() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "No git"]).code, 0);
    for args in [&["diff", "no-git"][..], &["diff", "no-git", "--stat"]] {
        let diff = env.run(args);
        assert_eq!((diff.code, diff.stdout.as_str()), (1, ""), "{}", diff.stderr);
        assert!(
            diff.stderr.contains("did not start from a commit") && diff.stderr.contains("hint:"),
            "{}",
            diff.stderr
        );
    }
    let diff = env.run(&["diff", "no-git", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&diff.stdout).unwrap();
    assert_eq!((diff.code, &document["kind"], &document["error"]["kind"]), (1, &"error".into(), &"failure".into()));
    assert!(document["error"]["because"][0].as_str().unwrap().contains("did not start from a commit"), "{document}");
    assert!(document["error"]["hints"][0].is_string(), "{document}");
    assert_eq!(env.run(&["diff", "nobody"]).code, 7);
}

#[test]
fn from_below_the_new_verbs_read_only_the_own_task() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["run", "Stranger"]).code, 0);
    let mut env = env;
    env.set("DEMO_FAULT", "hang@5");
    let own = env.submit("Own", &[]);
    let live = env.live(&own, 2);
    let below = |args: &[&str]| {
        let mut command: Command = env.command(args);
        done(&command.env("LONGHAUL_SESSION", &live.session).output().unwrap())
    };
    for verb in ["report", "plan", "diff", "attach"] {
        assert_eq!(below(&[verb, "stranger"]).code, 7, "{verb}");
    }
    for verb in ["report", "plan"] {
        assert_eq!(below(&[verb, "own"]).code, 0, "{verb}");
    }
    let before = env.events("own");
    let accept = below(&["plan", "own", "--accept"]);
    assert_eq!(accept.code, 8, "{}", accept.stderr);
    assert!(accept.stderr.contains("an agent session may only"), "{}", accept.stderr);
    assert_eq!(env.events("own"), before);
}

/// A repository with one commit, as the world's workspace.
fn repository() -> TestEnv {
    let env = TestEnv::new();
    std::fs::write(env.workspace().join("README.md"), "hello\n").unwrap();
    git(&env, &["init", "--quiet", "-b", "main"]);
    git(&env, &["add", "."]);
    git(&env, &["commit", "--quiet", "-m", "start"]);
    env
}

fn git(env: &TestEnv, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=x", "-c", "user.email=x@localhost"]).args(args).current_dir(env.workspace());
    let done = done(&command.output().unwrap());
    assert_eq!(done.code, 0, "git {args:?}: {}", done.stderr);
    done.stdout
}

#[test]
fn the_work_in_a_worktree_is_shown_and_told() {
    let env = repository();
    let run = env.run(&["run", "In git", "--check", "test -f step-1.md"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let names = env.ok(&["diff", "in-git", "--stat"]);
    assert!(names.contains("added             +5 -0      step-1.md\n"), "{names}");
    assert!(!names.contains(".autonomous"), "our own files are no work: {names}");
    let patch = env.ok(&["diff", "in-git"]);
    assert!(patch.contains("diff --git a/step-1.md b/step-1.md") && !patch.contains('\u{1b}'), "{patch}");
    let raw = env.command(&["diff", "in-git", "--raw"]).output().unwrap().stdout;
    std::fs::write(env.path().join("work.patch"), &raw).unwrap();
    git(&env, &["apply", "--check", "../work.patch"]);
    let (code, shown) = crate::screen::Terminal::run(&env, &["diff", "in-git"]).finish();
    assert!(code == 0 && shown.contains("\u{1b}[32m+"), "colours on a terminal: {shown:?}");
    let (code, shown) = crate::screen::Terminal::run(&env, &["diff", "in-git", "--raw"]).finish();
    assert!(code == 2 && shown.contains("--raw does not print to a terminal"), "{shown}");
    let facts = env.json(&["diff", "in-git"]);
    assert_eq!(facts["files"].as_array().unwrap().len(), 4, "{facts}");
    let report = env.json(&["report", "in-git"]);
    assert_eq!(report["changed_files"]["files"], facts["files"]);
    assert_eq!(report["workspace"]["kind"], "worktree");
    assert!(report["result"]["tree"].is_string(), "{}", report["result"]);
    let show = env.ok(&["show", "in-git"]);
    assert!(show.contains("worktree on branch longhaul/in-git\n"), "{show}");
}

#[test]
fn a_retry_leaves_the_old_worktree_alone() {
    let env = repository();
    assert_eq!(env.run(&["run", "Twice"]).code, 0);
    let place = |name: &str| env.task(name)["workspace"]["root"].as_str().unwrap().to_owned();
    let old = place("twice");
    let before = (crate::sight::listing(std::path::Path::new(&old)), env.ok(&["diff", "twice"]));
    assert_eq!(env.run(&["retry", "twice"]).code, 0);
    assert_ne!(place("twice-2"), old);
    assert_eq!((crate::sight::listing(std::path::Path::new(&old)), env.ok(&["diff", "twice"])), before);
}

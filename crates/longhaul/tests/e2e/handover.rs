//! Tasks are handed to the worker that lives, with the environment of the shell they come from; what becomes of a hand-over when either
//! side dies or does not answer is H1 to H4 of the kill table.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;

use crate::checker;
use crate::env::{TestEnv, wait_for};
use crate::processes::Process;

/// A world with a worker that has a task to stay for: its agent hangs until it is told to stop.
struct Scene {
    env: TestEnv,
    worker: Process,
}

impl Scene {
    fn new(env: TestEnv) -> Scene {
        let mut env = env.var("DEMO_FAULT", "hang").var("DEMO_STEPS", "1");
        // Worktrees, because in a plain directory the next task would wait for this one.
        env.make_repository();
        env.submit("Stay", &["--name", "stay"]);
        env.unset("DEMO_FAULT");
        // An adopter would start the agent with its own environment.
        env.live_session("stay");
        let worker = env.owner("stay").unwrap();
        Scene { env, worker }
    }

    /// One whose worker has these fail points; what is started afterwards has none.
    fn armed(points: &str) -> (Scene, PathBuf) {
        let env = TestEnv::new();
        let fails = env.path().join("fails");
        std::fs::create_dir(&fails).unwrap();
        let directory = fails.display().to_string();
        let mut scene = Scene::new(env.var("LONGHAUL_FAIL_POINTS", points).var("LONGHAUL_FAIL_DIR", &directory));
        scene.env.unset("LONGHAUL_FAIL_POINTS");
        scene.env.unset("LONGHAUL_FAIL_DIR");
        (scene, fails)
    }

    /// Ends the first task and looks at everything once all have left.
    fn conclude(&self) {
        self.env.ok(&["cancel", "stay"]);
        assert_eq!(self.env.settle("stay"), "cancelled");
        self.env.wait_until_empty();
        // What dead workers left is swept by the next one.
        self.env.ok(&["worker", "--only"]);
        checker::assert_clean(&self.env);
    }

    /// The workers that claimed a task, in their order. A task that is done has no owner any more.
    fn claims(&self, task: &str) -> Vec<String> {
        let events = self.env.events(task).into_iter().map(|event| event["event"].clone());
        let claimed = events.filter(|event| event["kind"] == "claimed");
        claimed.map(|event| event["worker"].as_str().unwrap().to_owned()).collect()
    }

    fn submitted(&self, task: &str) -> usize {
        self.env.kinds(task).iter().filter(|kind| *kind == "submitted").count()
    }
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn the_ignore_file_is_that_of_the_shell_a_task_comes_from() {
    let mut scene = Scene::new(TestEnv::new());
    let person = scene.env.path().join("person");
    std::fs::create_dir(&person).unwrap();
    std::fs::write(person.join(".gitconfig"), "[core]\n\texcludesFile = ~/ignore\n").unwrap();
    std::fs::write(person.join("ignore"), "*.ide\n").unwrap();
    scene.env.set("HOME", person.to_str().unwrap());
    scene.env.submit("Do it", &["--name", "t", "--check", "touch x.ide y.txt"]);
    assert_eq!(scene.env.settle("t"), "done");
    assert_eq!(scene.env.evidence("t")[0]["files"]["left"]["first"], serde_json::json!(["y.txt"]));
    scene.conclude();
}

#[test]
fn every_task_of_a_home_has_the_same_worker() {
    let mut scene = Scene::new(TestEnv::new());
    scene.env.set("DEMO_FAULT", "hang");
    for name in ["second", "third"] {
        scene.env.submit("Go there", &["--name", name]);
        assert_eq!(scene.env.owner(name), Some(scene.worker));
    }
    let workers = std::fs::read_dir(scene.env.home().join("workers")).unwrap().flatten();
    let mut kinds: Vec<_> = workers.map(|entry| entry.path().extension().unwrap().to_owned()).collect();
    kinds.sort();
    assert_eq!(kinds, ["lock", "sock"], "one worker, and it listens");
    scene.env.ok(&["pause", "third", "--now"]);
    assert_eq!(scene.env.settle("third"), "paused");
    scene.env.ok(&["resume", "third"]);
    assert_eq!(scene.env.owner("third"), Some(scene.worker), "a task that is resumed is handed over too");
    for name in ["second", "third"] {
        scene.env.ok(&["cancel", name]);
        assert_eq!(scene.env.settle(name), "cancelled");
    }
    scene.conclude();
}

#[test]
fn each_task_has_the_environment_of_its_own_shell_and_none_of_it_is_written() {
    const VALUE: &str = "value-of-the-second-shell";
    let mut scene = Scene::new(TestEnv::new().var("SHELL_NAME", "value-of-the-first-shell"));
    scene.env.set("SHELL_NAME", VALUE);
    // The check does not name the value, which would be in the store then.
    scene.env.submit("Go there", &["--name", "second", "--check", "test ${#SHELL_NAME} = 25"]);
    assert_eq!(scene.env.owner("second"), Some(scene.worker), "the control: the worker is the first shell's");
    assert_eq!(scene.env.settle("second"), "done");
    assert_eq!(VALUE.len(), 25);
    for path in files_below(&scene.env.home()) {
        // A socket or a file that is just going cannot be read.
        let bytes = std::fs::read(&path).unwrap_or_default();
        let found = bytes.windows(VALUE.len()).any(|window| window == VALUE.as_bytes());
        assert!(!found, "{} holds the value of a variable", path.display());
    }
    scene.conclude();
}

#[test]
fn a_secret_of_the_callers_shell_is_masked_by_a_worker_that_does_not_have_it() {
    const SECRET: &str = "correct-horse-battery-staple";
    let mut scene = Scene::new(TestEnv::new());
    scene.env.set("MY_TOKEN", SECRET);
    let done = scene.env.run(&["run", "-d", &format!("Use {SECRET}"), "--name", "second"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("masked"), "{}", done.stderr);
    assert_eq!(scene.env.settle("second"), "done");
    assert_eq!(scene.claims("second"), scene.claims("stay"), "the control: the worker is the first shell's");
    for path in files_below(scene.env.path()).iter().filter(|path| !path.ends_with("ledger.jsonl")) {
        let bytes = std::fs::read(path).unwrap_or_default();
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()), "{}", path.display());
    }
    scene.conclude();
}

#[test]
fn a_home_with_a_long_path_has_one_worker_too() {
    let root = tempfile::tempdir().unwrap();
    let deep = root.path().join("d".repeat(100)).join("e".repeat(100));
    std::fs::create_dir_all(&deep).unwrap();
    let scene = Scene::new(TestEnv::new_in(&deep));
    scene.env.submit("Go there", &["--name", "second", "--after", "stay"]);
    assert_eq!(scene.env.owner("second"), Some(scene.worker));
    scene.env.ok(&["cancel", "second"]);
    scene.conclude();
}

#[test]
fn h1_the_worker_is_killed_before_the_commit() {
    let (scene, fails) = Scene::armed("worker.handover_read");
    let name = scene.env.submit("Go there", &["--name", "second"]);
    assert!(fails.join("worker.handover_read").exists());
    wait_for("the worker to be gone", || (!scene.worker.is_alive()).then_some(()));
    assert_eq!(scene.env.settle(&name), "done");
    assert_eq!(scene.submitted(&name), 1);
    scene.conclude();
}

#[test]
fn h2_the_worker_is_killed_after_the_commit_and_before_its_answer() {
    let (scene, fails) = Scene::armed("worker.handover_committed");
    let name = scene.env.submit("Go there", &["--name", "second"]);
    assert!(fails.join("worker.handover_committed").exists());
    wait_for("the worker to be gone", || (!scene.worker.is_alive()).then_some(()));
    scene.env.ok(&["worker", "--only", "--detach"]);
    assert_eq!(scene.env.settle(&name), "done");
    assert_eq!(scene.submitted(&name), 1);
    scene.conclude();
}

#[test]
fn h3_the_caller_is_killed_after_it_sent_its_line() {
    let scene = Scene::new(TestEnv::new());
    let fails = scene.env.path().join("fails");
    std::fs::create_dir(&fails).unwrap();
    let mut caller = scene.env.command(&["run", "-d", "Go there", "--name", "second"]);
    let killed = caller.env("LONGHAUL_FAIL_POINTS", "handover.sent").env("LONGHAUL_FAIL_DIR", &fails).output().unwrap();
    assert!(fails.join("handover.sent").exists());
    assert!(!killed.status.success() && killed.stdout.is_empty());
    // It was not told anything, so both are right: nothing was made, or the task is carried out, once.
    let name = scene.env.submit("Go there too", &["--name", "third"]);
    assert_eq!(scene.env.settle(&name), "done");
    if scene.env.column("second", "state").is_some() {
        assert_eq!(scene.env.settle("second"), "done");
        assert_eq!(scene.submitted("second"), 1);
    }
    assert_eq!(scene.env.owner("stay"), Some(scene.worker));
    scene.conclude();
}

#[test]
fn h4_a_stopped_worker_is_passed_over_and_does_nothing_twice_when_it_is_continued() {
    let scene = Scene::new(TestEnv::new());
    scene.worker.signal(Signal::SIGSTOP);
    wait_for("the worker to stand still", || scene.worker.is_stopped().then_some(()));
    let name = scene.env.submit("Go there", &["--name", "second"]);
    assert_eq!(scene.env.settle(&name), "done");
    scene.worker.signal(Signal::SIGCONT);
    // Its next hand-over is after the one that waited in its queue.
    let third = scene.env.submit("Go there too", &["--name", "third"]);
    assert_eq!(scene.env.settle(&third), "done");
    assert_eq!((scene.submitted(&name), scene.submitted(&third)), (1, 1));
    let claims = scene.env.kinds(&name).iter().filter(|kind| *kind == "claimed").count();
    assert_eq!(claims, 1, "the stopped worker never had it");
    scene.conclude();
}

#[test]
fn a_worker_of_another_version_is_passed_over_and_told_nothing() {
    let env = TestEnv::new();
    env.ok(&["worker", "--only"]);
    let id = "01900000-0000-7000-8000-000000000000";
    let stranger = UnixListener::bind(env.home().join("workers").join(format!("{id}.sock"))).unwrap();
    let heard = std::thread::spawn(move || {
        let (mut caller, _) = stranger.accept().unwrap();
        caller.write_all(b"{\"version\":\"0.0.0-other\"}\n").unwrap();
        let mut heard = String::new();
        caller.read_to_string(&mut heard).unwrap();
        heard
    });
    let name = env.submit("Go there", &["--name", "t"]);
    assert_eq!(heard.join().unwrap(), "");
    assert_eq!(env.settle(&name), "done");
    env.wait_until_empty();
    env.ok(&["worker", "--only"]);
    checker::assert_clean(&env);
}

#[test]
fn a_worker_that_leaves_while_another_caller_changes_the_task_costs_nothing() {
    let env = TestEnv::new().var("DEMO_STEPS", "1");
    env.submit("Resume me", &["--name", "t", "--hours", "00:00-00:01"]);
    env.ok(&["pause", "--now", "t"]);
    env.wait_until_empty();
    let leaving = UnixListener::bind(env.home().join("workers/01900000-0000-7000-8000-000000000000.sock")).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut caller, _) = leaving.accept().unwrap();
            caller.write_all(format!("{{\"version\":\"{}\"}}\n", env!("CARGO_PKG_VERSION")).as_bytes()).unwrap();
            BufReader::new(&caller).read_line(&mut String::new()).unwrap();
            env.ok(&["tell", "t", "Hurry"]);
        });
        env.ok(&["resume", "t"]);
    });
    assert_eq!(env.kinds("t").iter().filter(|kind| *kind == "resumed").count(), 1);
}

#[test]
fn a_program_that_cannot_keep_the_machine_awake_leaves_no_zombie() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::new().var("LONGHAUL_SESSION_INHIBIT_SLEEP", "true");
    let bin = env.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let (program, ran) = (bin.join("systemd-inhibit"), env.path().join("ran"));
    std::fs::write(&program, format!("#!/bin/sh\necho $$ > '{}'\n", ran.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let scene = Scene::new(env.var("PATH", &path));
    let pid = wait_for("the program to have run", || std::fs::read_to_string(&ran).ok()?.trim().parse::<i32>().ok());
    wait_for("it to be reaped", || Process::now(pid).is_none().then_some(()));
    assert!(scene.worker.is_alive(), "the control: its parent lives");
    scene.conclude();
}

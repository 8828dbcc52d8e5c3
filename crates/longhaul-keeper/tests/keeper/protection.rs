//! What the keeper does for itself: last to go when memory runs out, no core, and no look into its memory; none of it is
//! handed to the agent.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::geteuid;

use crate::scene::{FIXTURE, Scene, output, until, wait};

#[test]
fn the_agent_goes_before_the_keeper_when_memory_runs_out_and_keeps_its_own_core_limit() {
    let scene = Scene::new();
    let mut spec = scene.spec(&[]);
    let script = "cat /proc/self/oom_score_adj; ulimit -c; cat /proc/$PPID/oom_score_adj; \
                  grep 'core file' /proc/$PPID/limits";
    spec.argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    let told = output(&scene.run(&spec).directory);
    let lines: Vec<&str> = told.lines().collect();
    let number = |text: &str| text.trim().parse::<i32>().unwrap();
    let ours = number(&std::fs::read_to_string(Path::new("/proc/self/oom_score_adj")).unwrap());
    assert_eq!(number(lines[0]), (ours + 500).min(1000), "{told}");
    assert!(number(lines[2]) <= ours, "{told}");
    let our_core = std::process::Command::new("sh").args(["-c", "ulimit -c"]).output().unwrap().stdout;
    assert_eq!(lines[1].as_bytes(), our_core.trim_ascii(), "{told}");
    assert_eq!(lines[3].split_whitespace().nth(4), Some("0"), "{told}");
}

/// An ordinary user's number.
const NOBODY: u32 = 65534;

/// The command as an ordinary user: root may look into everything.
fn ordinary(mut command: Command) -> Command {
    if geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Gives the files of a test to an ordinary user.
fn hand_over(paths: &[PathBuf]) {
    if geteuid().is_root() {
        paths.iter().for_each(|path| std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap());
    }
}

fn can_look_into(pid: u32) -> bool {
    let mut command = Command::new("cat");
    command.arg(format!("/proc/{pid}/environ"));
    ordinary(command).output().unwrap().status.success()
}

#[test]
fn nobody_of_the_same_user_looks_into_a_keeper_and_it_is_adopted_all_the_same() {
    let scene = Scene::new();
    let program = scene.path("program");
    std::fs::copy(FIXTURE, &program).unwrap();
    let mut spec = scene.spec(&[]);
    spec.env_set.clear();
    spec.argv = ["sh", "-c", "echo ready; exec sleep 60"].map(str::to_owned).to_vec();
    let directory = scene.prepare(&spec);
    let inside = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path());
    let home = scene.home.path().to_owned();
    hand_over(&inside.chain([home, program.clone(), directory.path().to_owned()]).collect::<Vec<_>>());
    let mut command = Command::new(&program);
    command.arg("keep").arg(directory.path());
    let mut keeper = ordinary(command).spawn().unwrap();
    until("the agent is ready", || output(&directory) == "ready\n");
    let identity = directory.identity().unwrap().unwrap();
    assert!(!can_look_into(identity.keeper.pid));
    assert!(can_look_into(identity.child.pid), "the control: the agent is an ordinary process");

    let mut command = Command::new(&program);
    command.arg("stops").arg(directory.path());
    assert!(ordinary(command).status().unwrap().success(), "its own user finds and stops it");
    assert!(wait(&mut keeper).success());
    assert!(directory.end().unwrap().unwrap().tree_empty);
}

//! Agents that leave processes behind: after the end none is left, whatever they did to get away.

use std::os::unix::process::CommandExt;
use std::process::Command;

use longhaul_keeper::{ExitStatus, Stop, Why, signal_keeper};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::scene::{FIXTURE, Scene, output, until, wait};

const HABITS: [&str; 8] =
    ["plain", "own-group", "setsid", "double-fork", "nohup", "ignores-stop", "stopped", "scrubbed"];

#[test]
fn nothing_survives_an_agent_that_ends_by_itself() {
    for habit in HABITS {
        let scene = Scene::new();
        let ended = scene.run(&scene.spec(&["stray-and-exit", habit, &scene.tag, &scene.text("r"), "4"]));
        assert_eq!(scene.tagged(), [], "{habit}");
        assert_eq!((ended.exit.status, ended.exit.why), (ExitStatus::Code(4), Why::Own), "{habit}");
        let end = ended.end.unwrap();
        assert_eq!((end.killed_leftovers, end.tree_empty), (1, true), "{habit}");
    }
}

#[test]
fn nothing_survives_either_kind_of_stop() {
    for habit in HABITS {
        for (stop, why, number) in [(Stop::Recipe, Why::Terminated, 15), (Stop::Now, Why::EndedNow, 9)] {
            let scene = Scene::new();
            let spec = scene.spec(&["stray", habit, &scene.tag, &scene.text("r")]);
            let (directory, mut keeper, identity) = scene.run_until_ready(&spec);
            assert!(scene.tagged().len() >= 2, "{habit}: agent and stray live");
            signal_keeper(&identity, stop).unwrap();
            assert!(wait(&mut keeper).success(), "{habit}");
            assert_eq!(scene.tagged(), [], "{habit} {stop:?}");
            let exit = directory.exit().unwrap().unwrap();
            assert_eq!((exit.status, exit.why), (ExitStatus::Signal { number, core: false }, why), "{habit}");
            assert!(directory.end().unwrap().unwrap().tree_empty);
        }
    }
}

/// The control: the same habits against a plain kill of the group.
#[test]
fn a_plain_group_kill_leaves_survivors() {
    for habit in ["own-group", "setsid", "double-fork", "scrubbed"] {
        let scene = Scene::new();
        let ready = scene.path("r");
        let mut agent = Command::new(FIXTURE)
            .args(["stray", habit, &scene.tag, ready.to_str().unwrap()])
            .stdout(std::process::Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        until("the stray is there", || ready.exists());
        let group = Pid::from_raw(i32::try_from(agent.id()).unwrap()).unwrap();
        kill_process_group(group, Signal::KILL).unwrap();
        wait(&mut agent);
        // The killed are still listed for a moment; a group kill that reached everyone would leave nobody at all.
        until(&format!("one survivor of {habit}"), || scene.tagged().len() == 1);
    }
}

#[test]
fn a_stopped_agent_still_gets_its_term() {
    let scene = Scene::new();
    let spec = scene.spec(&["linger", "stopped", &scene.tag, &scene.text("r")]);
    let (directory, mut keeper, identity) = scene.run_until_ready(&spec);
    let stat = format!("/proc/{}/stat", identity.child.pid);
    until("the agent has stopped", || std::fs::read_to_string(&stat).unwrap().contains(") T "));
    signal_keeper(&identity, Stop::Recipe).unwrap();
    wait(&mut keeper);
    let exit = directory.exit().unwrap().unwrap();
    assert_eq!((exit.status, exit.why), (ExitStatus::Signal { number: 15, core: false }, Why::Terminated));
}

#[test]
fn closed_output_is_not_the_end() {
    let scene = Scene::new();
    let spec = scene.spec(&["closes-output", &scene.text("go")]);
    let directory = scene.prepare(&spec);
    let mut keeper = scene.keeper(&directory, "");
    until("the agent speaks its last", || output(&directory) == "closing\n");
    let identity = directory.identity().unwrap().unwrap();
    assert!(longhaul_keeper::process::is_alive(&identity.child, &identity.boot).unwrap());
    assert!(directory.exit().unwrap().is_none());
    std::fs::write(scene.path("go"), "").unwrap();
    wait(&mut keeper);
    assert_eq!(directory.exit().unwrap().unwrap().status, ExitStatus::Code(5));
}

#[test]
fn a_grandchild_that_holds_the_output_does_not_hold_the_end() {
    let scene = Scene::new();
    let mut spec = scene.spec(&["holds-output", &scene.tag, &scene.text("r")]);
    spec.drain_ms = 50;
    let ended = scene.run(&spec);
    assert_eq!((ended.exit.status, ended.exit.why), (ExitStatus::Code(0), Why::Own));
    assert_eq!(ended.end.unwrap().killed_leftovers, 1);
    assert!(output(&ended.directory).contains("parent leaves"));
    assert_eq!(scene.tagged(), []);
}

#[test]
fn a_flood_is_kept_to_the_last_byte() {
    let scene = Scene::new();
    let bytes = 20 << 20;
    let ended = scene.run(&scene.spec(&["flood", &bytes.to_string()]));
    let end = ended.end.unwrap();
    assert_eq!((end.out_len, end.gap_bytes), (bytes, 0));
    assert_eq!(ended.directory.out_log().metadata().unwrap().len(), bytes);
}

#[test]
fn a_log_that_can_not_grow_never_stops_the_agent() {
    let scene = Scene::new();
    let directory = scene.prepare(&scene.spec(&["flood", &(1 << 20).to_string()]));
    // 64 KiB and no byte more for any file: enough for the records, too little for the log.
    let line = format!("ulimit -f 64; exec {FIXTURE} keep {}", directory.path().display());
    assert!(Command::new("bash").args(["-c", &line]).status().unwrap().success());
    assert_eq!(directory.exit().unwrap().unwrap().status, ExitStatus::Code(0));
    let end = directory.end().unwrap().unwrap();
    assert_eq!((end.out_len, end.out_len + end.gap_bytes), (64 << 10, 1 << 20));
    assert!(end.log_error.is_some());
}

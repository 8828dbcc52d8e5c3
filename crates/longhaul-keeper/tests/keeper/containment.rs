//! Agents that leave processes behind: after the end none is left, whatever they did to get away.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use longhaul_keeper::process::{Process, is_alive};
use longhaul_keeper::{
    Containment, ExitStatus, Identity, SessionDir, SessionStatus, Stop, Stream, Why, end_strays, signal_keeper,
};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::scene::{FIXTURE, Scene, containments, inspect_when_free, kill, mint, output, until, wait};

/// Every way to get away that we know of.
const HABITS: [&str; 13] = [
    "plain",
    "own-group",
    "setsid",
    "double-fork",
    "nohup",
    "ignores-stop",
    "stopped",
    "scrubbed",
    "zombie-parent",
    "thread-storm",
    "fork-loop",
    "closed-stdio",
    "under-subreaper",
];

#[test]
fn nothing_survives_an_agent_that_ends_by_itself() {
    for (how, habit) in containments().into_iter().flat_map(|how| HABITS.map(|habit| (how, habit))) {
        let scene = Scene::held_by(how);
        let ended = scene.run(&scene.spec(&["stray-and-exit", habit, &scene.tag, &scene.text("r"), "4"]));
        assert_eq!(scene.tagged(), [], "{habit} {how:?}");
        assert_eq!((ended.exit.status, ended.exit.why), (ExitStatus::Code(4), Why::Own), "{habit}");
        let end = ended.end.unwrap();
        assert_eq!((end.tree_empty, end.containment), (true, how), "{habit}");
        let several = ["fork-loop", "closed-stdio", "under-subreaper"].contains(&habit);
        assert!(if several { end.killed_leftovers >= 1 } else { end.killed_leftovers == 1 }, "{habit}: {end:?}");
        assert_no_group_is_left(&ended.directory);
    }
}

/// While a process starts a program, the kernel shows no environment of it: nobody can tell then whether it carries the marker.
#[test]
fn a_process_that_starts_programs_all_the_time_is_found_by_its_marker() {
    for round in 0..100 {
        let session = mint();
        let script = "exec sh -c \"$0\" \"$0\"";
        let mut restless = Command::new("sh")
            .args(["-c", script, script])
            .env("LONGHAUL_SESSION", session.to_string())
            .spawn()
            .unwrap();
        let swept = end_strays(session).unwrap();
        assert!(restless.try_wait().unwrap().is_some(), "round {round}: it lives, and {swept:?} was the answer");
    }
}

#[test]
fn nothing_survives_either_kind_of_stop() {
    for (how, habit) in containments().into_iter().flat_map(|how| HABITS.map(|habit| (how, habit))) {
        for (stop, why, number) in [(Stop::Graceful, Why::Terminated, 15), (Stop::Immediate, Why::EndedNow, 9)] {
            let scene = Scene::held_by(how);
            let spec = scene.spec(&["stray", habit, &scene.tag, &scene.text("r")]);
            let (directory, mut keeper, identity) = scene.run_until_ready(&spec);
            until(&format!("agent and stray live: {habit}"), || scene.tagged().len() >= 2);
            signal_keeper(&identity, stop).unwrap();
            assert!(wait(&mut keeper).success(), "{habit}");
            assert_eq!(scene.tagged(), [], "{habit} {stop:?} {how:?}");
            let exit = directory.exit().unwrap().unwrap();
            assert_eq!((exit.status, exit.why), (ExitStatus::Signal { number, core: false }, why), "{habit}");
            assert!(directory.end().unwrap().unwrap().tree_empty);
            assert_no_group_is_left(&directory);
        }
    }
}

/// After the keeper's own death a daemon that has scrubbed its environment is nobody's child: only a group still holds it.
#[test]
fn a_scrubbed_daemon_of_a_killed_keeper_dies_only_with_a_group() {
    for how in containments() {
        let scene = Scene::held_by(how);
        let spec = scene.spec(&["stray", "scrubbed", &scene.tag, &scene.text("r")]);
        let (directory, mut keeper, identity) = scene.run_until_ready(&spec);
        assert_eq!(identity.cgroup.is_some(), how == Containment::Cgroup);
        // Only there where the controller is handed down.
        let most = identity.cgroup.as_ref().and_then(|group| std::fs::read_to_string(group.join("pids.max")).ok());
        assert!(most.is_none_or(|most| most.trim() == spec.caps.pids_max.to_string()));
        kill(&identity.keeper);
        wait(&mut keeper);
        let SessionStatus::Lost { identity, guard } = inspect_when_free(&directory) else { panic!("not lost") };
        assert_eq!(guard.end_tree(Some(&identity)).unwrap().left, 0);
        until("the killed have vanished", || scene.tagged().len() <= 1);
        let survivors = if how == Containment::Cgroup { 0 } else { 1 };
        until(&format!("{survivors} survive with {how:?}"), || scene.tagged().len() == survivors);
        assert_no_group_is_left(&directory);
    }
}

/// A group named after the session, but with others in it, is not ended on the word of a damaged record.
#[test]
fn only_the_sessions_own_group_is_ended() {
    let scene = Scene::new();
    let spec = scene.spec(&["linger", "plain", &scene.tag, &scene.text("r")]);
    let (_directory, mut keeper, identity) = scene.run_until_ready(&spec);
    let other = scene.prepare(&scene.spec(&["exit", "0"]));
    let lying = Identity { session: other.session(), child: identity.keeper, ..identity.clone() };
    let lying = Identity { child: Process { start: lying.child.start - 1, ..lying.child }, ..lying };
    std::fs::write(other.path().join("identity"), serde_json::to_vec(&lying).unwrap()).unwrap();
    let SessionStatus::Lost { identity: read, guard } = inspect_when_free(&other) else { panic!("not lost") };
    assert_eq!(guard.end_tree(Some(&read)).unwrap().killed, 0);
    assert!(is_alive(&identity.child, &identity.boot).unwrap());
    signal_keeper(&identity, Stop::Immediate).unwrap();
    wait(&mut keeper);
}

#[test]
fn a_group_nobody_came_back_for_is_taken_away_by_the_next_adopter() {
    if containments() == [Containment::Walk] {
        return;
    }
    let scene = Scene::new();
    let spec = scene.spec(&["linger", "plain", &scene.tag, &scene.text("r")]);
    let (directory, mut keeper, identity) = scene.run_until_ready(&spec);
    let beside = |session| identity.cgroup.as_ref().unwrap().with_file_name(format!("longhaul-{session}"));
    let [forgotten, fresh] = [beside(mint()), beside(mint())];
    [&forgotten, &fresh].into_iter().for_each(|path| std::fs::create_dir(path).unwrap());
    let long_ago = SystemTime::now() - Duration::from_secs(7200);
    std::fs::File::open(&forgotten).unwrap().set_modified(long_ago).unwrap();
    kill(&identity.keeper);
    wait(&mut keeper);
    let SessionStatus::Lost { identity, guard } = inspect_when_free(&directory) else { panic!("not lost") };
    guard.end_tree(Some(&identity)).unwrap();
    let left = [&forgotten, &fresh].map(|path| path.exists());
    std::fs::remove_dir(&fresh).unwrap();
    assert_eq!(left, [false, true]);
}

/// Looks in every place where a group could have been made.
fn assert_no_group_is_left(directory: &SessionDir) {
    let name = format!("longhaul-{}", directory.session());
    let recorded = directory.identity().unwrap().and_then(|identity| identity.cgroup);
    for path in recorded.into_iter().chain([Path::new("/sys/fs/cgroup").join(&name)]) {
        assert!(!path.exists(), "{}", path.display());
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
    signal_keeper(&identity, Stop::Graceful).unwrap();
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
    assert_eq!(ended.directory.segments(Stream::Out).unwrap(), [0, 1]);
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

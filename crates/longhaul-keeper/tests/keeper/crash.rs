//! The keeper is killed at every point that matters; afterwards no agent runs, none ran twice, and no end is invented.

use longhaul_keeper::{ExitStatus, LEFT_ALONE, SessionStatus, Why, inspect_session};

use crate::scene::{Scene, inspect_when_free, kill, until, wait};

#[derive(Debug, PartialEq)]
enum Outcome {
    NeverStarted,
    Lost,
    EndedUnclean,
    EndedClean,
}

/// Kills the keeper at one point, ends what it left, and tells what was found.
fn kill_at(point: &str, scene: &Scene) -> Outcome {
    // One that has printed and still lives, so that its end can not be waited for before its output is read.
    let living = ["stray", "setsid", &scene.tag, &scene.text("r")];
    let ending = ["stray-and-exit", "setsid", &scene.tag, &scene.text("r"), "7"];
    let spec = scene.spec(if point == "keeper.output" { &living[..] } else { &ending });
    let directory = scene.prepare(&spec);
    let mut keeper = scene.keeper(&directory, point);
    let status = wait(&mut keeper);
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "{point}: {status}");
    let outcome = match inspect_when_free(&directory) {
        SessionStatus::Alive(_) | SessionStatus::Unreadable { .. } => {
            unreachable!("looked until free, and nothing was damaged")
        }
        SessionStatus::NeverStarted(guard) => {
            assert_eq!(guard.end_tree(None).unwrap().left, 0);
            Outcome::NeverStarted
        }
        SessionStatus::Lost { identity, guard } => {
            // Nobody may interfere while the lock is held.
            assert!(matches!(inspect_session(&directory).unwrap(), SessionStatus::Alive(_)));
            assert_eq!(guard.end_tree(Some(&identity)).unwrap().left, 0);
            Outcome::Lost
        }
        SessionStatus::Ended { exit, end, identity, guard } => {
            assert_eq!((exit.status, exit.why), (ExitStatus::Code(7), Why::Own));
            if point == "keeper.exited" {
                assert_eq!(scene.tagged().len(), 1, "the control: a dead keeper did leave the stray");
            }
            assert_eq!(guard.end_tree(identity.as_ref()).unwrap().left, 0);
            if end.is_some() { Outcome::EndedClean } else { Outcome::EndedUnclean }
        }
    };
    assert_eq!(scene.tagged(), [], "{point}");
    let group = format!("longhaul-{}", directory.session());
    for place in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] {
        assert!(!std::path::Path::new(place).join(&group).exists(), "{point}: {group} in {place}");
    }
    let executed = scene.executions();
    let mut second = scene.keeper(&directory, "");
    assert_eq!(wait(&mut second).code(), Some(i32::from(LEFT_ALONE)), "{point}");
    assert_eq!((scene.executions(), executed <= 1), (executed, true), "{point}");
    outcome
}

#[test]
fn a_keeper_killed_anywhere_leaves_no_agent_and_no_lie() {
    for (point, outcome, executed) in [
        ("keeper.locked", Outcome::NeverStarted, 0..=0),
        ("keeper.grouped", Outcome::NeverStarted, 0..=0),
        ("keeper.forked", Outcome::NeverStarted, 0..=0),
        ("keeper.identified", Outcome::Lost, 0..=0),
        ("keeper.released", Outcome::Lost, 0..=1),
        ("keeper.output", Outcome::Lost, 1..=1),
        ("keeper.waited", Outcome::Lost, 1..=1),
        ("keeper.exited", Outcome::EndedUnclean, 1..=1),
        ("keeper.swept", Outcome::EndedUnclean, 1..=1),
        ("keeper.ended", Outcome::EndedClean, 1..=1),
    ] {
        let scene = Scene::new();
        assert_eq!(kill_at(point, &scene), outcome, "{point}");
        assert!(executed.contains(&scene.executions()), "{point}: {} executions", scene.executions());
    }
}

#[test]
fn a_paused_keeper_is_alive_and_undecided() {
    let scene = Scene::new();
    let directory = scene.prepare(&scene.spec(&["exit", "0"]));
    let mut keeper = scene.keeper(&directory, "keeper.locked=pause");
    until("the keeper has the lock", || scene.path("points/keeper.locked").exists());
    let SessionStatus::Alive(live) = inspect_session(&directory).unwrap() else { panic!("the lock is held") };
    assert!(live.identity.is_none() && live.pidfd().unwrap().is_none());
    std::fs::write(scene.path("points/keeper.locked.go"), "").unwrap();
    assert!(wait(&mut keeper).success());
}

#[test]
fn a_revoked_session_is_never_run() {
    let scene = Scene::new();
    let directory = scene.prepare(&scene.spec(&["exit", "0"]));
    assert!(matches!(inspect_session(&directory).unwrap(), SessionStatus::NeverStarted(_)));
    assert_eq!(wait(&mut scene.keeper(&directory, "")).code(), Some(i32::from(LEFT_ALONE)));
    assert!(matches!(inspect_session(&directory).unwrap(), SessionStatus::NeverStarted(_)));
    assert_eq!(scene.executions(), 0);
}

#[test]
fn a_keeper_that_waits_for_the_lock_loses_to_the_adopter() {
    let scene = Scene::new();
    let directory = scene.prepare(&scene.spec(&["exit", "0"]));
    let SessionStatus::NeverStarted(guard) = inspect_session(&directory).unwrap() else {
        panic!("nothing had started")
    };
    let mut keeper = scene.keeper(&directory, "");
    drop(guard);
    assert_eq!(wait(&mut keeper).code(), Some(i32::from(LEFT_ALONE)));
    assert_eq!(scene.executions(), 0);
}

#[test]
fn the_tree_of_a_killed_keeper_is_found_whole() {
    for habit in ["plain", "own-group", "setsid", "double-fork", "stopped"] {
        let scene = Scene::new();
        let spec = scene.spec(&["stray", habit, &scene.tag, &scene.text("r")]);
        let (directory, mut keeper, identity) = scene.run_until_ready(&spec);
        kill(&identity.keeper);
        wait(&mut keeper);
        assert!(scene.tagged().len() >= 2, "the control: agent and stray live on");
        let SessionStatus::Lost { identity, guard } = inspect_when_free(&directory) else {
            panic!("{habit}: not lost")
        };
        let swept = guard.end_tree(Some(&identity)).unwrap();
        assert_eq!((swept.killed >= 2, swept.left), (true, 0), "{habit}: {swept:?}");
        assert_eq!(scene.tagged(), [], "{habit}");
    }
}

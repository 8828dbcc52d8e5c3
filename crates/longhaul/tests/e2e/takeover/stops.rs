//! A session that does not stop: the person is told, and the task is not lost.

use nix::sys::signal::Signal;

use super::World;
use crate::env::wait_for;
use crate::sight::send;

#[test]
fn a_worker_that_does_not_answer_is_named_and_what_follows_is_a_pause() {
    let world = World::new();
    let (name, _) = world.working("Deaf");
    let worker = world.env.worker_pid(&name);
    send(worker, Signal::SIGSTOP);
    let shown = world.take_over(&name).finish();
    assert!(shown.contains("shell: 124") && shown.contains(&format!("worker {worker} is stopped")), "{shown}");
    assert_eq!(world.env.column(&name, "state").as_deref(), Some("stopping"));
    send(worker, Signal::SIGCONT);
    becomes_paused(&world, &name);
}

#[test]
fn ctrl_c_while_the_session_is_being_stopped_is_a_pause() {
    let world = World::new();
    let (name, _) = world.working("Patient");
    let worker = world.env.worker_pid(&name);
    send(worker, Signal::SIGSTOP);
    let mut shell = world.take_over(&name);
    shell.shows("stopping the session");
    shell.press(b"\x03");
    let shown = shell.finish();
    assert!(shown.contains("shell: 130") && shown.contains("pauses once its session has ended"), "{shown}");
    send(worker, Signal::SIGCONT);
    becomes_paused(&world, &name);
}

#[test]
fn ctrl_c_is_a_pause_from_the_moment_the_takeover_is_asked_for() {
    let mut world = World::new();
    let (name, _) = world.working("Hasty");
    let worker = world.env.worker_pid(&name);
    send(worker, Signal::SIGSTOP);
    let points = world.env.path().join("points");
    std::fs::create_dir(&points).unwrap();
    world.env.set("LONGHAUL_FAIL_DIR", &points.display().to_string());
    world.env.set("LONGHAUL_FAIL_POINTS", "takeover.asked=pause");
    let mut shell = world.take_over(&name);
    wait_for("the takeover to be asked for", || points.join("takeover.asked").exists().then_some(()));
    shell.press(b"\x03");
    shell.shows("^C");
    std::fs::write(points.join("takeover.asked.go"), "").unwrap();
    let shown = shell.finish();
    assert!(shown.contains("shell: 130") && shown.contains("pauses once its session has ended"), "{shown}");
    send(worker, Signal::SIGCONT);
    becomes_paused(&world, &name);
}

/// By the worker that stops the session: no verb looks until then.
#[track_caller]
fn becomes_paused(world: &World, name: &str) {
    wait_for("the pause", || (world.env.column(name, "state").as_deref() == Some("paused")).then_some(()));
    let kinds = world.env.kinds(name);
    assert!(!kinds.iter().any(|kind| kind == "held" || kind == "released"), "nobody was in it: {kinds:?}");
    assert!(world.holds().is_empty());
    assert_eq!(world.lines("launches").iter().filter(|line| line.starts_with("interface")).count(), 0);
}

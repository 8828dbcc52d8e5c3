//! A session that does not stop: the person is told, and the task is not lost.

use nix::sys::signal::Signal;

use super::World;
use crate::sight::send;

#[test]
fn a_worker_that_does_not_answer_is_named_and_what_follows_is_a_pause() {
    let world = World::new();
    let (name, _) = world.working("Deaf");
    let worker = world.env.worker_pid(&name);
    send(worker, Signal::SIGSTOP);
    let shown = world.take_over(&name).finish();
    assert!(shown.contains("shell: 124") && shown.contains(&format!("worker {worker} is stopped")), "{shown}");
    assert_eq!(world.env.state(&name), "stopping");
    send(worker, Signal::SIGCONT);
    world.env.reach(&name, "paused");
    assert_eq!(world.releases(&name), ["gone"]);
    assert_eq!(world.lines("launches").iter().filter(|line| line.starts_with("interface")).count(), 0);
}

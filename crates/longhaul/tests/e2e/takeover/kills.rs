//! kill -9 of the takeover at every point, of both, and of neither. Test names begin with the row of ARCHITECTURE.md.

use nix::sys::signal::Signal;

use super::World;
use crate::env::wait_for;
use crate::screen::Shell;
use crate::sight::{alive, gone, kill_9, send};

/// A takeover that dies at a point.
fn dies_at(point: &str, world: &mut World, name: &str) -> Shell {
    let points = world.env.path().join("points");
    std::fs::create_dir(&points).unwrap();
    world.env.set("LONGHAUL_FAIL_POINTS", point);
    world.env.set("LONGHAUL_FAIL_DIR", &points.display().to_string());
    let shell = world.take_over(name);
    shell.shows("shell: 137");
    assert!(points.join(point).exists());
    world.env.unset("LONGHAUL_FAIL_POINTS");
    shell
}

/// Proves that a worker went round: it did something else meanwhile.
fn worker_goes_round(world: &World, goal: &str) {
    let elsewhere = world.env.path().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let other = world.env.submit(goal, &["--agent", "demo", "--workspace", elsewhere.to_str().unwrap()]);
    assert_eq!(world.env.settle(&other), "done");
}

#[test]
fn t1_with_the_hold_and_nothing_committed() {
    let mut world = World::new();
    let name = world.paused("Early");
    let before = world.env.events(&name);
    dies_at("takeover.locked", &mut world, &name).finish();
    assert_eq!(world.env.events(&name), before);
    let mut shell = world.taken_over(&name);
    shell.press(b"bye\n");
    shell.shows("[y/N]");
    shell.press(b"n\n");
    shell.finish();
    assert!(world.holds().is_empty());
}

#[test]
fn t1_the_file_that_is_left_is_taken_away_by_a_worker() {
    let mut world = World::new();
    let name = world.paused("Left over");
    // A worker that leaves looks at the holds for the last time.
    world.env.wait_until_empty();
    dies_at("takeover.locked", &mut world, &name).finish();
    assert_eq!(world.holds().len(), 1, "the control");
    let mut worker = world.env.start(&["worker", "--stay"]);
    wait_for("the file to be gone", || world.holds().is_empty().then_some(()));
    worker.kill().unwrap();
    worker.wait().unwrap();
    assert_eq!(world.env.state(&name), "paused");
}

#[test]
fn t2_while_the_session_is_being_stopped() {
    let mut world = World::new();
    let (name, agent) = world.working("Stopping");
    dies_at("takeover.asked", &mut world, &name).finish();
    gone(agent);
    wait_for("its worker to give it back", || is(&world, &name, "paused"));
    assert_eq!(world.releases(&name), ["gone"]);
    assert_eq!(world.released_by(&name), ["worker"]);
    assert_eq!(world.sessions(&name), 2);
    assert!(world.holds().is_empty());
    world.assert_clean();
}

/// The state as it is stored.
fn is(world: &World, name: &str, state: &str) -> Option<()> {
    (world.env.column(name, "state").as_deref() == Some(state)).then_some(())
}

/// The file is taken away while the session is still being stopped, so that the task is held later without one.
#[test]
fn t2_a_worker_that_stays_gives_back_what_is_held_without_a_file() {
    let mut world = World::new();
    let (name, agent) = world.working("Slow");
    let owner = world.env.worker_pid(&name);
    send(owner, Signal::SIGSTOP);
    dies_at("takeover.asked", &mut world, &name).finish();
    assert_eq!((is(&world, &name, "stopping"), world.holds().len()), (Some(()), 1), "the control");
    let mut worker = world.env.start(&["worker", "--stay"]);
    wait_for("the file to be gone", || world.holds().is_empty().then_some(()));
    assert_eq!(is(&world, &name, "stopping"), Some(()));
    kill_9(owner);
    gone(agent);
    wait_for("the worker to give it back", || is(&world, &name, "paused"));
    worker.kill().unwrap();
    worker.wait().unwrap();
    assert_eq!((world.releases(&name).len(), world.released_by(&name)), (1, vec!["worker".to_owned()]));
    assert_eq!(world.sessions(&name), 2);
    // Takes away the locks of those that were killed.
    world.env.ok(&["worker", "--only"]);
    world.assert_clean();
}

#[test]
fn t3_held_and_no_program_started() {
    let mut world = World::new();
    let name = world.paused("Held");
    world.env.wait_until_empty();
    dies_at("takeover.held", &mut world, &name).finish();
    assert_eq!(is(&world, &name, "held"), Some(()));
    released(&world, &name);
    assert_eq!(world.releases(&name), ["gone"]);
    world.assert_clean();
}

/// A verb that changes the task gives it back first.
fn released(world: &World, name: &str) {
    world.env.ok(&["tell", name, "Continue"]);
    assert_eq!(is(world, name, "paused"), Some(()));
}

#[test]
fn t3_reading_shows_who_left_and_commits_nothing() {
    let mut world = World::new();
    let name = world.paused("Read");
    world.env.wait_until_empty();
    dies_at("takeover.held", &mut world, &name).finish();
    let before = (world.env.column(&name, "version"), world.env.events(&name), world.holds());
    for verb in ["list", "show", "why"] {
        let args: &[&str] = if verb == "list" { &["list"] } else { &[verb, &name] };
        let shown = world.env.ok(args);
        assert!(shown.contains("has left") && (verb == "list" || shown.contains("longhaul resume read")), "{shown}");
        world.env.json(args);
    }
    for verb in ["events", "plan", "logs", "report"] {
        world.env.ok(&[verb, &name]);
    }
    assert_eq!(world.env.json(&["list"])["tasks"][0]["state"], "held");
    assert_eq!((world.env.column(&name, "version"), world.env.events(&name), world.holds()), before);
    released(&world, &name);
    world.assert_clean();
}

#[test]
fn t4_the_program_lives_on_and_nobody_else_works_meanwhile() {
    let world = World::new();
    let name = world.paused("Orphan");
    let mut worker = world.env.start(&["worker", "--stay"]);
    let mut shell = world.taken_over(&name);
    let (takeover, program) = world.pids();
    kill_9(takeover);
    shell.shows("shell: 137");
    worker_goes_round(&world, "Something else");
    assert!(alive(program));
    assert_eq!(world.env.state(&name), "held");
    for verb in ["resume", "pause"] {
        assert_eq!(world.env.run(&[verb, &name]).code, 8, "{verb}");
    }
    let refused = Shell::run(&world.env, &["takeover", &name]).finish();
    assert!(refused.contains("shell: 8"), "{refused}");
    assert_eq!((world.sessions(&name), world.releases(&name).len()), (1, 0));
    shell.press(b"bye\n");
    gone(program);
    wait_for("the worker to see it", || (world.env.column(&name, "state").as_deref() == Some("paused")).then_some(()));
    assert_eq!(world.releases(&name), ["gone"]);
    wait_for("the file to be gone", || world.holds().is_empty().then_some(()));
    worker_goes_round(&world, "Something more");
    assert_eq!((world.env.state(&name).as_str(), world.sessions(&name)), ("paused", 1), "a pause, and no work");
    worker.kill().unwrap();
    worker.wait().unwrap();
    shell.finish();
    world.env.ok(&["resume", &name]);
    assert_eq!(world.env.settle(&name), "done");
    world.assert_clean();
}

#[test]
fn t4_without_a_worker_the_next_verb_that_changes_it_gives_it_back() {
    let world = World::new();
    let name = world.paused("Nobody");
    world.env.wait_until_empty();
    for args in [&["tell", &name, "Continue"][..], &["edit", &name, "--priority", "1"], &["resume", &name]] {
        let mut shell = world.taken_over(&name);
        let (takeover, program) = world.pids();
        kill_9(takeover);
        assert_eq!(world.env.column(&name, "state").as_deref(), Some("held"));
        shell.press(b"bye\n");
        gone(program);
        assert_eq!(world.env.state(&name), "held", "{args:?}: reading gives nothing back");
        world.env.ok(args);
        assert_ne!(world.env.column(&name, "state").as_deref(), Some("held"), "{args:?}");
        shell.finish();
    }
    assert_eq!(world.releases(&name), ["gone"; 3]);
    assert_eq!(world.env.settle(&name), "done", "the last verb was a resume");
}

/// A takeover that was killed after its program had done something, with the program.
fn orphaned(world: &World, name: &str, keys: &[u8], shown: &str) -> (Shell, i32) {
    let mut shell = world.taken_over(name);
    let (takeover, program) = world.pids();
    shell.press(keys);
    shell.shows(shown);
    kill_9(takeover);
    (shell, program)
}

fn held_until_it_ends(world: &World, name: &str, mut shell: Shell, program: i32) {
    assert_eq!(world.env.state(name), "held");
    assert_eq!(world.env.run(&["resume", name]).code, 8);
    shell.press(b"bye\n");
    gone(program);
    released(world, name);
    shell.finish();
}

/// A free lock proves nothing: the program closes what is strange to it.
#[test]
fn t4_a_program_that_closed_the_hold_is_known_by_its_marker() {
    let world = World::new();
    let name = world.paused("Closed");
    let (shell, program) = orphaned(&world, &name, b"hidden\n", "closed");
    let lock = world.env.home().join("holds").join(&world.holds()[0]);
    assert!(crate::processes::is_free(&lock), "the control");
    held_until_it_ends(&world, &name, shell, program);
}

/// Nor does a missing marker: the program's environment is its own affair.
#[test]
fn t4_a_program_that_scrubbed_its_environment_is_known_by_the_hold() {
    let world = World::new();
    let name = world.paused("Scrubbed");
    let (shell, program) = orphaned(&world, &name, b"scrub\n", "scrubbed");
    let marker = format!("LONGHAUL_SESSION={}", world.env.task(&name)["id"].as_str().unwrap());
    assert!(crate::env::processes_with(&marker).is_empty(), "the control");
    held_until_it_ends(&world, &name, shell, program);
}

#[test]
fn t5_the_program_has_ended_and_left_something_with_the_marker() {
    let world = World::new();
    let name = world.paused("Daemon");
    let (mut shell, program) = orphaned(&world, &name, b"leave\n", "left");
    shell.press(b"bye\n");
    gone(program);
    let mut worker = world.env.start(&["worker", "--stay"]);
    worker_goes_round(&world, "Meanwhile");
    assert_eq!((world.env.state(&name).as_str(), world.sessions(&name)), ("held", 1));
    let shown = world.env.ok(&["show", &name]);
    assert!(shown.contains(&format!("process {}", world.left())), "{shown}");
    kill_9(world.left());
    world.env.reach(&name, "paused");
    worker.kill().unwrap();
    worker.wait().unwrap();
    assert_eq!(world.releases(&name), ["gone"]);
    shell.finish();
}

#[test]
fn t6_the_program_was_waited_for_and_the_task_not_given_back() {
    let mut world = World::new();
    let name = world.paused("Almost");
    let points = world.env.path().join("points");
    std::fs::create_dir(&points).unwrap();
    world.env.set("LONGHAUL_FAIL_DIR", &points.display().to_string());
    for (point, how) in [("takeover.ended", "gone"), ("takeover.released", "ended")] {
        world.env.set("LONGHAUL_FAIL_POINTS", point);
        let mut shell = world.taken_over(&name);
        shell.press(b"bye\n");
        shell.shows("shell: 137");
        shell.finish();
        released(&world, &name);
        assert_eq!(world.releases(&name).last().unwrap(), how, "{point}");
    }
    world.assert_clean();
}

#[test]
fn t7_everything_and_the_terminal_is_gone() {
    let world = World::new();
    let name = world.paused("Power");
    let shell = world.taken_over(&name);
    let (takeover, program) = world.pids();
    kill_9(takeover);
    kill_9(program);
    released(&world, &name);
    assert_eq!(world.releases(&name), ["gone"]);
    shell.finish();
    world.assert_clean();
}

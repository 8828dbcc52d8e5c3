//! Whose the terminal is: keys go to the program, it can be stopped and continued, and afterwards the terminal is as it was.

use super::World;
use crate::env::wait_for;
use crate::processes::Process;

#[test]
fn ctrl_c_is_for_the_program() {
    let world = World::new();
    let name = world.paused("Interrupt it");
    let mut shell = world.taken_over(&name);
    for _ in 0..2 {
        shell.press(b"\x03");
    }
    shell.shows("interrupted");
    assert_eq!(world.env.state(&name), "held");
    shell.press(b"bye\n");
    shell.shows("[y/N]");
    assert_eq!(world.env.state(&name), "paused");
    // Now it is for the question.
    shell.press(b"\x03");
    assert!(shell.finish().contains("shell: 0"));
    assert_eq!(world.env.state(&name), "paused");
}

#[test]
fn a_program_that_stops_gives_the_shell_its_terminal() {
    let world = World::new();
    let name = world.paused("Stop it");
    let mut shell = crate::screen::Shell::with_job_control(&world.env, &["takeover", &name]);
    shell.shows("interface of ");
    wait_for("the interface", || world.file("pids").exists().then_some(()));
    let both = || [world.pids().0, world.pids().1].map(|pid| Process::now(pid).unwrap());
    // By itself alone, and then by the terminal's key.
    for (keys, number) in [(&b"stop\n"[..], 1), (&b"\x1a"[..], 2)] {
        shell.press(keys);
        shell.shows(&format!("stopped {number}"));
        wait_for("both to stand still", || both().iter().all(|process| process.is_stopped()).then_some(()));
        assert_eq!(world.env.state(&name), "held");
        shell.release();
        wait_for("both to go on", || both().iter().all(|process| !process.is_stopped()).then_some(()));
    }
    shell.press(b"bye\n");
    shell.shows("[y/N]");
    shell.press(b"n\n");
    shell.shows("stopped 3");
    shell.release();
    shell.finish();
    assert_eq!(world.env.state(&name), "paused");
}

#[test]
fn the_terminal_is_as_it_was() {
    let world = World::new();
    let name = world.paused("Raw");
    let mut shell = world.taken_over(&name);
    assert!(shell.is_cooked());
    shell.press(b"raw\n");
    wait_for("the raw terminal", || (!shell.is_cooked()).then_some(()));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(world.pids().1), nix::sys::signal::Signal::SIGKILL).unwrap();
    shell.shows("pi ended by signal 9");
    shell.shows("[y/N]");
    assert!(shell.is_cooked());
    shell.press(b"n\n");
    assert!(shell.finish().contains("shell: 0"));
}

//! Stops: by recipe, by override, by silence and by wall time, each told apart in the exit record.

use std::time::Instant;

use longhaul_keeper::{Delivery, ExitStatus, Stop, StopSignal, StopStep, Why, signal_keeper};

use crate::scene::{Scene, wait};

#[test]
fn silence_and_wall_stop_an_agent_and_say_so() {
    let scene = Scene::new();
    let mut silent = scene.spec(&["linger", "plain", &scene.tag, &scene.text("r")]);
    silent.silence_ms = Some(150);
    let ended = scene.run(&silent);
    assert_eq!((ended.exit.status, ended.exit.why), (ExitStatus::Signal { number: 15, core: false }, Why::Silence));

    let mut endless = scene.spec(&["linger", "plain", &scene.tag, &scene.text("r")]);
    endless.wall_ms = Some(150);
    let ended = scene.run(&endless);
    assert_eq!((ended.exit.status, ended.exit.why), (ExitStatus::Signal { number: 15, core: false }, Why::Wall));
}

/// The control for silence: output of any kind starts the time anew.
#[test]
fn an_agent_that_speaks_is_not_silent() {
    let scene = Scene::new();
    let mut spec = scene.spec(&["ticks", "20"]);
    spec.silence_ms = Some(1000);
    let begun = Instant::now();
    let ended = scene.run(&spec);
    assert!(begun.elapsed().as_millis() > 1000, "it ran for longer than the silence allowed");
    assert_eq!((ended.exit.status, ended.exit.why), (ExitStatus::Code(0), Why::Own));
}

/// What works without a word is spared where that is asked for, also when a child does the work; what only waits is not.
#[test]
fn a_busy_tree_can_be_spared_for_its_silence() {
    let scene = Scene::new();
    let why = |words: &[&str]| {
        let mut spec = scene.spec(words);
        (spec.silence_ms, spec.spare_busy, spec.wall_ms) = (Some(300), true, Some(2000));
        scene.run(&spec).exit.why
    };
    assert_eq!(why(&["spins"]), Why::Wall);
    assert_eq!(why(&["spins-below"]), Why::Wall);
    assert_eq!(why(&["linger", "plain", &scene.tag, &scene.text("r")]), Why::Silence);
}

#[test]
fn a_recipe_that_is_ignored_ends_in_a_kill() {
    let scene = Scene::new();
    let mut spec = scene.spec(&["linger", "ignores-stop", &scene.tag, &scene.text("r")]);
    spec.stop = [StopSignal::Interrupt, StopSignal::HangUp, StopSignal::Terminate]
        .map(|signal| StopStep { signal, grace_ms: 30 })
        .to_vec();
    let (directory, mut keeper, identity) = scene.run_until_ready(&spec);
    assert_eq!(signal_keeper(&identity, Stop::Graceful).unwrap(), Delivery::Sent);
    wait(&mut keeper);
    let exit = directory.exit().unwrap().unwrap();
    assert_eq!((exit.status, exit.why), (ExitStatus::Signal { number: 9, core: false }, Why::Terminated));
    assert_eq!(scene.tagged(), []);
}

#[test]
fn the_end_now_overrides_a_recipe_and_both_may_be_repeated() {
    let scene = Scene::new();
    let mut spec = scene.spec(&["linger", "ignores-stop", &scene.tag, &scene.text("r")]);
    spec.stop = vec![StopStep { signal: StopSignal::Terminate, grace_ms: 3_600_000 }];
    let (directory, mut keeper, identity) = scene.run_until_ready(&spec);
    for _ in 0..3 {
        signal_keeper(&identity, Stop::Graceful).unwrap();
    }
    assert!(directory.exit().unwrap().is_none());
    signal_keeper(&identity, Stop::Immediate).unwrap();
    signal_keeper(&identity, Stop::Immediate).unwrap();
    assert!(wait(&mut keeper).success());
    let exit = directory.exit().unwrap().unwrap();
    assert_eq!((exit.status, exit.why), (ExitStatus::Signal { number: 9, core: false }, Why::EndedNow));
    assert_eq!(signal_keeper(&identity, Stop::Immediate).unwrap(), Delivery::Gone);
}

#[test]
fn a_keeper_survives_hangup_and_a_broken_pipe() {
    let scene = Scene::new();
    let spec = scene.spec(&["linger", "plain", &scene.tag, &scene.text("r")]);
    let (directory, mut keeper, identity) = scene.run_until_ready(&spec);
    let pid = rustix::process::Pid::from_raw(i32::try_from(identity.keeper.pid).unwrap()).unwrap();
    for signal in [rustix::process::Signal::HUP, rustix::process::Signal::PIPE] {
        rustix::process::kill_process(pid, signal).unwrap();
    }
    signal_keeper(&identity, Stop::Graceful).unwrap();
    assert!(wait(&mut keeper).success());
    assert_eq!(directory.exit().unwrap().unwrap().why, Why::Terminated);
}

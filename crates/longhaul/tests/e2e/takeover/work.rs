//! The orderly way: in, out, and on.

use super::World;
use crate::sight::{alive, kill_9};

#[test]
fn a_person_works_in_the_conversation_and_then_the_task_goes_on() {
    let world = World::new();
    let name = world.paused_with("Hand it over", &["--context", "resume"]);
    let task = world.env.task(&name);
    let conversation = task["conversations"][0]["id"].as_str().unwrap().to_owned();
    let mut shell = world.taken_over(&name);
    assert_eq!(world.env.state(&name), "held");
    let shown = world.env.ok(&["show", &name]);
    assert!(shown.contains(&format!("process {}", world.pids().1)), "{shown}");
    assert!(world.env.ok(&["list"]).contains("held"));
    shell.press(b"bye\n");
    shell.shows("Resume the task now? [y/N]");
    assert_eq!(world.env.state(&name), "paused");
    shell.press(b"y\n");
    let shown = shell.finish();
    assert!(shown.contains("shell: 0") && shown.contains("continues; follow it with"), "{shown}");
    assert_eq!(world.env.settle(&name), "done");
    let talk = |what: &str| format!("{what} {conversation}");
    assert_eq!(world.lines("launches"), [talk("session"), talk("interface"), talk("session"), talk("session")]);
    assert_eq!(world.releases(&name), ["ended"]);
    assert!(world.holds().is_empty());
    world.assert_clean();
}

#[test]
fn the_program_sees_what_a_session_would_see_and_whose_it_is() {
    let mut world = World::new();
    for (variable, value) in [
        ("LONGHAUL_NOTIFY_WEBHOOK", "$MY_ADDRESS"),
        ("LONGHAUL_NOTIFY_WEBHOOK_SECRET_ENV", "MY_HOOK"),
        ("MY_ADDRESS", "http://127.0.0.1:9/hook"),
        ("MY_HOOK", "speaks-for-longhaul"),
        ("MY_OWN", "the control"),
    ] {
        world.env.set(variable, value);
    }
    let name = world.paused("Look around");
    let mut shell = world.taken_over(&name);
    shell.press(b"fail\n");
    shell.shows("[y/N]");
    shell.press(b"\n");
    let shown = shell.finish();
    assert!(shown.contains("pi ended with exit code 3"), "{shown}");
    let task = world.env.task(&name);
    let place = world.env.workspace().canonicalize().unwrap().display().to_string();
    let expected = [
        format!("DEMO_LEDGER={}", world.env.ledger().display()),
        format!("LONGHAUL_HOME={}", world.env.home().display()),
        format!("LONGHAUL_SESSION={}", task["id"].as_str().unwrap()),
        "MY_OWN=the control".to_owned(),
        format!("PWD={place}"),
    ];
    assert_eq!(world.lines("environment"), expected);
    assert_eq!(world.lines("directory"), [place]);
    assert_eq!(world.env.state(&name), "paused", "no answer is a no");
}

#[test]
fn a_live_session_ends_before_the_program_starts() {
    let world = World::new();
    let (name, agent) = world.working("Interrupt me");
    let mut shell = world.taken_over(&name);
    assert!(!alive(agent), "two agents in one conversation");
    let kinds = world.env.kinds(&name);
    let last = |kind: &str| kinds.iter().rposition(|have| have == kind).unwrap();
    assert!(last("stop_asked") < last("session_ended"), "{kinds:?}");
    shell.press(b"bye\n");
    shell.shows("[y/N]");
    shell.press(b"n\n");
    assert!(shell.finish().contains("shell: 0"));
    assert_eq!(world.env.state(&name), "paused");
    assert_eq!(world.sessions(&name), 2);
    world.assert_clean();
}

#[test]
fn a_task_cancelled_meanwhile_stays_cancelled() {
    let world = World::new();
    let name = world.paused("Give it up");
    let mut shell = world.taken_over(&name);
    world.env.ok(&["cancel", &name]);
    assert!(alive(world.pids().1), "nobody ends a person's program");
    shell.press(b"bye\n");
    let shown = shell.finish();
    assert!(shown.contains("shell: 4") && shown.contains("cancelled"), "{shown}");
    assert!(world.holds().is_empty());
}

#[test]
fn what_the_program_leaves_behind_is_told_and_keeps_nobody_out() {
    let world = World::new();
    let name = world.paused("Start a server");
    let mut shell = world.taken_over(&name);
    shell.press(b"leave-lock\n");
    shell.shows("left");
    shell.press(b"bye\n");
    shell.shows(&format!("processes started there are still running: {}", world.left()));
    shell.shows("[y/N]");
    shell.press(b"n\n");
    shell.finish();
    assert!(alive(world.left()), "the control");
    assert_eq!((world.env.state(&name).as_str(), world.releases(&name).len()), ("paused", 1));
    let mut again = world.taken_over(&name);
    assert_eq!(world.env.state(&name), "held");
    again.press(b"bye\n");
    again.shows("[y/N]");
    again.press(b"n\n");
    again.finish();
    assert_eq!(world.releases(&name), ["ended", "ended"]);
    kill_9(world.left());
}

//! Who may not take over, and what can not be taken over. Nothing is changed, and nothing is stopped for it.

use super::World;
use crate::env::{TestEnv, done};
use crate::screen::Shell;
use crate::sight::alive;

/// What a takeover on a terminal says, which has to be refused with this code.
fn refused(env: &TestEnv, name: &str, code: i32) -> String {
    let before = env.events(name);
    let shown = Shell::run(env, &["takeover", name]).finish();
    assert!(shown.contains(&format!("shell: {code}")), "{shown}");
    assert_eq!(env.events(name), before);
    shown
}

#[test]
fn without_a_terminal_nothing_is_stopped() {
    let world = World::new();
    let (name, agent) = world.working("No terminal");
    let refused = world.env.run(&["takeover", &name]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("needs a terminal") && refused.stderr.contains("hint: "), "{}", refused.stderr);
    assert!(alive(agent));
    assert_eq!(world.env.state(&name), "working");
}

#[test]
fn one_person_at_a_time() {
    let world = World::new();
    let name = world.paused("Mine");
    let mut shell = world.taken_over(&name);
    let shown = refused(&world.env, &name, 8);
    assert!(shown.contains("a person has already taken over its conversation"), "{shown}");
    for (verb, code) in [("resume", 8), ("pause", 8)] {
        assert_eq!(world.env.run(&[verb, &name]).code, code, "{verb}");
    }
    shell.press(b"bye\n");
    shell.shows("[y/N]");
    shell.press(b"n\n");
    shell.finish();
}

#[test]
fn a_finished_task_and_one_without_a_conversation_have_nothing_to_take() {
    let world = World::new();
    world.env.make_repository();
    let name = world.paused("Over");
    world.env.ok(&["cancel", &name]);
    let shown = refused(&world.env, &name, 8);
    assert!(shown.contains("it is finished"), "{shown}");
    let name = world.env.submit("Not yet", &["--agent", "pi", "--after", &world.paused("Before")]);
    // Its worker writes until then.
    world.env.reach(&name, "waiting");
    let shown = refused(&world.env, &name, 8);
    assert!(shown.contains("none of its sessions has had a conversation yet"), "{shown}");
}

#[test]
fn an_agent_without_an_interface_is_named_with_what_to_do() {
    let env = TestEnv::new();
    let name = env.submit("Play", &["--agent", "demo", "--once"]);
    assert_eq!(env.settle(&name), "paused");
    let shown = refused(&env, &name, 8);
    assert!(
        shown.contains("the agent `demo` has no interactive program") && shown.contains("longhaul resume play"),
        "{shown}"
    );
}

#[test]
fn a_program_that_is_gone_is_named() {
    let mut world = World::new();
    let name = world.paused("No program");
    world.env.set("PATH", "/usr/bin:/bin");
    let shown = refused(&world.env, &name, 8);
    assert!(shown.contains("the program `pi` was not found"), "{shown}");
}

#[test]
fn below_a_session_and_below_a_takeover_nobody_takes_over() {
    let world = World::new();
    let (name, agent) = world.working("Below");
    let below =
        |marker: &str, args: &[&str]| done(&world.env.command(args).env("LONGHAUL_SESSION", marker).output().unwrap());
    let session = world.env.live(&name, 2).session;
    let refused = below(&session, &["takeover", &name]);
    assert_eq!(refused.code, 8, "{}", refused.stderr);
    assert!(refused.stderr.contains("an agent session may only"), "{}", refused.stderr);
    assert!(alive(agent));
    let mut shell = world.taken_over(&name);
    let task = world.env.task(&name)["id"].as_str().unwrap().to_owned();
    for args in [&["takeover", &name][..], &["resume", &name], &["cancel", &name], &["attach", &name, "--tmux"]] {
        let refused = below(&task, args);
        assert_eq!(refused.code, 8, "{args:?}: {}", refused.stderr);
    }
    assert_eq!(below(&task, &["show", &name]).code, 0, "its own task can be read");
    assert_eq!(world.env.state(&name), "held");
    shell.press(b"bye\n");
    shell.shows("[y/N]");
    shell.press(b"n\n");
    shell.finish();
}

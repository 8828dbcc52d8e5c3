//! Adoption: records that lie, numbers that were used again, another boot; nobody is signalled by mistake.

use longhaul_keeper::process::{Process, boot_id, is_alive, own_identity, start_time};
use longhaul_keeper::{
    Delivery, Identity, InspectError, RecordError, SessionDir, SessionStatus, Stop, inspect_session, signal_keeper,
};
use rustix::event::{PollFd, PollFlags, poll};

use crate::scene::{Scene, inspect_when_free, kill, mint, until, wait};

fn write_identity(directory: &SessionDir, identity: &Identity) {
    std::fs::write(directory.path().join("identity"), serde_json::to_vec(identity).unwrap()).unwrap();
}

#[test]
fn a_number_used_again_gets_no_signal_and_no_kill() {
    let scene = Scene::new();
    let spec = scene.spec(&["linger", "plain", &scene.tag, &scene.text("r")]);
    let (directory, mut keeper, identity) = scene.run_until_ready(&spec);
    let older = |process: Process| Process { start: process.start - 1, ..process };
    let reused = Identity { keeper: older(identity.keeper), child: older(identity.child), ..identity.clone() };
    assert_eq!(signal_keeper(&reused, Stop::Immediate).unwrap(), Delivery::Gone);
    assert!(!is_alive(&reused.keeper, &reused.boot).unwrap());

    // A stranger's session whose record names our processes by number only.
    let stranger = scene.prepare(&scene.spec(&["exit", "0"]));
    write_identity(&stranger, &reused);
    let SessionStatus::Lost { identity: read, guard } = inspect_session(&stranger).unwrap() else { panic!("not lost") };
    assert_eq!(guard.end_tree(Some(&read)).unwrap().killed, 0);
    assert!(is_alive(&identity.child, &identity.boot).unwrap());

    // The control: with the right start time the same calls do reach them.
    assert_eq!(signal_keeper(&identity, Stop::Immediate).unwrap(), Delivery::Sent);
    wait(&mut keeper);
    assert!(!is_alive(&identity.child, &identity.boot).unwrap());
    assert!(directory.end().unwrap().is_some());
}

#[test]
fn after_another_boot_all_numbers_are_void() {
    let scene = Scene::new();
    let spec = scene.spec(&["linger", "plain", &scene.tag, &scene.text("r")]);
    let (_directory, mut keeper, identity) = scene.run_until_ready(&spec);
    let before = Identity { boot: "an-earlier-boot".to_owned(), ..identity.clone() };
    assert_eq!(signal_keeper(&before, Stop::Immediate).unwrap(), Delivery::Gone);
    assert!(!is_alive(&before.keeper, &before.boot).unwrap());
    let stranger = scene.prepare(&scene.spec(&["exit", "0"]));
    write_identity(&stranger, &before);
    let SessionStatus::Lost { identity: read, guard } = inspect_session(&stranger).unwrap() else { panic!("not lost") };
    assert_eq!(guard.end_tree(Some(&read)).unwrap().killed, 0);
    assert!(is_alive(&identity.keeper, &boot_id().unwrap()).unwrap());
    signal_keeper(&identity, Stop::Immediate).unwrap();
    wait(&mut keeper);
}

#[test]
fn the_descriptor_of_a_live_keeper_tells_its_death() {
    let scene = Scene::new();
    let spec = scene.spec(&["linger", "plain", &scene.tag, &scene.text("r")]);
    let (directory, mut keeper, identity) = scene.run_until_ready(&spec);
    let SessionStatus::Alive(live) = inspect_session(&directory).unwrap() else { panic!("not alive") };
    assert_eq!(live.identity.as_ref(), Some(&identity));
    let descriptor = live.pidfd().unwrap().unwrap();
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut interest = [PollFd::new(&descriptor, PollFlags::IN)];
    assert_eq!(poll(&mut interest, Some(&now)).unwrap(), 0, "the control: it lives");
    kill(&identity.keeper);
    let long = rustix::event::Timespec { tv_sec: 30, tv_nsec: 0 };
    assert_eq!(poll(&mut interest, Some(&long)).unwrap(), 1);
    wait(&mut keeper);
    assert!(live.pidfd().unwrap().is_none());
    let SessionStatus::Lost { identity, guard } = inspect_when_free(&directory) else { panic!("not lost") };
    guard.end_tree(Some(&identity)).unwrap();
    until("the agent is gone", || scene.tagged().is_empty());
}

#[test]
fn damage_is_never_absence() {
    let scene = Scene::new();
    for name in ["identity", "exit"] {
        let directory = scene.prepare(&scene.spec(&["exit", "0"]));
        std::fs::write(directory.path().join(name), "").unwrap();
        let path = match inspect_when_free(&directory) {
            SessionStatus::Unreadable { error: RecordError::Damaged { path, .. }, .. } => path,
            other => panic!("{other:?}"),
        };
        assert!(path.ends_with(name));
        assert!(!directory.path().join("revoked").exists());

        std::fs::write(directory.path().join(name), r#"{"version":9}"#).unwrap();
        let found = inspect_when_free(&directory);
        let SessionStatus::Unreadable { error: RecordError::NewerContract { found: 9, known: 2, .. }, .. } = found
        else {
            panic!("{found:?}")
        };
    }
}

#[test]
fn a_keeper_whose_identity_can_not_be_read_is_still_a_keeper() {
    let scene = Scene::new();
    let directory = scene.prepare(&scene.spec(&["exit", "0"]));
    let lock = std::fs::File::open(directory.path().join("session.lock")).unwrap();
    lock.lock().unwrap();
    std::fs::write(directory.path().join("identity"), r#"{"version":9}"#).unwrap();
    let SessionStatus::Alive(live) = inspect_session(&directory).unwrap() else { panic!("not alive") };
    assert!(live.identity.is_none());
}

#[test]
fn a_missing_directory_or_lock_is_an_error() {
    let scene = Scene::new();
    let directory = SessionDir::at(&scene.path(&mint().to_string())).unwrap();
    assert!(matches!(inspect_session(&directory), Err(InspectError::Io { .. })));
    assert!(SessionDir::at(&scene.path("not-an-id")).is_err());
}

#[test]
fn the_dead_are_dead() {
    let own = own_identity().unwrap();
    let boot = boot_id().unwrap();
    assert!(is_alive(&own, &boot).unwrap());
    assert_eq!(start_time(own.pid).unwrap(), Some(own.start));
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let process = Process { pid: child.id(), start: start_time(child.id()).unwrap().unwrap() };
    wait(&mut child);
    assert!(!is_alive(&process, &boot).unwrap());
}

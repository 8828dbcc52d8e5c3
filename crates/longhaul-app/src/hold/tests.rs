//! The lock of a hold: with real processes that inherit it, and everyone who may be in each other's way.
//! Dead processes were waited for; the verb itself is tested end to end.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use longhaul_core::ids::TaskId;
use rustix::io::{FdFlags, fcntl_setfd};

use super::lock::listed;
use super::*;
use crate::clock::mint_task;

fn scene() -> (tempfile::TempDir, Home, TaskId) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::create(&dir.path().join("home")).unwrap();
    (dir, home, mint_task())
}

fn is_free(home: &Home, task: TaskId) -> bool {
    Free::check(home, task).unwrap().is_some()
}

/// For a moment a fork of another test, that has not executed its program yet, may have it too. The kernel tells when nobody has.
fn becomes_free(home: &Home, task: TaskId) -> bool {
    let file = std::fs::File::open(home.hold(task)).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(file.lock_shared().is_ok()));
    told.recv_timeout(Duration::from_secs(60)).unwrap_or(false) && is_free(home, task)
}

/// A process that has the hold's descriptor, and ends with its standard input.
fn heir(hold: &Hold) -> Child {
    fcntl_setfd(hold, FdFlags::empty()).unwrap();
    let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    fcntl_setfd(hold, FdFlags::CLOEXEC).unwrap();
    child
}

fn end(mut child: Child) {
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[test]
fn a_hold_is_held_once_and_free_when_its_process_lets_go() {
    let (_dir, home, task) = scene();
    assert!(is_free(&home, task));
    let hold = Hold::take(&home, task).unwrap().unwrap();
    assert!(!is_free(&home, task));
    assert!(Hold::take(&home, task).unwrap().is_none());
    assert!(is_free(&home, mint_task()), "others are not concerned");
    drop(hold);
    assert!(becomes_free(&home, task));
}

#[test]
fn who_inherits_it_keeps_it_and_who_does_not_does_not() {
    let (_dir, home, task) = scene();
    let hold = Hold::take(&home, task).unwrap().unwrap();
    let stranger = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let child = heir(&hold);
    drop(hold);
    assert!(!is_free(&home, task), "as after kill -9 of the one who took it");
    end(child);
    assert!(becomes_free(&home, task), "the control: a child without the descriptor keeps nothing");
    end(stranger);
}

#[test]
fn those_who_look_do_not_disturb_each_other_and_keep_takers_away() {
    let (_dir, home, task) = scene();
    let one = Free::check(&home, task).unwrap().unwrap();
    let other = Free::check(&home, task).unwrap().unwrap();
    assert!(Hold::take(&home, task).unwrap().is_none());
    one.retire();
    assert_eq!(listed(&home), [task], "another one looks at it");
    other.retire();
    assert!(listed(&home).is_empty());
}

#[test]
fn a_file_of_the_past_is_no_hold_and_takes_none_away() {
    let (_dir, home, task) = scene();
    let old = Hold::take(&home, task).unwrap().unwrap();
    let left_behind = heir(&old);
    old.retire();
    assert!(listed(&home).is_empty());
    let new = Hold::take(&home, task).unwrap().expect("what was left behind has the old file only");
    assert!(!is_free(&home, task));
    end(left_behind);
    assert_eq!(listed(&home), [task]);
    new.retire();
    assert!(listed(&home).is_empty());
}

#[test]
fn strange_files_are_nobodys_hold() {
    let (_dir, home, task) = scene();
    drop(Hold::take(&home, task).unwrap());
    std::fs::write(home.holds().join("notes.lock"), "").unwrap();
    std::fs::write(home.holds().join("notes"), "").unwrap();
    assert_eq!(listed(&home), [task]);
    std::fs::remove_file(home.hold(task)).unwrap();
    std::os::unix::fs::symlink("elsewhere", home.hold(task)).unwrap();
    assert!(matches!(Hold::take(&home, task), Err(HoldError::Io { .. })), "a link is not followed");
    assert!(!home.holds().join("elsewhere").exists());
}

#[test]
fn who_carries_the_marker_is_found_until_it_ends() {
    let task = mint_task();
    let start = |value: &str| {
        let mut command = Command::new("cat");
        command.env(longhaul_keeper::SESSION_VARIABLE, value).stdin(Stdio::piped()).stdout(Stdio::null());
        command.spawn().unwrap()
    };
    let found = |task| in_conversation(task).unwrap().into_iter().map(|process| process.pid).collect::<Vec<_>>();
    let (ours, other) = (start(&task.to_string()), start(&mint_task().to_string()));
    assert_eq!(found(task), [ours.id()]);
    end(ours);
    assert!(found(task).is_empty());
    end(other);
}

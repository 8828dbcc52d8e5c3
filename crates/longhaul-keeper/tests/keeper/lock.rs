//! Worker locks: a live owner is never taken for dead, a dead one at once.

use std::process::Command;

use longhaul_core::ids::WorkerId;
use longhaul_keeper::WorkerLock;

use crate::scene::{FIXTURE, Scene, mint, until, wait};

#[test]
fn an_owner_is_dead_exactly_when_its_process_is() {
    let scene = Scene::new();
    let id: WorkerId = mint().to_string().parse().unwrap();
    let path = scene.path(&format!("{id}.lock"));
    assert!(WorkerLock::is_dead(&path).unwrap(), "no file, no worker");
    let ready = scene.path("ready");
    let mut owner = Command::new(FIXTURE)
        .args(["holds-worker-lock", scene.home.path().to_str().unwrap(), &id.to_string(), ready.to_str().unwrap()])
        .spawn()
        .unwrap();
    // The file may be asked for at any time: from the moment it exists it is locked.
    until("the lock is held", || {
        let there = path.exists();
        assert!(!there || !WorkerLock::is_dead(&path).unwrap());
        ready.exists()
    });
    let about: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(about["pid"], owner.id());
    owner.kill().unwrap();
    wait(&mut owner);
    let probe = std::fs::File::open(&path).unwrap();
    probe.try_lock_shared().unwrap();
    assert!(WorkerLock::is_dead(&path).unwrap(), "another who asks does not disturb");
}

#[test]
fn a_lock_is_not_inherited_and_can_be_retired() {
    let scene = Scene::new();
    let id: WorkerId = mint().to_string().parse().unwrap();
    let lock = WorkerLock::take(scene.home.path(), id).unwrap();
    let path = lock.path().to_owned();
    assert!(!WorkerLock::is_dead(&path).unwrap());
    let ready = scene.text("r");
    let mut child = Command::new(FIXTURE).args(["linger", "plain", &scene.tag, &ready]).spawn().unwrap();
    until("the child runs", || scene.path("r").exists());
    drop(lock);
    // For a moment it may be held by a fork of another test that has not executed its program yet.
    until("a living child does not hold it", || WorkerLock::is_dead(&path).unwrap());
    child.kill().unwrap();
    wait(&mut child);
    std::fs::remove_file(&path).unwrap();

    let lock = WorkerLock::take(scene.home.path(), id).unwrap();
    lock.retire().unwrap();
    assert!(!path.exists());
}

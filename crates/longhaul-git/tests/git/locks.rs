//! Lock files left by dead gits: removed only in our own worktree, only these two names, only with proof.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use longhaul_git::LockAnswer;

use crate::scene::{Scene, programs};

const MINUTE: Duration = Duration::from_secs(60);

fn lock_at(path: &Path, time: SystemTime) -> PathBuf {
    fs::write(path, "").unwrap();
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    path.to_owned()
}

#[test]
fn the_matrix_of_locks() {
    let scene = Scene::committed(programs().last().unwrap());
    let worktree = scene.worktree("w");
    let git_dir = worktree.repository().git_dir();
    let ended = SystemTime::now();
    let clear = || worktree.clear_stale_lock(ended).unwrap();
    let (older, younger) = (ended - MINUTE, ended + MINUTE);
    assert_eq!(clear(), LockAnswer::NoLock);

    for (names, expected) in [
        (&["index.lock"][..], &["index.lock"][..]),
        (&["HEAD.lock"], &["HEAD.lock"]),
        (&["index.lock", "HEAD.lock"], &["index.lock", "HEAD.lock"]),
    ] {
        names.iter().for_each(|name| drop(lock_at(&git_dir.join(name), older)));
        let names = expected.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(clear(), LockAnswer::Removed { names });
        assert_eq!(clear(), LockAnswer::NoLock);
    }

    for time in [younger, ended] {
        let lock = lock_at(&git_dir.join("index.lock"), time);
        assert!(matches!(clear(), LockAnswer::Kept { name, .. } if name == "index.lock"));
        assert!(lock.exists());
        fs::remove_file(lock).unwrap();
    }

    fs::create_dir(git_dir.join("index.lock")).unwrap();
    assert!(matches!(clear(), LockAnswer::Kept { .. }));
    fs::remove_dir(git_dir.join("index.lock")).unwrap();
    std::os::unix::fs::symlink("/nowhere", git_dir.join("HEAD.lock")).unwrap();
    assert!(matches!(clear(), LockAnswer::Kept { name, .. } if name == "HEAD.lock"));
    fs::remove_file(git_dir.join("HEAD.lock")).unwrap();
}

#[test]
fn other_locks_and_other_worktrees_are_left_alone() {
    let scene = Scene::committed(programs().last().unwrap());
    let (worktree, other) = (scene.worktree("w"), scene.worktree("other"));
    let older = SystemTime::now() - MINUTE;
    let common = scene.project().join(".git");
    let locks = [
        common.join("index.lock"),
        common.join("HEAD.lock"),
        common.join("packed-refs.lock"),
        common.join("config.lock"),
        other.repository().git_dir().join("index.lock"),
        worktree.repository().git_dir().join("config.worktree.lock"),
    ];
    locks.iter().for_each(|path| drop(lock_at(path, older)));
    assert_eq!(worktree.clear_stale_lock(SystemTime::now()).unwrap(), LockAnswer::NoLock);
    assert!(locks.iter().all(|path| path.exists()));
}

#[test]
fn looking_takes_no_lock() {
    let scene = Scene::committed(programs().last().unwrap());
    scene.write("a.txt", "changed\n");
    let lock = lock_at(&scene.project().join(".git/index.lock"), SystemTime::now());
    assert!(!scene.try_plain(&scene.project(), &["add", "-A"]).status.success(), "plain git is stopped by it");
    let (repository, head) = (scene.repository(), scene.head());
    assert_eq!(repository.uncommitted().unwrap().files, ["a.txt"]);
    repository.survey().unwrap();
    repository.diff(&head, None).unwrap();
    repository.snapshot("refs/longhaul/t/1", "x").unwrap();
    assert!(lock.exists());
}

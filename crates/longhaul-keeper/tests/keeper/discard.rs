//! Session directories are taken away file by file: nothing unknown, nothing live and nothing outside is ever touched.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use longhaul_core::ids::SessionId;
use longhaul_keeper::{Discarded, discard_session, survey_session};

const SESSION: &str = "0190c5a4-7d4e-7c3a-8f00-0123456789ab";

/// A name, and how something that is not ours gets there.
type Trap = (&'static str, fn(&Path));

fn session() -> SessionId {
    SESSION.parse().unwrap()
}

/// A directory as a keeper leaves it, 100 bytes in all.
fn ended(sessions: &Path) -> std::path::PathBuf {
    let directory = sessions.join(SESSION);
    fs::create_dir(&directory).unwrap();
    for name in
        ["spec", "prompt", "identity", "out.log", "out.1.log", "err.log", "index", "exit", "end", ".exit.7-0.tmp"]
    {
        fs::write(directory.join(name), [b'x'; 10]).unwrap();
    }
    fs::write(directory.join("session.lock"), "").unwrap();
    directory
}

#[test]
fn an_ended_session_goes_and_nothing_else_does() {
    let home = tempfile::tempdir().unwrap();
    let directory = ended(home.path());
    let other = home.path().join("0190c5a4-7d4e-7c3a-8f00-0123456789ac");
    fs::create_dir(&other).unwrap();
    assert_eq!(survey_session(home.path(), session()).unwrap().unwrap().bytes, 100);
    assert_eq!(discard_session(home.path(), session()).unwrap(), Discarded::Gone { bytes: 100 });
    assert!(!directory.exists() && other.exists());
    assert_eq!(survey_session(home.path(), session()).unwrap(), None);
    assert_eq!(discard_session(home.path(), session()).unwrap(), Discarded::Gone { bytes: 0 }, "a repeat is harmless");
}

#[test]
fn a_held_lock_keeps_all_of_it() {
    let home = tempfile::tempdir().unwrap();
    let directory = ended(home.path());
    let lock = fs::File::open(directory.join("session.lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(discard_session(home.path(), session()).unwrap(), Discarded::InUse);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 11);
    drop(lock);
    assert_eq!(discard_session(home.path(), session()).unwrap(), Discarded::Gone { bytes: 100 });
}

#[test]
fn what_is_not_ours_keeps_all_of_it() {
    let traps: [Trap; 5] = [
        ("notes.txt", |path| fs::write(path, "mine").unwrap()),
        ("out.01.log", |path| fs::write(path, "mine").unwrap()),
        ("exit", |path| {
            fs::remove_file(path).unwrap();
            symlink("/etc/hostname", path).unwrap();
        }),
        ("index", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
        ("sub", |path| fs::create_dir(path).unwrap()),
    ];
    for (name, plant) in traps {
        let home = tempfile::tempdir().unwrap();
        let directory = ended(home.path());
        plant(&directory.join(name));
        let before = fs::read_dir(&directory).unwrap().count();
        let answer = discard_session(home.path(), session()).unwrap();
        assert_eq!(answer, Discarded::Strange { names: vec![name.to_owned()] });
        assert_eq!(fs::read_dir(&directory).unwrap().count(), before, "{name}");
    }
}

#[test]
fn a_link_in_place_of_the_directory_is_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let real = ended(elsewhere.path());
    symlink(&real, home.path().join(SESSION)).unwrap();
    discard_session(home.path(), session()).unwrap_err();
    assert_eq!(fs::read_dir(&real).unwrap().count(), 11);
}

#[test]
fn what_a_kill_left_of_it_goes_the_next_time() {
    let home = tempfile::tempdir().unwrap();
    let directory = ended(home.path());
    for name in ["spec", "out.log", "end"] {
        fs::remove_file(directory.join(name)).unwrap();
    }
    assert_eq!(discard_session(home.path(), session()).unwrap(), Discarded::Gone { bytes: 70 });
    fs::create_dir(&directory).unwrap();
    assert_eq!(discard_session(home.path(), session()).unwrap(), Discarded::Gone { bytes: 0 }, "even without its lock");
    assert!(!directory.exists());
}

//! What nobody knows: swept when it is ours and old, left alone and named when it is not ours, untouched when it is young.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{finish, names, sessions, strings};
use crate::env::TestEnv;
use crate::sight::listing;

const OLD: &str = "0190c5a4-7d4e-7c3a-8f00-000000000001";
const YOUNG: &str = "0190c5a4-7d4e-7c3a-8f00-000000000002";
const HELD: &str = "0190c5a4-7d4e-7c3a-8f00-000000000003";
const STRANGE: &str = "0190c5a4-7d4e-7c3a-8f00-000000000004";

pub(super) fn age(path: &Path) {
    let old = SystemTime::now() - Duration::from_secs(2 * 86_400);
    File::open(path).unwrap().set_times(FileTimes::new().set_modified(old)).unwrap();
}

/// A session directory of no task.
fn plant(env: &TestEnv, session: &str, more: &[&str]) -> std::path::PathBuf {
    let directory = env.home().join("sessions").join(session);
    fs::create_dir(&directory).unwrap();
    for name in ["session.lock", "out.log", "index"].iter().chain(more) {
        fs::write(directory.join(name), "0123456789").unwrap();
        age(&directory.join(name));
    }
    age(&directory);
    directory
}

#[test]
fn a_checkout_that_no_repository_knows_goes_and_what_is_none_stays() {
    let env = TestEnv::new();
    finish(&env, &["one"]);
    let [old, young, notes] = [format!("{OLD}.1"), format!("{YOUNG}.1"), format!("{OLD}.notes")].map(|name| {
        let path = env.home().join("checkouts").join(name);
        fs::create_dir_all(path.join("deep")).unwrap();
        fs::write(path.join("deep/file"), "x").unwrap();
        path
    });
    let (elsewhere, link) = (env.path().join("elsewhere"), env.home().join("checkouts").join(format!("{HELD}.1")));
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("file"), "x").unwrap();
    symlink(&elsewhere, &link).unwrap();
    [&old, &notes, &elsewhere].into_iter().for_each(|path| age(path));
    let names = [format!("checkouts/{OLD}.1")];
    assert_eq!(strings(&env.json(&["gc", "--dry-run"])["orphans"], "name"), names);
    assert!(old.join("deep/file").exists(), "nothing is removed yet");
    let swept = env.json(&["gc"]);
    assert_eq!(strings(&swept["orphans"], "name"), names, "{swept}");
    assert!(!old.exists() && young.exists() && notes.exists(), "{swept}");
    assert!(elsewhere.join("file").exists() && link.is_symlink(), "no link is followed: {swept}");
}

#[test]
fn old_leftovers_go_and_all_others_stay() {
    let env = TestEnv::new();
    finish(&env, &["one"]);
    let old = plant(&env, OLD, &[]);
    let young = plant(&env, YOUNG, &[]);
    fs::write(young.join("err.log"), "").unwrap();
    let held = plant(&env, HELD, &[]);
    let lock = File::open(held.join("session.lock")).unwrap();
    lock.lock().unwrap();
    let strange = plant(&env, STRANGE, &["notes.txt"]);
    let no_session = env.home().join("sessions/readme");
    fs::write(&no_session, "mine").unwrap();
    age(&no_session);
    let dead_lock = env.home().join(format!("workers/{OLD}.lock"));
    let living_lock = env.home().join(format!("workers/{YOUNG}.lock"));
    let other_lock = env.home().join("workers/mine.lock");
    let half = env.home().join(".session-cap.77-0.tmp");
    let half_of_others = env.home().join(".mine.77-0.tmp");
    let young_half = env.home().join(".trust.toml.77-1.tmp");
    for path in [&dead_lock, &living_lock, &other_lock, &half, &half_of_others, &young_half] {
        fs::write(path, "{}").unwrap();
    }
    for path in [&half, &half_of_others] {
        age(path);
    }
    let [dead_socket, living_socket] = [&dead_lock, &living_lock].map(|lock| lock.with_extension("sock"));
    let _sockets = [&dead_socket, &living_socket].map(|path| UnixListener::bind(path).unwrap());
    let living = File::open(&living_lock).unwrap();
    living.lock().unwrap();
    let dry = env.json(&["gc", "--dry-run"]);
    let swept = env.json(&["gc"]);
    let mut gone = strings(&swept["orphans"], "name");
    gone.sort();
    let mut foretold = strings(&dry["orphans"], "name");
    // A dry run takes no locks, so it cannot see that somebody holds one.
    foretold.retain(|name| !name.contains(HELD));
    foretold.sort();
    assert_eq!(foretold, gone);
    let expected = ["lock", "sock"].map(|end| format!("workers/{OLD}.{end}"));
    assert_eq!(gone, [&[".session-cap.77-0.tmp".to_owned(), format!("sessions/{OLD}")][..], &expected].concat());
    for path in [&old, &dead_lock, &dead_socket, &half] {
        assert!(!path.exists(), "{}", path.display());
    }
    let stays = [&young, &held, &strange.join("notes.txt"), &strange.join("out.log"), &no_session, &living_lock];
    for path in stays.into_iter().chain([&living_socket, &other_lock, &half_of_others, &young_half]) {
        assert!(path.exists(), "{}", path.display());
    }
    let left = swept["left"].to_string();
    for text in [HELD, STRANGE, "notes.txt", "sessions/readme"] {
        assert!(left.contains(text), "{text} is named in {left}");
    }
    assert_eq!((names(&env), swept["failed"].as_u64()), (vec!["one".to_owned()], Some(0)));
    drop((lock, living));
}

#[test]
fn a_session_that_only_events_tell_of_is_no_orphan() {
    let env = TestEnv::new();
    finish(&env, &["one"]);
    let session = sessions(&env, "one").remove(0);
    let directory = env.home().join("sessions").join(&session);
    fs::remove_file(directory.join("spec")).unwrap();
    for entry in fs::read_dir(&directory).unwrap() {
        age(&entry.unwrap().path());
    }
    age(&directory);
    assert_eq!(env.json(&["gc"])["orphans"], serde_json::json!([]));
    assert!(directory.exists());
    env.ok(&["gc", "--count", "0"]);
    assert!(!directory.exists(), "with its task it goes");
}

#[test]
fn what_is_not_ours_in_a_session_directory_keeps_its_task() {
    let env = TestEnv::new();
    finish(&env, &["one", "two"]);
    let directory = env.home().join("sessions").join(&sessions(&env, "one")[1]);
    fs::write(directory.join("diary.txt"), "mine").unwrap();
    let before = listing(&directory);
    let swept = env.json(&["gc", "--count", "0"]);
    assert_eq!(
        (strings(&swept["removed"], "name"), strings(&swept["kept"], "name")),
        (vec!["two".into()], vec!["one".into()])
    );
    assert!(swept["kept"][0]["why"].as_str().unwrap().contains("diary.txt"), "{swept}");
    assert_eq!((listing(&directory), sessions(&env, "one").len()), (before, 3), "kept as a whole");
    fs::remove_file(directory.join("diary.txt")).unwrap();
    env.ok(&["gc", "--count", "0"]);
    assert!(names(&env).is_empty());
}

#[test]
fn nothing_is_swept_from_a_damaged_store() {
    let env = TestEnv::new();
    finish(&env, &["one", "two"]);
    let before = listing(&env.home().join("sessions"));
    let database = rusqlite::Connection::open(env.home().join("longhaul.db")).unwrap();
    database.execute("UPDATE tasks SET id = 'nonsense' WHERE name = 'one'", []).unwrap();
    drop(database);
    let swept = env.run(&["gc", "--count", "0"]);
    assert!(swept.code == 9 && swept.stderr.contains("store check"), "{}: {}", swept.code, swept.stderr);
    assert_eq!(listing(&env.home().join("sessions")), before);
}

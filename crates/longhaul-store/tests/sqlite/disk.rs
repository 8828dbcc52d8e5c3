//! Disks that are full, fail or are read-only, and a process without descriptors: nothing is acknowledged that is not kept, and
//! what can heal heals.
//!
//! The full disk is a small file system of its own in a namespace of its own; the failing sync is put in by `strace`. Where the
//! machine allows neither, the tests say so, and fail in CI.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use longhaul_core::ids::TaskId;
use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{CommitError, Store, StoreError, WholeStore};

use super::SqliteHarness;
use super::child::{Player, say};
use super::conformance::moving::marks;
use super::conformance::sample::{by_person, mark, reload, submitted};

/// Whether a program can be run to a good end here; where it cannot, CI fails and everybody else is told.
fn is_possible(command: &mut Command, what: &str) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let possible = status.is_ok_and(|status| status.success());
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(possible || !in_ci, "{what} is not possible here, and CI must have it");
    if !possible {
        say(&format!("not tested: {what} is not possible here"));
    }
    possible
}

/// A shell that is root of namespaces of its own; nothing it mounts is seen outside or outlives it.
fn namespace(script: &str) -> Command {
    let rights: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &["--user", "--map-root-user"] };
    let mut command = Command::new("unshare");
    command.args(rights).args(["--mount", "--propagation", "private", "--", "sh", "-c", script, "sh"]);
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_loses_nothing_and_heals() {
    let harness = SqliteHarness::new();
    let mount = "mount -t tmpfs -o size=3m,mode=700 none \"$0\"";
    let mut probe = namespace(&mount.replace("$0", "$1"));
    if !is_possible(probe.arg(harness.home()), "mounting a small file system in a user namespace") {
        return;
    }
    let script = format!("cd / && {} && exec \"$@\"", mount.replace("$0", "$LONGHAUL_STORE_TEST_HOME"));
    let mut player = Player::start_under(namespace(&script), "fills_the_disk", harness.home(), None);
    player.go();
    let (well, lines) = player.end_with_lines();
    assert!(well, "{lines:#?}");
    assert!(lines.iter().any(|line| line == "all of it"), "the role was played to its end: {lines:#?}");
}

/// The role of the test above, on a file system of three megabytes.
pub(crate) async fn fill(home: &Path) {
    let store = SqliteStore::open(home).expect("a store");
    let mut task = submitted(&store, "one").await;
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        fill_up(&home.join("ballast"));
        let mut refusals = 0;
        for number in 0..400 {
            let text = format!("{round}-{number}-{}", "x".repeat(3_000));
            match store.commit(by_person(&task, vec![mark(text.clone())])).await {
                Ok(committed) => {
                    task = committed.stored;
                    acknowledged.push(text);
                }
                Err(CommitError::Store(StoreError::Full { .. })) => refusals += 1,
                Err(other) => panic!("unexpected: {other:?}"),
            }
        }
        assert!(refusals > 10, "control: the disk was full, {refusals}");
        assert_eq!(reload(&store, &task).await, task, "what is there can be read, and is as it was");
        fs::remove_file(home.join("ballast")).expect("room");
        task = store.commit(by_person(&task, vec![mark("healed")])).await.expect("room again").stored;
        acknowledged.push("healed".into());
        assert_eq!(store.check().await.expect("a check"), []);
    }
    drop(store);
    let store = SqliteStore::open(home).expect("a store");
    assert_eq!(marks(&store, &task).await, acknowledged);
    assert_eq!(store.check().await.expect("a check"), []);
    drop(store);
    let status = Command::new("mount").args(["-o", "remount,ro"]).arg(home).status().expect("a mount");
    assert!(status.success());
    for opened in [SqliteStore::open(home).map(drop), SqliteStore::open_existing(home).map(drop)] {
        assert!(matches!(&opened, Err(StoreError::Unfit { why, .. }) if why.contains("read-only")), "{opened:?}");
    }
    say("all of it");
}

fn fill_up(ballast: &Path) {
    let mut file = File::create(ballast).expect("a file");
    for size in [65_536, 4_096, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_without_descriptors_is_told_later() {
    let harness = SqliteHarness::new();
    let task = submitted(&harness.store(), "one").await;
    let mut player = Player::start("uses_up_descriptors", harness.home(), Some(&task), "");
    player.go();
    let (well, lines) = player.end_with_lines();
    assert!(well && lines.iter().any(|line| line == "all of it"), "{lines:#?}");
    assert_eq!(harness.store().check().await.expect("a check"), []);
}

/// The role of the test above.
pub(crate) async fn use_up_descriptors(home: &Path, task: TaskId) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let store = SqliteStore::open(home).expect("a store");
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: Some(64) }).expect("a limit");
    let used_up: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    assert!(!used_up.is_empty());
    let read = store.load(task).await;
    assert!(matches!(read, Err(StoreError::Later { .. })), "{read:?}");
    let opened = SqliteStore::open(home).map(drop);
    assert!(matches!(opened, Err(StoreError::Later { .. })), "{opened:?}");
    // A commit needs no new file, so it may well succeed.
    let unseen = store.commit(longhaul_store::Change { task, ..sample_change(task) }).await;
    assert!(matches!(unseen, Ok(_) | Err(CommitError::Store(StoreError::Later { .. }))), "{unseen:?}");
    drop(used_up);
    let found = store.load(task).await.expect("descriptors again").expect("the task");
    store.commit(by_person(&found, vec![mark("after")])).await.expect("a change");
    say("all of it");
}

fn sample_change(task: TaskId) -> longhaul_store::Change {
    longhaul_store::Change {
        task,
        guard: longhaul_store::Guard::Version(1),
        events: vec![mark("without descriptors")],
        actor: longhaul_core::task::Actor::person("ann"),
        at: super::conformance::sample::now(),
        key: None,
        claim: None,
        session_cap: None,
    }
}

fn strace(inject: &str) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", inject]);
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_sync_ends_all_writing_until_the_next_opening() {
    if !is_possible(strace("inject=fsync:error=EIO").arg("true"), "putting faults in with strace") {
        return;
    }
    let harness = SqliteHarness::new();
    let task = submitted(&harness.store(), "one").await;
    let under = strace("inject=fsync,fdatasync:error=EIO:when=8+");
    let mut player = Player::start_under(under, "commits_until_refused", harness.home(), Some(&task));
    player.go();
    let (well, lines) = player.end_with_lines();
    assert!(well, "{lines:#?}");
    let acknowledged: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("ack ")).collect();
    assert!(!acknowledged.is_empty() && acknowledged.len() < 30, "{lines:#?}");
    assert_eq!(lines.iter().filter(|line| *line == "storage failed").count(), 3, "{lines:#?}");
    let note = harness.home().join("longhaul.db.suspect");
    assert!(note.exists(), "the next opening is told");
    let store = harness.store();
    assert!(!note.exists(), "it has looked");
    let kept = marks(&store, &task).await;
    assert!(acknowledged.iter().all(|text| kept.iter().any(|kept| kept == text)), "{acknowledged:?} {kept:?}");
    assert_eq!(store.check().await.expect("a check"), []);
    let task = reload(&store, &task).await;
    store.commit(by_person(&task, vec![mark("after")])).await.expect("a change");
}

/// The control: the same role under the same program, which puts no fault in.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_fault_nothing_is_refused() {
    if !is_possible(strace("inject=fsync:error=EIO").arg("true"), "putting faults in with strace") {
        return;
    }
    let harness = SqliteHarness::new();
    let task = submitted(&harness.store(), "one").await;
    let under = strace("inject=fsync,fdatasync:error=EIO:when=60000+");
    let mut player = Player::start_under(under, "commits_until_refused", harness.home(), Some(&task));
    player.go();
    let (well, lines) = player.end_with_lines();
    assert!(well, "{lines:#?}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("ack ")).count(), 30);
    assert!(!lines.iter().any(|line| line == "storage failed"));
}

/// The role of both: thirty changes, or as many as are taken and three tries more.
pub(crate) async fn commit_until_refused(home: &Path, task: TaskId) {
    let store = SqliteStore::open(home).expect("a store");
    let mut task = store.load(task).await.expect("a readable store").expect("the task");
    let (mut taken, mut refused) = (0, 0);
    while taken < 30 && refused < 3 {
        let text = format!("mark-{taken}-{refused}");
        match store.commit(by_person(&task, vec![mark(text.clone())])).await {
            Ok(committed) => {
                assert_eq!(refused, 0, "after a failed sync nothing is taken");
                task = committed.stored;
                taken += 1;
                say(&format!("ack {text}"));
            }
            Err(CommitError::Store(StoreError::StorageFailed { .. })) => {
                refused += 1;
                say("storage failed");
            }
            Err(other) => panic!("unexpected: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_of_a_failed_disk_makes_the_next_opening_look() {
    use std::os::unix::fs::FileExt;
    let harness = SqliteHarness::new();
    {
        let store = harness.store();
        for number in 0..40 {
            submitted(&store, &format!("task-{number}")).await;
        }
    }
    let database = harness.home().join("longhaul.db");
    let file = fs::OpenOptions::new().write(true).open(&database).expect("a file");
    let pages = file.metadata().expect("facts").len() / 4096;
    // Not among the first ones, which every opening reads for the schema.
    file.write_all_at(&[0xa5; 4096], (pages - 1) * 4096).expect("garbage");
    drop(file);
    drop(harness.store());
    fs::write(harness.home().join("longhaul.db.suspect"), "").expect("a note");
    let opened = SqliteStore::open(harness.home()).map(drop);
    assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{opened:?}");
    assert!(harness.home().join("longhaul.db.suspect").exists(), "the note stays");
}

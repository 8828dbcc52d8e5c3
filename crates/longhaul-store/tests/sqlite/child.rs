//! Other processes for the tests: this test binary started again with a role to play on a home that exists.
//!
//! A child prints `ready`, waits for a line on its standard input, plays its role, and prints `ack <text>` for each change it
//! holds to be durable. Without a role the entry test does nothing.

use std::env;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use longhaul_core::ids::TaskId;
use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{Change, Key, Store, Stored};

use super::conformance::moving::insist;
use super::conformance::sample::{by_person, mark};
use super::disk;

const ROLE: &str = "LONGHAUL_STORE_TEST_ROLE";
const HOME: &str = "LONGHAUL_STORE_TEST_HOME";
const TASK: &str = "LONGHAUL_STORE_TEST_TASK";
const LABEL: &str = "LONGHAUL_STORE_TEST_LABEL";

/// A running child; dropped, it is killed and waited for.
pub(crate) struct Player {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Player {
    /// Starts a child and waits until it is ready to play.
    pub(crate) fn start(role: &str, home: &Path, task: Option<&Stored>, label: &str) -> Player {
        let this = Command::new(env::current_exe().expect("this program"));
        Player::start_as(this, role, home, task, label)
    }

    /// As [`Player::start`], under another program that is given this one's path as its last argument.
    pub(crate) fn start_under(mut command: Command, role: &str, home: &Path, task: Option<&Stored>) -> Player {
        command.arg(env::current_exe().expect("this program"));
        Player::start_as(command, role, home, task, role)
    }

    fn start_as(mut command: Command, role: &str, home: &Path, task: Option<&Stored>, label: &str) -> Player {
        let mut process = command
            .args(["child::entry", "--exact", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(HOME, home)
            .env(TASK, task.map_or_else(String::new, |stored| stored.task.id.to_string()))
            .env(LABEL, label)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a child");
        let lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let mut player = Player { process, lines };
        player.wait_for("ready");
        player
    }

    /// Lets it play.
    pub(crate) fn go(&mut self) {
        let input = self.process.stdin.as_mut().expect("a pipe");
        input.write_all(b"go\n").expect("a child that listens");
    }

    /// The next change it acknowledges, or none once it has ended.
    pub(crate) fn next_ack(&mut self) -> Option<String> {
        self.lines.by_ref().map_while(Result::ok).find_map(|line| line.strip_prefix("ack ").map(str::to_owned))
    }

    /// Reads on until it says this; the line may follow the test runner's own words.
    pub(crate) fn wait_for(&mut self, said: &str) {
        let heard = self.lines.by_ref().map_while(Result::ok).any(|line| line.ends_with(said));
        assert!(heard, "the child ended without `{said}`");
    }

    /// Kills it with SIGKILL, waits for it, and returns what it acknowledged until then.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.process.kill().expect("a child to kill");
        self.end().1
    }

    /// Waits for its end: whether it ended well, and every line it said.
    pub(crate) fn end_with_lines(&mut self) -> (bool, Vec<String>) {
        let lines = self.lines.by_ref().map_while(Result::ok).collect();
        (self.process.wait().expect("a child to wait for").success(), lines)
    }

    /// Waits for its end: whether it ended well, and what it acknowledged.
    pub(crate) fn end(&mut self) -> (bool, Vec<String>) {
        let acks = std::iter::from_fn(|| self.next_ack()).collect();
        (self.process.wait().expect("a child to wait for").success(), acks)
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ended_already = self.process.kill();
        let _status = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn entry() {
    let Ok(role) = env::var(ROLE) else { return };
    say("\nready");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a parent");
    assert_eq!(line, "go\n");
    match role.as_str() {
        "marks" => make_marks().await,
        "commits_forever" => commit_forever().await,
        "acknowledges_early" => acknowledge_early().await,
        "dies_before_commit" => commit_with_key(die_before_commit).await,
        "dies_after_commit" => commit_with_key(die_after_commit).await,
        "dies_in_migration" => drop(SqliteStore::open_with_probe(&home(), die_in_migration).expect("a store")),
        "opens" => drop(SqliteStore::open(&home()).expect("a store")),
        "holds_the_lock" => hold_the_lock(),
        "fills_the_disk" => disk::fill(&home()).await,
        "uses_up_descriptors" => disk::use_up_descriptors(&home(), loaded_id()).await,
        "commits_until_refused" => disk::commit_until_refused(&home(), loaded_id()).await,
        other => panic!("no such role: {other}"),
    }
}

/// One line to the parent, out of this process before the next thing happens.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).expect("a parent that listens");
}

fn home() -> std::path::PathBuf {
    env::var_os(HOME).expect("a home").into()
}

fn label() -> String {
    env::var(LABEL).expect("a label")
}

fn loaded_id() -> TaskId {
    env::var(TASK).expect("a task").parse().expect("an id")
}

async fn loaded(store: &SqliteStore) -> Stored {
    store.load(loaded_id()).await.expect("a readable store").expect("the task")
}

async fn make_marks() {
    let store = SqliteStore::open(&home()).expect("a store");
    let task = loaded(&store).await;
    let changes = (0..25).map(|number| format!("{}-{number}", label()));
    for text in changes {
        insist(&store, &task, &text).await;
        say(&format!("ack {text}"));
    }
}

async fn commit_forever() {
    let store = SqliteStore::open(&home()).expect("a store");
    let mut task = loaded(&store).await;
    for number in 0_u64.. {
        let text = format!("{}-{number}", label());
        task = insist(&store, &task, &text).await;
        say(&format!("ack {text}"));
    }
}

/// The harness's control: says `ack` first, and dies before the third commit.
async fn acknowledge_early() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COMMITS: AtomicU32 = AtomicU32::new(0);
    let probe = |point: &'static str| {
        if point == "store.before_commit" && COMMITS.fetch_add(1, Ordering::Relaxed) == 2 {
            die();
        }
    };
    let store = SqliteStore::open_with_probe(&home(), probe).expect("a store");
    let mut task = loaded(&store).await;
    for number in 0_u64.. {
        let text = format!("{}-{number}", label());
        say(&format!("ack {text}"));
        task = insist(&store, &task, &text).await;
    }
}

async fn commit_with_key(probe: fn(&'static str)) {
    let store = SqliteStore::open_with_probe(&home(), probe).expect("a store");
    let change = keyed_change(&loaded(&store).await);
    store.commit(change).await.expect("a change");
    say("ack keyed");
}

/// The change the dying children make, and their parents repeat.
pub(crate) fn keyed_change(seen: &Stored) -> Change {
    Change { key: Some(Key::new("the-key", "mark", "keyed")), ..by_person(seen, vec![mark("keyed")]) }
}

fn hold_the_lock() {
    let lock = rusqlite::Connection::open(home().join("longhaul.db")).expect("a database");
    lock.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    say("holding");
    std::io::stdin().read_line(&mut String::new()).expect("a parent");
}

fn die_before_commit(point: &'static str) {
    if point == "store.before_commit" {
        die();
    }
}

fn die_after_commit(point: &'static str) {
    if point == "store.committed" {
        die();
    }
}

fn die_in_migration(point: &'static str) {
    if point == "store.before_migration_commit" {
        die();
    }
}

fn die() {
    let this = rustix::process::getpid();
    rustix::process::kill_process(this, rustix::process::Signal::KILL).expect("a way out");
    // The signal may be delivered a moment later, and nothing may happen in between.
    loop {
        std::thread::park();
    }
}

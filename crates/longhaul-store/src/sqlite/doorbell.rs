//! The doorbell: one byte written after each commit, so that other processes look again.
//!
//! The writer rings; a follower, started by the first caller that listens, hears other processes through inotify. SQLite's
//! data version, asked each second (ten times a second without inotify), is the net below. A ring carries no content.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use rusqlite::Connection;
use tokio::sync::watch;

use super::failure::file_failed;
use super::open::open_reader;
use super::place::Place;
use crate::StoreError;

/// How often the data version is asked while inotify works.
const NET: Duration = Duration::from_secs(1);

/// How often it is asked when it is all there is.
const ALONE: Duration = Duration::from_millis(100);

/// The writer's side.
#[derive(Debug)]
pub(super) struct Bell {
    file: File,
    listeners: watch::Sender<u64>,
}

impl Bell {
    /// Opens the file, making it if needed, for its owner only.
    pub(super) fn open(place: &Place, listeners: watch::Sender<u64>) -> Result<Bell, StoreError> {
        let path = place.doorbell();
        let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(no_follow)
            .open(&path)
            .map_err(|error| file_failed("open", &path, error))?;
        Ok(Bell { file, listeners })
    }

    /// Tells everybody to look again.
    pub(super) fn ring(&self) {
        // A ring that cannot be written is made up for by the data version.
        let _unheard = self.file.write_all_at(b"!", 0);
        ring(&self.listeners);
    }
}

/// The listeners' side, for commits of other processes.
#[derive(Debug)]
pub(super) struct Follower {
    watcher: Option<RecommendedWatcher>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    /// Starts to listen.
    pub(super) fn start(place: &Place, listeners: &watch::Sender<u64>) -> Result<Follower, StoreError> {
        let connection = open_reader(place)?;
        // Before we announce that we listen: a commit right after that must differ from what was seen here.
        let seen = data_version(&connection);
        let watcher = watch_file(place, listeners.clone());
        let every = if watcher.is_some() { NET } else { ALONE };
        let (stop, stopped) = mpsc::channel();
        let listeners = listeners.clone();
        let thread = thread::Builder::new()
            .name("longhaul-doorbell".into())
            .spawn(move || watch_data_version(&connection, seen, &stopped, every, &listeners))
            .map_err(|error| StoreError::Failed { what: format!("failed to start the doorbell thread: {error}") })?;
        Ok(Follower { watcher, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.watcher = None;
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _panic = thread.join();
        }
    }
}

/// None where files cannot be watched: too many watches, or no inotify.
fn watch_file(place: &Place, listeners: watch::Sender<u64>) -> Option<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Opening and closing the file is no ring; an error means that rings may have been missed.
        if event.map_or(true, |event| !matches!(event.kind, EventKind::Access(_))) {
            ring(&listeners);
        }
    })
    .ok()?;
    watcher.watch(&place.doorbell(), RecursiveMode::NonRecursive).ok()?;
    Some(watcher)
}

fn watch_data_version(
    connection: &Connection,
    mut seen: Option<i64>,
    stopped: &Receiver<()>,
    every: Duration,
    listeners: &watch::Sender<u64>,
) {
    while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        let now = data_version(connection);
        // An unreadable version is unknown, and then looking again is the safe side.
        if now.is_none() || now != seen {
            ring(listeners);
        }
        seen = now;
    }
}

fn data_version(connection: &Connection) -> Option<i64> {
    connection.pragma_query_value(None, "data_version", |row| row.get(0)).ok()
}

fn ring(listeners: &watch::Sender<u64>) {
    listeners.send_modify(|rings| *rings = rings.wrapping_add(1));
}

#[cfg(test)]
mod tests {
    use super::super::open::open_writer;
    use super::*;

    /// Without the file there is nothing to watch, which leaves the data version alone to tell.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_data_version_rings_where_files_cannot_be_watched() {
        let home = tempfile::tempdir().expect("a home");
        let place = Place::new(home.path()).expect("a fit place");
        let writer = open_writer(&place, |_| {}).expect("a database");
        let (listeners, mut bell) = watch::channel(0);
        let follower = Follower::start(&place, &listeners).expect("a follower");
        assert!(follower.watcher.is_none());
        assert!(!bell.has_changed().expect("a bell"), "control: nothing happened yet");
        writer.execute_batch("CREATE TABLE news (text TEXT)").expect("a commit");
        let rung = tokio::time::timeout(Duration::from_secs(10), bell.changed()).await;
        rung.expect("a ring").expect("a bell");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_written_byte_rings_without_any_commit() {
        let home = tempfile::tempdir().expect("a home");
        let place = Place::new(home.path()).expect("a fit place");
        let _writer = open_writer(&place, |_| {}).expect("a database");
        let (ringers_own, _) = watch::channel(0);
        let ringer = Bell::open(&place, ringers_own).expect("a bell");
        let (listeners, mut bell) = watch::channel(0);
        let follower = Follower::start(&place, &listeners).expect("a follower");
        assert!(follower.watcher.is_some());
        ringer.ring();
        let rung = tokio::time::timeout(Duration::from_secs(10), bell.changed()).await;
        rung.expect("a ring").expect("a bell");
    }
}

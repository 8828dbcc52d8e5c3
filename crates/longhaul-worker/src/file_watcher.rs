//! Rings when files in watched session directories change. One watcher for the whole worker; a slow tick is the safety net.
//! Used by the attend effect. It only says "look again" and never what changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

/// How long a change may go unnoticed when the watcher misses it.
const WATCHED: Duration = Duration::from_secs(5);
/// How long when there is no watcher.
const UNWATCHED: Duration = Duration::from_millis(500);

type Listeners = Arc<Mutex<HashMap<PathBuf, Arc<Notify>>>>;

/// The worker's one watcher.
pub(crate) struct FileWatcher {
    listeners: Listeners,
    watcher: Mutex<Option<RecommendedWatcher>>,
}

impl FileWatcher {
    pub(crate) fn new() -> FileWatcher {
        let listeners = Listeners::default();
        let heard = Arc::clone(&listeners);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            if event.kind.is_access() {
                return;
            }
            let listeners = heard.lock().unwrap_or_else(PoisonError::into_inner);
            // The kernel dropped some, and whose they were is unknown.
            if event.need_rescan() {
                listeners.values().for_each(|listener| listener.notify_one());
            }
            for path in event.paths.iter().filter_map(|path| path.parent()) {
                if let Some(listener) = listeners.get(path) {
                    listener.notify_one();
                }
            }
        });
        // Without a watcher the safety net alone still finds every change.
        FileWatcher { listeners, watcher: Mutex::new(watcher.ok()) }
    }

    /// Listens to one directory until the ear is dropped.
    pub(crate) fn listen(self: &Arc<Self>, directory: &Path) -> Subscription {
        let rung = Arc::new(Notify::new());
        self.lock_listeners().insert(directory.to_owned(), Arc::clone(&rung));
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        let watched =
            watcher.as_mut().is_some_and(|watcher| watcher.watch(directory, RecursiveMode::NonRecursive).is_ok());
        let safety_net = if watched { WATCHED } else { UNWATCHED };
        Subscription { bell: Arc::clone(self), directory: directory.to_owned(), rung, safety_net }
    }

    fn lock_listeners(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Arc<Notify>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hears the changes of one directory.
pub(crate) struct Subscription {
    bell: Arc<FileWatcher>,
    directory: PathBuf,
    rung: Arc<Notify>,
    safety_net: Duration,
}

impl Subscription {
    /// Returns when something changed, or after the safety net's time.
    pub(crate) async fn changed(&self) {
        tokio::time::timeout(self.safety_net, self.rung.notified()).await.ok();
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.bell.lock_listeners().remove(&self.directory);
        if let Some(watcher) = self.bell.watcher.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            watcher.unwatch(&self.directory).ok();
        }
    }
}

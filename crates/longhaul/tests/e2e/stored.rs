//! A task as it is stored, read through the store and not through a verb: what the tests of decisions, sessions and checks look at.
//! What the verbs print of it is tested beside the verbs.

use longhaul_core::ids::TaskId;
use longhaul_core::task::{narrate, sessions};
use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{Store, StoredEvent};
use serde_json::{Value, json};

use crate::env::TestEnv;

impl TestEnv {
    /// The stored task, by name or id.
    pub(crate) fn task(&self, task: &str) -> Value {
        let id = self.task_id(task);
        let stored = self.ask(async move |store| store.load(id).await).expect("the task exists");
        serde_json::to_value(stored.task).unwrap()
    }

    /// All events of a task, oldest first.
    pub(crate) fn events(&self, task: &str) -> Vec<Value> {
        let as_json = |event: &StoredEvent| {
            json!({
                "seq": event.seq,
                "at": event.at.rfc3339(),
                "at_us": event.at.0,
                "epoch": event.epoch,
                "actor": event.actor,
                "event": event.event,
                "text": narrate(&event.event),
                "hash": event.hash,
            })
        };
        self.history(task).iter().map(as_json).collect()
    }

    /// The sessions of a task: what ran and how it ended.
    pub(crate) fn sessions(&self, task: &str) -> Vec<Value> {
        let history = self.history(task);
        let records = sessions(history.iter().map(|event| (event.at, &event.event)));
        records.iter().map(|record| serde_json::to_value(record).unwrap()).collect()
    }

    fn history(&self, task: &str) -> Vec<StoredEvent> {
        let id = self.task_id(task);
        self.ask(async move |store| store.events(id, 0, u32::MAX).await)
    }

    /// The id of the task that a verb would mean by this text.
    fn task_id(&self, task: &str) -> TaskId {
        task.parse().unwrap_or_else(|_| self.json(&["show", task])["task"]["id"].as_str().unwrap().parse().unwrap())
    }

    fn ask<T>(&self, question: impl AsyncFnOnce(&SqliteStore) -> Result<T, longhaul_store::StoreError>) -> T {
        let store = SqliteStore::open_existing(&self.home()).unwrap().expect("the home exists");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(question(&store)).unwrap()
    }
}

//! The SQLite store against the conformance suite, and against what only a file on one machine must bear: other processes,
//! kills, damage, old and newer schemas.

#[path = "../conformance/mod.rs"]
mod conformance;

mod child;
mod conforms;
mod controls;
mod damage;
mod disk;
mod growth;
mod kills;
mod model;
mod opening;
mod processes;
mod tampering;
mod tenants;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use longhaul_store::WholeStore;
use longhaul_store::sqlite::SqliteStore;
use tempfile::TempDir;

use conformance::Harness;

/// A home of its own, removed at the end.
struct SqliteHarness {
    home: TempDir,
}

impl SqliteHarness {
    fn new() -> SqliteHarness {
        SqliteHarness { home: tempfile::tempdir().expect("a temporary home") }
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    fn store(&self) -> SqliteStore {
        SqliteStore::open(self.home()).expect("a store")
    }
}

#[async_trait]
impl Harness for SqliteHarness {
    async fn open(&self) -> Arc<dyn WholeStore> {
        Arc::new(self.store())
    }
}

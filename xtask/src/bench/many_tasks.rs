//! A home with as many tasks as a busy year leaves, all of them finished.
//! Used by the measures about many tasks; made once a run, through the store as a worker would.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::task::Event;
use longhaul_store::sqlite::SqliteStore;
use tokio::task::JoinSet;

use super::sample_task::{advance, planned};
use super::scene::{BenchError, Scene, runtime};

/// So many.
pub(super) const MANY: u32 = 10_000;
/// As many as one sees at a glance.
pub(super) const FEW: u32 = 10;

const AT_A_TIME: usize = 500;

/// The home with many tasks.
pub(super) fn full_home(scene: &Scene) -> Result<PathBuf, BenchError> {
    home_with(scene, "many-tasks", MANY)
}

/// The home with few.
pub(super) fn small_home(scene: &Scene) -> Result<PathBuf, BenchError> {
    home_with(scene, "few-tasks", FEW)
}

fn home_with(scene: &Scene, name: &str, count: u32) -> Result<PathBuf, BenchError> {
    let home = scene.path(name);
    if !home.exists() {
        scene.directory(name)?;
        let store = Arc::new(SqliteStore::open(&home)?);
        runtime()?.block_on(fill(&store, &home, count))?;
    }
    Ok(home)
}

async fn fill(store: &Arc<SqliteStore>, home: &Path, count: u32) -> Result<(), BenchError> {
    let numbers: Vec<u32> = (0..count).collect();
    for part in numbers.chunks(AT_A_TIME) {
        let mut running = JoinSet::new();
        for number in part {
            let (store, home, name) = (Arc::clone(store), home.to_owned(), format!("task-{number}"));
            running.spawn(async move { finished(&store, &home, &name).await });
        }
        running.join_all().await.into_iter().collect::<Result<(), BenchError>>()?;
    }
    Ok(())
}

/// A task that had a plan and a session, and was given up: a worker that comes by finds nothing to do.
async fn finished(store: &SqliteStore, project: &Path, name: &str) -> Result<(), BenchError> {
    let planned = planned(store, project, name).await?;
    advance(store, &planned, Event::Cancelled { by: "bench".to_owned(), reason: None }).await.map(drop)
}

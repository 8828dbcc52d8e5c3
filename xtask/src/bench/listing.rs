//! What reading costs with many tasks: `longhaul list` beside the bare start of the same binary.
//! Called by `plan`.

use std::sync::Arc;

use longhaul_store::sqlite::SqliteStore;
use tokio::task::JoinSet;

use super::figures::{Samples, Unit};
use super::plan::Effort;
use super::sample_task::planned;
use super::scene::{BenchError, Scene, finish, milliseconds, runtime};
use super::table::{Row, Target};

const ROUNDS: usize = 30;
const TASKS: u32 = 1_000;

/// Measures a listing.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    let home = scene.directory("list")?;
    let store = Arc::new(SqliteStore::open(&home)?);
    runtime()?.block_on(fill(&store, &home))?;
    drop(store);
    let [mut measured, mut reference] = [const { Samples::new() }; 2];
    for _ in 0..effort.rounds(ROUNDS) {
        reference.push(milliseconds(|| finish(scene.longhaul(&home, &["--version"])))?);
        measured.push(milliseconds(|| finish(scene.longhaul(&home, &["list", "--all"])))?);
    }
    Ok(vec![Row {
        what: format!("`longhaul list --all` with {TASKS} tasks"),
        beside: "`longhaul --version`".to_owned(),
        unit: Unit::Milliseconds,
        measured,
        reference,
        target: Target::Free,
    }])
}

async fn fill(store: &Arc<SqliteStore>, home: &std::path::Path) -> Result<(), BenchError> {
    let mut running = JoinSet::new();
    for number in 0..TASKS {
        let (store, home) = (Arc::clone(store), home.to_owned());
        running.spawn(async move { planned(&*store, &home, &format!("task-{number}")).await.map(drop) });
    }
    running.join_all().await.into_iter().collect()
}

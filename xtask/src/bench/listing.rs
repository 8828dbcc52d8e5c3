//! What many tasks cost: `longhaul list` beside the bare start of the same binary, and a submission beside one into an empty home.
//! Called by `plan`.

use std::sync::Arc;

use longhaul_store::sqlite::SqliteStore;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::figures::{Samples, Unit};
use super::plan::Effort;
use super::sample_task::{planned, submit};
use super::scene::{BenchError, Scene, finish, milliseconds, runtime};
use super::table::{Row, Target};

const ROUNDS: usize = 30;
const TASKS: u32 = 10_000;
const AT_A_TIME: u32 = 1_000;
const SUBMISSIONS: u32 = 20;

/// Measures a listing.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    let home = scene.directory("list")?;
    let store = Arc::new(SqliteStore::open(&home)?);
    let runtime = runtime()?;
    runtime.block_on(fill(&store, &home))?;
    let submitting = submissions(scene, &runtime, &store, effort)?;
    drop(store);
    let [mut measured, mut reference] = [const { Samples::new() }; 2];
    for _ in 0..effort.rounds(ROUNDS) {
        reference.push(milliseconds(|| finish(scene.longhaul(&home, &["--version"])))?);
        measured.push(milliseconds(|| finish(scene.longhaul(&home, &["list", "--all"])))?);
    }
    let listing = Row {
        what: format!("`longhaul list --all` with {TASKS} tasks"),
        beside: "`longhaul --version`".to_owned(),
        unit: Unit::Milliseconds,
        measured,
        reference,
        target: Target::Free,
    };
    Ok(vec![listing, submitting])
}

/// A submission among many tasks beside one into a home that has none but its own.
fn submissions(scene: &Scene, runtime: &Runtime, full: &SqliteStore, effort: Effort) -> Result<Row, BenchError> {
    let home = scene.directory("list-empty")?;
    let [mut measured, mut reference] = [const { Samples::new() }; 2];
    for round in 0..effort.rounds(ROUNDS) {
        let empty_home = scene.directory(&format!("list-empty-{round}"))?;
        let empty = SqliteStore::open(&empty_home)?;
        for (store, samples) in [(&empty, &mut reference), (full, &mut measured)] {
            samples.push(milliseconds(|| {
                runtime.block_on(async {
                    for number in 0..SUBMISSIONS {
                        submit(store, &home, &format!("late-{round}-{number}")).await?;
                    }
                    Ok(())
                })
            })?);
        }
    }
    Ok(Row {
        what: format!("{SUBMISSIONS} submissions after {TASKS} tasks"),
        beside: "the first ones of a home".to_owned(),
        unit: Unit::Milliseconds,
        measured,
        reference,
        target: Target::AtMost(1.5),
    })
}

async fn fill(store: &Arc<SqliteStore>, home: &std::path::Path) -> Result<(), BenchError> {
    let numbers: Vec<u32> = (0..TASKS).collect();
    for part in numbers.chunks(AT_A_TIME as usize) {
        let mut running = JoinSet::new();
        for number in part {
            let (store, home, name) = (Arc::clone(store), home.to_owned(), format!("task-{number}"));
            running.spawn(async move { planned(&*store, &home, &name).await.map(drop) });
        }
        running.join_all().await.into_iter().collect::<Result<(), BenchError>>()?;
    }
    Ok(())
}

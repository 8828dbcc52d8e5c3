//! What `list` and a submission cost in a home with as many finished tasks as a busy year leaves.
//! Called by `bench`. The homes are made once a run, through the store as a worker would make them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::task::Event;
use longhaul_store::sqlite::SqliteStore;
use tokio::task::JoinSet;

use super::compare::{in_turn, milliseconds};
use super::sample_task::{advance, planned};
use super::scene::{Outcome, Scene, finish, runtime};
use super::table::{Bound, Row};

/// With `--quick`, at most.
const MANY_QUICK: u32 = 1_000;
const FEW: u32 = 10;
const AT_A_TIME: usize = 500;

const LIST_ROUNDS: usize = 30;
const SUBMISSION_ROUNDS: usize = 10;

pub(super) fn many_tasks(scene: &Scene) -> u32 {
    let tasks = scene.arguments.tasks;
    if scene.arguments.quick { tasks.min(MANY_QUICK) } else { tasks }
}

/// Measures listings; their output is thrown away.
pub(super) fn measure_list(scene: &Scene) -> Outcome<Vec<Row>> {
    let tasks = many_tasks(scene);
    let (full, small) = (home_with(scene, tasks)?, home_with(scene, FEW)?);
    let time = |home: &Path, arguments: &[&str]| milliseconds(|| finish(&mut scene.longhaul(home, arguments)));
    let [bare, usual, few, many, few_json, many_json] = in_turn(scene.rounds(LIST_ROUNDS), |_| {
        Ok([
            time(&full, &["--version"])?,
            time(&full, &["list"])?,
            time(&small, &["list", "--all"])?,
            time(&full, &["list", "--all"])?,
            time(&small, &["list", "--all", "--json"])?,
            time(&full, &["list", "--all", "--json"])?,
        ])
    })?;
    let over = usual.with(&bare, |usual, bare| usual - bare);
    let what = format!("`longhaul list` with {tasks} tasks, over `longhaul --version` ({:.2} ms)", bare.median());
    let mut rows = vec![Row::new(what, " ms", &over).gate(Bound::FigureAtMost(20.0))];
    for (flags, many, few, most) in [("--all", many, few, 5.0), ("--all --json", many_json, few_json, 10.0)] {
        let what = format!("`longhaul list {flags}` with {tasks} tasks");
        rows.push(Row::new(what, " ms", &many).beside(format!("the same with {FEW}"), &few));
        let each = many.with(&few, |many, few| (many - few) * 1000.0 / f64::from(tasks - FEW));
        let what = format!("`longhaul list {flags}`: each further row");
        rows.push(Row::new(what, " \u{b5}s", &each).gate(Bound::FigureAtMost(most)));
    }
    Ok(rows)
}

/// Measures submissions.
pub(super) fn measure_submissions(scene: &Scene) -> Outcome<Vec<Row>> {
    // Not an empty home: the first command there also makes the database.
    let tasks = many_tasks(scene);
    let (small, full) = (home_with(scene, FEW)?, home_with(scene, tasks)?);
    let [few, many] = in_turn(scene.rounds(SUBMISSION_ROUNDS), |round| {
        let time = |name: &str, home: &Path| {
            submit_by_command(scene, home, &scene.directory(&format!("submissions-{name}-{round}"))?)
        };
        Ok([time("small", &small)?, time("full", &full)?])
    })?;
    let row = Row::new(format!("`longhaul run --detach` after {tasks} tasks"), " ms", &many);
    Ok(vec![row.beside(format!("the same after {FEW} tasks"), &few).gate(Bound::AtMost(1.5))])
}

/// The time until the command returns; the task ends before the next one is submitted.
fn submit_by_command(scene: &Scene, home: &Path, project: &Path) -> Outcome<f64> {
    let arguments = ["run", "--detach", "--agent", "demo", "--delay", "0s", "--name", "late", "Build it"];
    let mut run = scene.longhaul(home, &arguments);
    let taken = milliseconds(|| finish(run.current_dir(project).env("DEMO_STEPS", "1")))?;
    finish(scene.longhaul(home, &["wait", "late"]).current_dir(project))?;
    Ok(taken)
}

fn home_with(scene: &Scene, count: u32) -> Outcome<PathBuf> {
    let name = format!("home-with-{count}");
    let home = scene.path(&name);
    if !home.exists() {
        scene.directory(&name)?;
        let store = Arc::new(SqliteStore::open(&home)?);
        runtime()?.block_on(fill(&store, &home, count))?;
    }
    Ok(home)
}

async fn fill(store: &Arc<SqliteStore>, home: &Path, count: u32) -> Outcome {
    let numbers: Vec<u32> = (0..count).collect();
    for part in numbers.chunks(AT_A_TIME) {
        let mut running = JoinSet::new();
        for number in part {
            let (store, home, name) = (Arc::clone(store), home.to_owned(), format!("task-{number}"));
            running.spawn(async move { finished(&store, &home, &name).await });
        }
        running.join_all().await.into_iter().collect::<Outcome>()?;
    }
    Ok(())
}

/// A task that had a plan and a session and was cancelled, so that a worker has nothing to do for it.
async fn finished(store: &SqliteStore, project: &Path, name: &str) -> Outcome {
    let planned = planned(store, project, name).await?;
    advance(store, &planned, Event::Cancelled { by: "bench".to_owned(), reason: None }).await.map(drop)
}

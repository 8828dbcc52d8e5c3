//! What a submission costs after many others, beside one after few or none: in the store, and as a command.
//! Called by `plan`. Nothing may be searched from end to end to take one more task in.

use std::path::Path;

use longhaul_store::sqlite::SqliteStore;

use super::figures::{Samples, Unit};
use super::many_tasks::{FEW, MANY, full_home, small_home};
use super::sample_task::submit;
use super::scene::{BenchError, Scene, finish, milliseconds, runtime};
use super::table::{Bound, Comparison, Row, Target};
use super::wishes::Effort;

const ROUNDS: usize = 30;
const COMMAND_ROUNDS: usize = 10;
const A_ROUND: u32 = 20;
const MOST: Bound = Bound::AtMost(1.5);

/// Measures submissions.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    // The commands first: what is submitted below stays open, and a worker would want to serve it.
    let by_command = commands(scene, effort)?;
    Ok(vec![in_store(scene, effort)?, by_command])
}

fn in_store(scene: &Scene, effort: Effort) -> Result<Row, BenchError> {
    let full = SqliteStore::open(&full_home(scene)?)?;
    let runtime = runtime()?;
    let project = scene.directory("submissions")?;
    let [mut measured, mut reference] = [const { Samples::new() }; 2];
    for round in 0..effort.rounds(ROUNDS) {
        let empty = SqliteStore::open(&scene.directory(&format!("submissions-{round}"))?)?;
        for (store, samples) in [(&empty, &mut reference), (&full, &mut measured)] {
            let all = async {
                for number in 0..A_ROUND {
                    submit(store, &project, &format!("late-{round}-{number}")).await?;
                }
                Ok(())
            };
            samples.push(milliseconds(|| runtime.block_on(all))? / f64::from(A_ROUND));
        }
    }
    let beside = "the first of a home".to_owned();
    let comparison = Comparison { unit: Unit::Milliseconds, measured, beside, reference };
    Ok(Row::new(format!("a submission in the store after {MANY} tasks"), comparison, Target::Aim(MOST)))
}

fn commands(scene: &Scene, effort: Effort) -> Result<Row, BenchError> {
    // Not an empty home: the first command there also makes the database.
    let (small, full) = (small_home(scene)?, full_home(scene)?);
    let [mut measured, mut reference] = [const { Samples::new() }; 2];
    for round in 0..effort.rounds(COMMAND_ROUNDS) {
        for (name, home, samples) in [("small", &small, &mut reference), ("full", &full, &mut measured)] {
            let project = scene.directory(&format!("submissions-{name}-{round}"))?;
            samples.push(submit_by_command(scene, home, &project)?);
        }
    }
    let beside = format!("the same after {FEW} tasks");
    let comparison = Comparison { unit: Unit::Milliseconds, measured, beside, reference };
    Ok(Row::new(format!("`longhaul run --detach` after {MANY} tasks"), comparison, Target::Aim(MOST)))
}

/// The time until the command has its answer; the task runs to its end before the next one is submitted.
fn submit_by_command(scene: &Scene, home: &Path, project: &Path) -> Result<f64, BenchError> {
    let mut run =
        scene.longhaul(home, &["run", "--detach", "--agent", "demo", "--delay", "0s", "--name", "late", "Build it"]);
    run.current_dir(project).env("DEMO_STEPS", "1");
    let taken = milliseconds(|| finish(run))?;
    let mut wait = scene.longhaul(home, &["wait", "late"]);
    wait.current_dir(project);
    finish(wait)?;
    Ok(taken)
}

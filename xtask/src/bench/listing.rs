//! What `longhaul list` costs when there are many tasks: beside the bare start of the same binary, and beside few tasks.
//! Called by `plan`. Output is thrown away, as a pipe would take it.

use super::figures::{Samples, Unit};
use super::many_tasks::{FEW, MANY, full_home, small_home};
use super::scene::{BenchError, Scene, finish, milliseconds};
use super::table::{Comparison, Row, Target};
use super::wishes::Effort;

const ROUNDS: usize = 30;

/// Measures listings.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    let (full, small) = (full_home(scene)?, small_home(scene)?);
    let [mut bare, mut few, mut many, mut as_json] = [const { Samples::new() }; 4];
    for _ in 0..effort.rounds(ROUNDS) {
        bare.push(milliseconds(|| finish(scene.longhaul(&full, &["--version"])))?);
        few.push(milliseconds(|| finish(scene.longhaul(&small, &["list", "--all"])))?);
        many.push(milliseconds(|| finish(scene.longhaul(&full, &["list", "--all"])))?);
        as_json.push(milliseconds(|| finish(scene.longhaul(&full, &["list", "--all", "--json"])))?);
    }
    let what = format!("`longhaul list --all` with {MANY} tasks");
    let json = format!("`longhaul list --all --json` with {MANY} tasks");
    let version = "`longhaul --version`".to_owned();
    let row = |what: &str, measured: &Samples, beside: String, reference: &Samples| {
        let (measured, reference) = (measured.clone(), reference.clone());
        Row::new(what, Comparison { unit: Unit::Milliseconds, measured, beside, reference }, Target::Free)
    };
    Ok(vec![
        row(&what, &many, version.clone(), &bare),
        row(&what, &many, format!("the same with {FEW} tasks"), &few),
        row(&json, &as_json, version, &bare),
    ])
}

//! What a whole task costs a session: `longhaul run` with the demo agent, from the command to the end it shows.
//! Called by `plan`. Beside it stands the bare start of the same binary; the difference is worker, store, keeper and agent.

use std::process::Stdio;

use super::figures::{Samples, Unit};
use super::plan::Effort;
use super::scene::{BenchError, Scene, failed, finish, milliseconds};
use super::table::{Row, Target};

const ROUNDS: usize = 10;
const STEPS: u32 = 10;

/// Measures a task of one planning session and one session a step.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    let home = scene.directory("task")?;
    let [mut measured, mut reference] = [const { Samples::new() }; 2];
    for round in 0..effort.rounds(ROUNDS) {
        let workspace = scene.directory(&format!("workspace-{round}"))?;
        let name = format!("round-{round}");
        reference.push(milliseconds(|| finish(scene.longhaul(&home, &["--version"])))?);
        let whole = milliseconds(|| {
            let mut run = scene.longhaul(&home, &["run", "--agent", "demo", "--name", &name, "Build it"]);
            run.current_dir(&workspace).env("DEMO_STEPS", STEPS.to_string()).env("DEMO_STEPS_PER_SESSION", "1");
            finish(run)
        })?;
        let mut show = scene.longhaul(&home, &["show", &name, "--json"]);
        let shown = show.current_dir(&workspace).stdout(Stdio::piped()).output().map_err(failed("show the task"))?;
        measured.push(whole / sessions_in(&shown.stdout)?);
    }
    Ok(vec![Row {
        what: format!("one session of a whole task (`run --agent demo`, {STEPS} steps)"),
        beside: "`longhaul --version`".to_owned(),
        unit: Unit::Milliseconds,
        measured,
        reference,
        target: Target::Free,
    }])
}

fn sessions_in(shown: &[u8]) -> Result<f64, BenchError> {
    let value: serde_json::Value = serde_json::from_slice(shown).unwrap_or_default();
    let sessions = value["data"]["task"]["tally"]["sessions"].as_f64().filter(|sessions| *sessions > 0.0);
    sessions.ok_or_else(|| BenchError::Unexpected {
        what: "the answer of `show --json`",
        found: String::from_utf8_lossy(shown).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::sessions_in;

    #[test]
    fn sessions_are_read_and_none_is_an_error() {
        let shown = |count: u32| format!("{{\"v\":1,\"data\":{{\"task\":{{\"tally\":{{\"sessions\":{count}}}}}}}}}");
        assert_eq!(sessions_in(shown(11).as_bytes()).ok(), Some(11.0));
        assert!(sessions_in(shown(0).as_bytes()).is_err());
        assert!(sessions_in(b"nothing").is_err());
    }
}

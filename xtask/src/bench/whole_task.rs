//! What a whole task costs a session: `longhaul run` with the demo agent, from the command to the end it shows.
//! Called by `plan`. Beside it a shell loop runs the same agent through the same plan, with neither keeper nor store nor sync.

use std::path::Path;
use std::process::{Command, Stdio};

use super::figures::{Samples, Unit};
use super::scene::{BenchError, Scene, failed, finish, milliseconds};
use super::shell_loop::{Available, ShellLoop};
use super::table::{Comparison, Row, Target};
use super::wishes::Effort;

const ROUNDS: usize = 10;
const STEPS: u32 = 10;

/// Measures tasks of one planning session and one session a step.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    let shell = match ShellLoop::prepare(scene)? {
        Available::Yes(shell) => shell,
        Available::No { why } => return Ok(vec![Row::not_measured(what(Workspace::Plain), why)]),
    };
    [Workspace::Plain, Workspace::Git].into_iter().map(|kind| tasks_in(scene, effort, &shell, kind)).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Workspace {
    Plain,
    Git,
}

fn what(kind: Workspace) -> String {
    let place = match kind {
        Workspace::Plain => "a plain directory",
        Workspace::Git => "a git repository",
    };
    format!("one session of a whole task in {place} (`run --agent demo`, {STEPS} steps)")
}

fn tasks_in(scene: &Scene, effort: Effort, shell: &ShellLoop, kind: Workspace) -> Result<Row, BenchError> {
    let home = scene.directory(&format!("task-{kind:?}"))?;
    let [mut measured, mut reference] = [const { Samples::new() }; 2];
    for round in 0..effort.rounds(ROUNDS) {
        let [plain, ours] = ["shell", "ours"].map(|whose| workspace(scene, &format!("{whose}-{kind:?}-{round}"), kind));
        let plain = plain?;
        let mut sessions = 0.0;
        let whole = milliseconds(|| {
            sessions = shell.run(scene, &plain, STEPS)?;
            Ok(())
        })?;
        reference.push(whole / sessions);
        measured.push(supervised(scene, &home, &ours?, &format!("round-{round}"))?);
    }
    let beside = "a shell loop with mkdir, tee and jq around the same agent".to_owned();
    Ok(Row::new(what(kind), Comparison { unit: Unit::Milliseconds, measured, beside, reference }, Target::Free))
}

/// The milliseconds of one session of one task.
fn supervised(scene: &Scene, home: &Path, workspace: &Path, name: &str) -> Result<f64, BenchError> {
    let whole = milliseconds(|| {
        let mut run = scene.longhaul(home, &["run", "--agent", "demo", "--delay", "0s", "--name", name, "Build it"]);
        run.current_dir(workspace).env("DEMO_STEPS", STEPS.to_string()).env("DEMO_STEPS_PER_SESSION", "1");
        finish(run)
    })?;
    let mut show = scene.longhaul(home, &["show", name, "--json"]);
    let shown = show.current_dir(workspace).stdout(Stdio::piped()).output().map_err(failed("show the task"))?;
    Ok(whole / sessions_in(&shown.stdout)?)
}

fn workspace(scene: &Scene, name: &str, kind: Workspace) -> Result<std::path::PathBuf, BenchError> {
    let path = scene.directory(name)?;
    if kind == Workspace::Git {
        git(&path, &["init", "--quiet"])?;
        std::fs::write(path.join("README.md"), "# Here\n").map_err(failed("write a file"))?;
        git(&path, &["add", "--all"])?;
        git(&path, &["-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "--quiet", "-m", "start"])?;
    }
    Ok(path)
}

fn git(directory: &Path, arguments: &[&str]) -> Result<(), BenchError> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    finish(command)
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

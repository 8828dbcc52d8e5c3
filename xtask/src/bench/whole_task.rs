//! What a whole task costs a session: `longhaul run` with the demo agent, from the command to the end it shows.
//! Called by `bench`. The reference is a shell loop that runs the same agent through the same plan, without keeper, store or sync.

use std::path::{Path, PathBuf};

use longhaul_store::sqlite::SqliteStore;
use longhaul_store::{Filter, Store};

use super::compare::{in_turn, milliseconds};
use super::scene::{Outcome, Scene, ensure, finish, runtime, silent};
use super::table::{Bound, Row};

const ROUNDS: usize = 10;
const STEPS: u32 = 10;
/// One for the plan, and one for each step.
const SESSIONS: u32 = STEPS + 1;
const SHELL_LOOP: &str = include_str!("shell_loop.sh");

/// Measures tasks in a plain directory and in a git repository.
pub(super) fn measure(scene: &Scene) -> Outcome<Vec<Row>> {
    let what = |place| format!("one session of a whole task in {place} (`run --agent demo`, {STEPS} steps)");
    for program in ["bash", "jq"] {
        if finish(silent(program).arg("--version")).is_err() {
            return Ok(vec![Row::not_measured(what("any directory"), format!("its reference needs `{program}`"))]);
        }
    }
    std::fs::write(scene.path("shell_loop.sh"), SHELL_LOOP)?;
    let plain = tasks(scene, &what("a plain directory"), "plain", Scene::directory)?;
    let git = tasks(scene, &what("a git repository"), "git", Scene::git_repository)?;
    Ok(vec![plain, git.gate(Bound::AtMost(1.5))])
}

fn tasks(scene: &Scene, what: &str, kind: &str, make: fn(&Scene, &str) -> Outcome<PathBuf>) -> Outcome<Row> {
    let home = scene.directory(&format!("task-{kind}"))?;
    let [shell, supervised] = in_turn(scene.rounds(ROUNDS), |round| {
        let [theirs, ours] = ["shell", "ours"].map(|whose| make(scene, &format!("{whose}-{kind}-{round}")));
        let (theirs, ours) = (theirs?, ours?);
        let shell = milliseconds(|| run_shell_loop(scene, &theirs))?;
        let supervised = milliseconds(|| run_supervised(scene, &home, &ours, &format!("round-{round}")))?;
        Ok([shell, supervised].map(|whole| whole / f64::from(SESSIONS)))
    })?;
    check_sessions(&home)?;
    Ok(Row::new(what, " ms", &supervised).beside("a shell loop with mkdir, tee and jq around the same agent", &shell))
}

/// The script itself counts the sessions and fails at another number.
fn run_shell_loop(scene: &Scene, workspace: &Path) -> Outcome {
    let mut shell = silent("bash");
    shell.arg(scene.path("shell_loop.sh")).arg(&scene.binary).args(["shell", "Build it", &SESSIONS.to_string()]);
    shell.current_dir(workspace).env("LONGHAUL_HOME", workspace.join(".longhaul"));
    finish(shell.env("DEMO_STEPS", STEPS.to_string()).env("DEMO_STEPS_PER_SESSION", "1"))
}

fn run_supervised(scene: &Scene, home: &Path, workspace: &Path, name: &str) -> Outcome {
    let mut run = scene.longhaul(home, &["run", "--agent", "demo", "--delay", "0s", "--name", name, "Build it"]);
    finish(run.current_dir(workspace).env("DEMO_STEPS", STEPS.to_string()).env("DEMO_STEPS_PER_SESSION", "1"))
}

/// Fewer or more sessions than the shell loop had would make the comparison unfair.
fn check_sessions(home: &Path) -> Outcome {
    let store = SqliteStore::open(home)?;
    let sessions = runtime()?.block_on(store.summaries(Filter::default()))?.tasks.into_iter().map(|task| task.sessions);
    let other: Vec<u32> = sessions.filter(|sessions| *sessions != SESSIONS).collect();
    ensure(other.is_empty(), || format!("tasks had {other:?} sessions instead of {SESSIONS}"))
}

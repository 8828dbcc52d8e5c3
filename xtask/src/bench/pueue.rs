//! Small tasks from the first command to the last end, beside pueue: a queue for commands with a daemon of its own.
//! Called by `plan` when asked for; builds pueue from crates.io once, below the target directory. pueue's tasks are the shell
//! loop around the same demo agent. It keeps no output by itself beyond a file, syncs nothing and adopts nothing.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::figures::{Samples, Unit};
use super::scene::{BenchError, Scene, failed, finish, milliseconds, wait_for};
use super::shell_loop::{Available, ShellLoop};
use super::table::{Comparison, Row, Target};
use super::wishes::Effort;

const ROUNDS: usize = 5;
const TASKS: u32 = 20;
/// Both run so many at once.
const AT_ONCE: &str = "8";
const WHAT: &str = "20 tasks of one step (`run --detach`, then `wait`)";

/// Measures both queues.
pub(super) fn measure(scene: &Scene, effort: Effort) -> Result<Vec<Row>, BenchError> {
    let shell = match ShellLoop::prepare(scene)? {
        Available::Yes(shell) => shell,
        Available::No { why } => return Ok(vec![Row::not_measured(WHAT, why)]),
    };
    let tools = match install(scene) {
        Ok(tools) => tools,
        Err(error) => return Ok(vec![Row::not_measured(WHAT, format!("pueue could not be built: {error}"))]),
    };
    let home = scene.directory("pueue-beside")?;
    let mut worker = scene.longhaul(&home, &["worker", "--stay", "--sessions", AT_ONCE]);
    let _worker = Running(worker.spawn().map_err(failed("start a worker"))?);
    let queue = Queue::start(scene, &tools)?;
    let [mut measured, mut reference] = [const { Samples::new() }; 2];
    for round in 0..effort.rounds(ROUNDS) {
        reference.push(milliseconds(|| queue.run_all(scene, &shell, round))? / f64::from(TASKS));
        measured.push(milliseconds(|| supervise_all(scene, &home, round))? / f64::from(TASKS));
    }
    let beside = "pueue, with the shell loop as its tasks".to_owned();
    let what = format!("one of {WHAT}, {AT_ONCE} at once");
    Ok(vec![Row::new(what, Comparison { unit: Unit::Milliseconds, measured, beside, reference }, Target::Free)])
}

fn install(scene: &Scene) -> Result<PathBuf, BenchError> {
    let root = scene.target.join("bench-tools");
    let tools = root.join("bin");
    if !(tools.join("pueue").exists() && tools.join("pueued").exists()) {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["install", "--locked", "--quiet", "--version", "^4", "pueue", "--root"]).arg(&root);
        command.arg("--target-dir").arg(root.join("build"));
        finish(command)?;
    }
    Ok(tools)
}

fn supervise_all(scene: &Scene, home: &Path, round: usize) -> Result<(), BenchError> {
    let mut waiting = Vec::new();
    for number in 0..TASKS {
        let workspace = scene.directory(&format!("pueue-ours-{round}-{number}"))?;
        let mut run = scene
            .longhaul(home, &["run", "--detach", "--agent", "demo", "--delay", "0s", "--name", "small", "Build it"]);
        run.current_dir(&workspace).env("DEMO_STEPS", "1").env("DEMO_STEPS_PER_SESSION", "1");
        finish(run)?;
        waiting.push(workspace);
    }
    for workspace in waiting {
        let mut wait = scene.longhaul(home, &["wait", "small"]);
        wait.current_dir(&workspace);
        finish(wait)?;
    }
    Ok(())
}

/// A daemon of pueue with settings and directories of its own.
struct Queue {
    client: PathBuf,
    settings: PathBuf,
    _daemon: Running,
}

impl Queue {
    fn start(scene: &Scene, tools: &Path) -> Result<Queue, BenchError> {
        let directory = scene.directory("pueue")?;
        let settings = directory.join("pueue.yml");
        let place = directory.display();
        let text = format!(
            "client: {{}}\ndaemon: {{}}\nshared:\n  pueue_directory: {place}\n  runtime_directory: {place}\n  \
             use_unix_socket: true\n"
        );
        std::fs::write(&settings, text).map_err(failed("write the settings of pueue"))?;
        let mut daemon = silent(tools.join("pueued"));
        daemon.arg("--config").arg(&settings);
        let daemon = Running(daemon.spawn().map_err(failed("start pueued"))?);
        let queue = Queue { client: tools.join("pueue"), settings, _daemon: daemon };
        wait_for("the daemon of pueue", || Ok(queue.tell(&["status"]).ok()))?;
        queue.tell(&["parallel", AT_ONCE])?;
        Ok(queue)
    }

    fn run_all(&self, scene: &Scene, shell: &ShellLoop, round: usize) -> Result<(), BenchError> {
        for number in 0..TASKS {
            let workspace = scene.directory(&format!("pueue-theirs-{round}-{number}"))?;
            let call = shell.command(scene, &workspace, "small");
            let mut add = self.command(&["add", "--escape", "--working-directory"]);
            add.arg(&workspace).arg("--").arg(call.get_program()).args(call.get_args());
            add.envs(call.get_envs().filter_map(|(name, value)| Some((name, value?))));
            add.env("DEMO_STEPS", "1").env("DEMO_STEPS_PER_SESSION", "1");
            finish(add)?;
        }
        self.tell(&["wait", "--quiet"])?;
        self.check(round)
    }

    /// A task that failed at once would be the quickest of all.
    fn check(&self, round: usize) -> Result<(), BenchError> {
        let output = self.command(&["status", "--json"]).stdout(Stdio::piped()).output();
        let output = output.map_err(failed("ask pueue"))?;
        let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let tasks =
            status["tasks"].as_object().map_or(0, |tasks| tasks.values().filter(|task| is_success(task)).count());
        let expected = (round + 1) * TASKS as usize;
        if tasks == expected {
            return Ok(());
        }
        Err(BenchError::Unexpected { what: "the tasks of pueue", found: format!("{tasks} of {expected} succeeded") })
    }

    fn tell(&self, arguments: &[&str]) -> Result<(), BenchError> {
        finish(self.command(arguments))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = silent(&self.client);
        command.arg("--config").arg(&self.settings).args(arguments);
        command
    }
}

fn is_success(task: &serde_json::Value) -> bool {
    task["status"]["Done"]["result"] == "Success"
}

fn silent(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// A process of ours; ended when it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

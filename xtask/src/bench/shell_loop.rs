//! A loop in shell around the same demo agent, as runners without a supervisor do it: the reference for whole tasks.
//! Used by `whole_task` and `pueue`. It needs bash and jq; where jq is missing root installs it, others are told.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::scene::{BenchError, Scene, failed, finish};

const SCRIPT: &str = include_str!("shell_loop.sh");

/// A script in the scratch directory that runs tasks.
pub(super) struct ShellLoop {
    script: PathBuf,
}

/// Whether the loop can run here.
pub(super) enum Available {
    Yes(ShellLoop),
    No { why: String },
}

impl ShellLoop {
    /// Writes the script and looks for the programs it needs.
    pub(super) fn prepare(scene: &Scene) -> Result<Available, BenchError> {
        for program in ["bash", "jq"] {
            if !runs(program) {
                install(program);
            }
            if !runs(program) {
                return Ok(Available::No { why: format!("the shell loop beside it needs `{program}`") });
            }
        }
        let script = scene.path("shell_loop.sh");
        std::fs::write(&script, SCRIPT).map_err(failed("write the shell loop"))?;
        Ok(Available::Yes(ShellLoop { script }))
    }

    /// Runs one task in a workspace and tells how many sessions it took.
    pub(super) fn run(&self, scene: &Scene, workspace: &Path, steps: u32) -> Result<f64, BenchError> {
        let mut command = self.command(scene, workspace, "shell");
        command.current_dir(workspace).env("DEMO_STEPS", steps.to_string()).env("DEMO_STEPS_PER_SESSION", "1");
        let output = command.stderr(Stdio::null()).output().map_err(failed("start the shell loop"))?;
        let told = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let sessions = told.parse::<f64>().ok().filter(|_| output.status.success());
        sessions.ok_or(BenchError::Unexpected { what: "the shell loop", found: format!("{told}, {}", output.status) })
    }

    /// The call for one task.
    pub(super) fn command(&self, scene: &Scene, workspace: &Path, task: &str) -> Command {
        let mut command = Command::new("bash");
        command.arg(&self.script).arg(&scene.binary).args([task, "Build it"]);
        command.env("DEMO_AGENT_HOME", workspace.join(".demo-agent")).stdin(Stdio::null());
        command
    }
}

fn runs(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    finish(command).is_ok()
}

/// What it does not achieve is seen by looking for the program again.
fn install(program: &str) {
    if rustix::process::geteuid().is_root() {
        let mut command = Command::new("apt-get");
        command.args(["install", "--yes", "--no-install-recommends", program]);
        command.env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()).stdout(Stdio::null());
        finish(command).ok();
    }
}

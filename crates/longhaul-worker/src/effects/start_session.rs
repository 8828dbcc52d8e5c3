//! Starting a committed session: its directory is written, then its keeper spawned, once and never again.
//! Called by the attend effect of the very process that committed the start. What an adopter finds is not started from here.

use std::process::Child;

use longhaul_agents::{Agent, LaunchSpec, StopSignal};
use longhaul_core::task::SessionRun;
use longhaul_keeper::{CONTRACT_VERSION, Caps, SessionDir, Spec, fail_point, prepare_session, spawn_keeper};

use super::Job;
use crate::prompt::prompt;
use crate::task_dir::TaskDir;

/// How a program of our own is named in argv: the keeper's own executable, even when its path was replaced meanwhile.
#[cfg(target_os = "linux")]
const OWN_PROGRAM: &str = "/proc/self/exe";
#[cfg(not(target_os = "linux"))]
const OWN_PROGRAM: &str = "longhaul";

/// Why a session was not started. Nothing of it runs.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error("the session's directory cannot be written: {0}")]
    Prepare(#[from] longhaul_keeper::PrepareError),
    #[error("its keeper cannot be spawned: {0}")]
    Spawn(#[source] std::io::Error),
}

pub(super) fn start(
    job: &Job,
    session: &SessionRun,
    agent: &dyn Agent,
    dir: &TaskDir,
) -> Result<(SessionDir, Child), StartError> {
    let context = &job.context;
    let text = prompt(&job.task, session, &dir.path().display().to_string());
    let spec = spec(job, session, agent);
    let dir = prepare_session(&context.home.sessions(), session.id, &spec, text.as_bytes())?;
    fail_point::reach("worker.session_written");
    let child = spawn_keeper(&context.executable, &dir).map_err(StartError::Spawn)?;
    fail_point::reach("worker.keeper_spawned");
    Ok((dir, child))
}

fn spec(job: &Job, session: &SessionRun, agent: &dyn Agent) -> Spec {
    let submission = &job.task.submission;
    let launch = agent.launch(&LaunchSpec {
        own_program: OWN_PROGRAM,
        resumes: session.resumes.as_deref(),
        model: submission.model.as_deref(),
    });
    Spec {
        version: CONTRACT_VERSION,
        session: session.id,
        task: job.task.id.to_string(),
        epoch: job.epoch,
        argv: launch.argv,
        cwd: submission.workspace.clone().into(),
        env_unset: launch.env_unset,
        env_set: launch.env_set.into_iter().collect(),
        env_pass: None,
        stop: launch.stop.into_iter().map(stop_step).collect(),
        silence_ms: submission.policy.silence_ms,
        wall_ms: submission.policy.wall_ms,
        drain_ms: 2000,
        caps: Caps::default(),
    }
}

fn stop_step(step: longhaul_agents::StopStep) -> longhaul_keeper::StopStep {
    let signal = match step.signal {
        StopSignal::Interrupt => longhaul_keeper::StopSignal::Int,
        StopSignal::Terminate => longhaul_keeper::StopSignal::Term,
    };
    longhaul_keeper::StopStep { signal, grace_ms: step.grace_ms }
}

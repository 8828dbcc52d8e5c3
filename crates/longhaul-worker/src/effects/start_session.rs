//! Starting a committed session: its directory is written, then its keeper spawned, once and never again.
//! Called by the attend effect of the very process that committed the start. What an adopter finds is not started from here.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Child;

use longhaul_agents::{Agent, Launch, LaunchSpec, StopSignal, UnknownAgent};
use longhaul_core::task::{Policy, SessionRun, Task};
use longhaul_keeper::{CONTRACT_VERSION, Caps, SessionDir, Spec, fail_point, prepare_session, spawn_keeper};
use rustix::io::Errno;

use super::Job;
use crate::prompt::prompt;
use crate::task_dir::{STATE_DIR, TaskDir};

/// How a program of our own is named in argv: the keeper's own executable, even when its path was replaced meanwhile.
#[cfg(target_os = "linux")]
const OWN_PROGRAM: &str = "/proc/self/exe";
#[cfg(not(target_os = "linux"))]
const OWN_PROGRAM: &str = "longhaul";

/// How long a check has after TERM.
const CHECK_GRACE_MS: u64 = 5000;

/// Why a session was not started. Nothing of it runs.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error("the session's directory cannot be written: {0}")]
    Prepare(#[from] longhaul_keeper::PrepareError),
    #[error("its keeper cannot be spawned: {0}")]
    Spawn(#[source] std::io::Error),
}

impl StartError {
    /// Whether the machine lacks room, processes, memory or descriptors: then the same start may succeed later.
    pub(super) fn passes(&self) -> bool {
        let mut cause: Option<&(dyn Error + 'static)> = Some(self);
        while let Some(error) = cause {
            if error.downcast_ref::<io::Error>().is_some_and(is_lack) {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

fn is_lack(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    let lacks = [Kind::StorageFull, Kind::QuotaExceeded, Kind::ReadOnlyFilesystem, Kind::OutOfMemory, Kind::WouldBlock];
    let none_left = [Errno::MFILE.raw_os_error(), Errno::NFILE.raw_os_error()];
    lacks.contains(&error.kind()) || error.raw_os_error().is_some_and(|number| none_left.contains(&number))
}

/// What a session runs.
#[derive(Clone, Copy)]
pub(super) enum Program<'a> {
    /// The task's agent.
    Agent(&'static dyn Agent),
    /// A check of the result: the one place where a shell reads what a person wrote.
    Check(&'a str),
}

impl<'a> Program<'a> {
    /// What this session of the task runs.
    pub(super) fn of(task: &Task, session: &'a SessionRun) -> Result<Program<'a>, UnknownAgent> {
        match &session.command {
            Some(command) => Ok(Program::Check(command)),
            None => longhaul_agents::find(&task.submission.agent).map(Program::Agent),
        }
    }

    /// The agent, if it is one.
    pub(super) fn agent(self) -> Option<&'static dyn Agent> {
        match self {
            Program::Agent(agent) => Some(agent),
            Program::Check(_) => None,
        }
    }

    fn launch(self, task: &Task, session: &SessionRun) -> Launch {
        match self {
            Program::Agent(agent) => agent.launch(&LaunchSpec {
                own_program: OWN_PROGRAM,
                resumes: session.resumes.as_deref(),
                model: task.submission.model.as_deref(),
                writable: writable(task),
            }),
            Program::Check(command) => Launch {
                argv: ["sh", "-c", command].map(str::to_owned).to_vec(),
                env_set: Vec::new(),
                env_unset: Vec::new(),
                stop: vec![longhaul_agents::StopStep { signal: StopSignal::Terminate, grace_ms: CHECK_GRACE_MS }],
            },
        }
    }
}

/// The task directory, when the agent starts below the root it lies in and may be confined to where it starts.
fn writable(task: &Task) -> Option<PathBuf> {
    let below = task.cwd() != task.root();
    below.then(|| Path::new(task.root()).join(STATE_DIR).join(task.submission.name.as_ref()))
}

pub(super) fn start(
    job: &Job,
    session: &SessionRun,
    program: Program<'_>,
    dir: &TaskDir,
) -> Result<(SessionDir, Child), StartError> {
    let context = &job.context;
    let text = prompt(&job.task, session, &dir.path().display().to_string());
    let spec = spec(job, session, program);
    let dir = prepare_session(&context.home.sessions(), session.id, &spec, text.as_bytes())?;
    fail_point::reach("worker.session_written");
    let child = spawn_keeper(&context.executable, &dir).map_err(StartError::Spawn)?;
    fail_point::reach("worker.keeper_spawned");
    Ok((dir, child))
}

fn spec(job: &Job, session: &SessionRun, program: Program<'_>) -> Spec {
    let submission = &job.task.submission;
    let launch = program.launch(&job.task, session);
    // A check may be silent for as long as it likes; its deadline is the wall.
    let (silence_ms, wall_ms) = match program {
        Program::Agent(_) => (submission.policy.silence_ms, job.task.session_wall_ms()),
        Program::Check(_) => (None, submission.policy.check_ms),
    };
    Spec {
        version: CONTRACT_VERSION,
        session: session.id,
        task: job.task.id.to_string(),
        epoch: job.epoch,
        argv: launch.argv,
        cwd: job.task.cwd().into(),
        env_unset: launch.env_unset,
        env_set: launch.env_set.into_iter().collect(),
        env_pass: submission.env_only.clone(),
        secret_names: submission.secret_names.clone(),
        stop: launch.stop.into_iter().map(stop_step).collect(),
        silence_ms,
        wall_ms,
        drain_ms: 2000,
        caps: caps(&submission.policy),
    }
}

fn caps(policy: &Policy) -> Caps {
    let defaults = Caps::default();
    Caps {
        segment_bytes: policy.log_segment.unwrap_or(defaults.segment_bytes),
        log_bytes: policy.log_cap.unwrap_or(defaults.log_bytes),
        ..defaults
    }
}

fn stop_step(step: longhaul_agents::StopStep) -> longhaul_keeper::StopStep {
    let signal = match step.signal {
        StopSignal::Interrupt => longhaul_keeper::StopSignal::Int,
        StopSignal::Terminate => longhaul_keeper::StopSignal::Term,
    };
    longhaul_keeper::StopStep { signal, grace_ms: step.grace_ms }
}

//! Starting a committed session: its directory is written, then its keeper spawned, once and never again.
//! Called by the attend effect of the very process that committed the start. What an adopter finds is not started from here.

use std::io;
use std::process::Child;

use longhaul_agents::{Chosen, Launch, LaunchSpec, Stdin, UnknownAgent};
use longhaul_core::task::{Patience, SessionRun, StopSignal, StopStep, Task};
use longhaul_keeper::files::{wants_resources, wants_room};
use longhaul_keeper::{
    CONTRACT_VERSION, Caps, Marking, PROMPT, SessionDir, Spec, Standing, fail_point, prepare_session, spawn_keeper_with,
};

use super::Job;
use super::session_server::{Server, command_for_shells, merged};
use longhaul_app::{TaskDir, passed, pointer, prompt, spec_of, writable};

/// How a program of our own is named in argv: the keeper's own executable, even when its path was replaced meanwhile.
#[cfg(target_os = "linux")]
const OWN_PROGRAM: &str = "/proc/self/exe";
#[cfg(not(target_os = "linux"))]
const OWN_PROGRAM: &str = "longhaul";

/// The program that carries out the demo agent: this one, or in debug builds the one that a test names.
fn own_program() -> String {
    match std::env::var("LONGHAUL_TEST_DEMO_AGENT") {
        Ok(program) if cfg!(debug_assertions) => program,
        _ => OWN_PROGRAM.to_owned(),
    }
}

/// How long a check has after TERM.
const CHECK_GRACE_MS: u64 = 5000;

/// Why a session was not started. Nothing of it runs.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error("cannot write the session's directory: {0}")]
    Prepare(#[from] longhaul_keeper::PrepareError),
    #[error("cannot start its keeper: {0}")]
    Spawn(#[source] std::io::Error),
}

impl StartError {
    /// Whether the machine lacks room, processes, memory or descriptors: then the same start may succeed later.
    pub(super) fn is_transient(&self) -> bool {
        let itself: &(dyn std::error::Error + 'static) = self;
        let chain = std::iter::successors(Some(itself), |error| error.source());
        let mut causes = chain.filter_map(|error| error.downcast_ref::<io::Error>());
        causes.any(|error| wants_room(error) || wants_resources(error))
    }
}

/// What a session runs.
pub(super) enum Program<'a> {
    /// An agent of the task.
    Agent(Chosen),
    /// A check of the result: the one place where a shell reads what a person wrote.
    Check(&'a str),
}

impl<'a> Program<'a> {
    /// What this session of the task runs.
    pub(super) fn of(task: &Task, session: &'a SessionRun) -> Result<Program<'a>, UnknownAgent> {
        match &session.command {
            Some(command) => Ok(Program::Check(command)),
            None => longhaul_agents::choose(&session.agent, &task.submission.declared).map(Program::Agent),
        }
    }

    /// The agent, if it is one.
    pub(super) fn agent(&self) -> Option<Chosen> {
        match self {
            Program::Agent(agent) => Some(agent.clone()),
            Program::Check(_) => None,
        }
    }

    /// Where it starts.
    fn cwd<'task>(&self, task: &'task Task) -> &'task str {
        match self {
            Program::Agent(_) => task.cwd(),
            Program::Check(_) => task.check_cwd(),
        }
    }

    /// A check behaves as it does without us, wherever its processes are held without a marker.
    fn marking(&self) -> Marking {
        match self {
            Program::Agent(_) => Marking::Always,
            Program::Check(_) => Marking::WithoutGroup,
        }
    }

    fn launch(&self, job: &Job, session: &SessionRun) -> Launch {
        match self {
            Program::Agent(agent) => launch(agent, job, session),
            Program::Check(command) => {
                let argv = ["sh", "-c", command].map(str::to_owned).to_vec();
                Launch::new(argv, &[StopStep { signal: StopSignal::Terminate, grace_ms: CHECK_GRACE_MS }])
            }
        }
    }
}

fn launch(agent: &Chosen, job: &Job, session: &SessionRun) -> Launch {
    let task = &job.task;
    let writable = writable(task);
    let prompt_file = job.context.home.session(session.id).join(PROMPT).display().to_string();
    let server = Server::of(job, session);
    let argument = task.submission.driver.conduct().prompt_as_argument.then(|| pointer(task, session, &prompt_file));
    agent.launch(&LaunchSpec {
        own_program: &own_program(),
        extra: &agent.declared().arguments,
        session: &session.id.to_string(),
        mark: &session.mark(task.id),
        resumes: session.resumes.as_deref(),
        prompt_file: &prompt_file,
        argument: argument.as_deref(),
        server: server.as_ref().map(Server::spec),
        ..spec_of(agent, task, writable.as_deref())
    })
}

pub(super) fn start(
    job: &Job,
    session: &SessionRun,
    program: &Program<'_>,
    dir: &TaskDir,
) -> Result<(SessionDir, Child), StartError> {
    let context = &job.context;
    let text = prompt(&job.task, session, &dir.path().display().to_string(), &command_for_shells(job));
    let launch = program.launch(job, session);
    let environment = merged(&job.environment, &launch.env_merge);
    let spec = spec(job, session, program, launch);
    let dir = prepare_session(&context.home.sessions(), session.id, &spec, text.as_bytes())?;
    fail_point::reach("worker.session_written");
    let variables: Vec<_> = environment.iter().collect();
    let child = spawn_keeper_with(&context.executable, &dir, standing(job), &variables).map_err(StartError::Spawn)?;
    fail_point::reach("worker.keeper_spawned");
    Ok((dir, child))
}

/// systemd-run finds the user manager by variables that the session keeps: without ours it would fail, and then for every task.
fn standing(job: &Job) -> Standing {
    let is_ours = |name: &str| job.environment.get(name) == std::env::var_os(name).as_deref();
    let finds_manager = is_ours("XDG_RUNTIME_DIR") && is_ours("DBUS_SESSION_BUS_ADDRESS");
    if job.task.submission.patience.scopes && finds_manager { Standing::OwnScope } else { Standing::Plain }
}

fn spec(job: &Job, session: &SessionRun, program: &Program<'_>, launch: Launch) -> Spec {
    let submission = &job.task.submission;
    let (silence_ms, wall_ms) = spans(&submission.patience, job.task.session_wall_ms(), program);
    Spec {
        version: CONTRACT_VERSION,
        session: session.id,
        task: job.task.id.to_string(),
        epoch: job.epoch,
        argv: launch.argv,
        cwd: program.cwd(&job.task).into(),
        // With those an agent could speak for us.
        env_unset: [launch.env_unset, submission.notify.variables()].concat(),
        env_set: launch.env_set.into_iter().collect(),
        env_pass: passed(submission, program.agent().as_ref()),
        secret_names: submission.secret_names.clone(),
        marking: program.marking(),
        no_input: launch.stdin == Stdin::Null,
        stop: launch.stop,
        silence_ms,
        spare_busy: submission.patience.spare_busy,
        wall_ms,
        drain_ms: 2000,
        caps: caps(&submission.patience),
    }
}

/// How long the session may be silent, and how long it may run.
fn spans(patience: &Patience, wall_left_ms: Option<u64>, program: &Program<'_>) -> (Option<u64>, Option<u64>) {
    match program {
        Program::Agent(agent) => {
            let declared = agent.declared();
            // What a person says of the task takes the agent's own out of what is declared.
            // Of two bounds the smaller one counts.
            let wall_ms = declared.wall_ms.into_iter().chain(wall_left_ms).min();
            (declared.silence_ms.or(patience.silence_ms), wall_ms)
        }
        // A check may be silent for as long as it likes; its deadline is the wall.
        Program::Check(_) => (None, patience.check_ms),
    }
}

fn caps(patience: &Patience) -> Caps {
    let defaults = Caps::default();
    Caps {
        segment_bytes: patience.log_segment.unwrap_or(defaults.segment_bytes),
        log_bytes: patience.log_cap.unwrap_or(defaults.log_bytes),
        ..defaults
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::{Patience, Program, spans};

    fn silence(declared: Option<&str>, of_task: Option<u64>) -> Option<u64> {
        let table = declared.map_or(json!({}), |span| json!({ "silence": span }));
        let agent = longhaul_agents::choose("codex", &BTreeMap::from([("codex".to_owned(), table)]));
        let agent = agent.unwrap_or_else(|error| panic!("{error}"));
        let patience = Patience { silence_ms: of_task, ..Patience::default() };
        spans(&patience, None, &Program::Agent(agent)).0
    }

    #[test]
    fn what_is_declared_of_an_agent_counts_before_what_holds_for_all() {
        assert_eq!(silence(Some("10s"), Some(3000)), Some(10_000));
        assert_eq!(silence(Some("10s"), Some(30_000)), Some(10_000));
        assert_eq!(silence(Some("10s"), None), Some(10_000));
        assert_eq!(silence(None, Some(3000)), Some(3000));
        assert_eq!(silence(None, None), None);
    }
}

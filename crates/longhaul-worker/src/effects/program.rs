//! Runs a program that takes a message: in its own process group, for a bounded time, with the end of its error output if it fails.
//! Used by the channels of `notify` that are programs. A program that hangs is killed with its group.

use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use longhaul_keeper::{Bounded, Environment, Keep, is_own_variable};

use longhaul_app::Home;

/// Between two looks whether it has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// As much of its output as is kept.
const SAID: usize = 2_000;

/// A program to be run.
pub(crate) struct Call {
    /// Its name on PATH, or its path.
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Environment,
    /// Beside those of the environment.
    pub(crate) variables: Vec<(&'static str, String)>,
    /// What it can read.
    pub(crate) input: Vec<u8>,
    pub(crate) directory: PathBuf,
}

impl Call {
    /// A program that is given nothing but its arguments and runs in the home.
    pub(crate) fn new(home: &Home, program: &str, arguments: Vec<String>, environment: &Environment) -> Call {
        Call {
            program: program.to_owned(),
            arguments,
            environment: environment.clone(),
            variables: Vec::new(),
            input: Vec::new(),
            directory: home.root().to_owned(),
        }
    }
}

/// Why a program did not take a message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    /// It was not found.
    #[error("program `{program}` was not found")]
    NotFound { program: String },
    /// It could not be run.
    #[error("failed to run `{program}`")]
    Run {
        program: String,
        #[source]
        source: io::Error,
    },
    /// It did not end.
    #[error("`{program}` did not finish within {within:?} and was killed")]
    TimedOut { program: String, within: Duration },
    /// It failed.
    #[error("`{program}` ended with {status}: {said}")]
    Failed { program: String, status: ExitStatus, said: String },
}

/// Runs it to its end, which has to be a success and in time.
pub(crate) async fn run(call: Call, within: Duration) -> Result<(), ProgramError> {
    let program = call.program.clone();
    let path =
        call.environment.find_program(&program).ok_or_else(|| ProgramError::NotFound { program: program.clone() })?;
    let failed = |source| ProgramError::Run { program: program.clone(), source };
    let mut running = start(path, &call).map_err(failed)?;
    let until = Instant::now() + within;
    loop {
        match running.attend(Duration::ZERO).map_err(failed)? {
            Some(end) if end.status.success() => return Ok(()),
            Some(end) => return Err(ProgramError::Failed { program, status: end.status, said: said(&end.err) }),
            None if Instant::now() >= until => return Err(ProgramError::TimedOut { program, within }),
            None => tokio::time::sleep(LOOK_AGAIN).await,
        }
    }
}

fn start(path: PathBuf, call: &Call) -> io::Result<Bounded> {
    let mut command = Command::new(path);
    command
        .args(&call.arguments)
        .env_clear()
        .envs(call.environment.iter().filter(|(name, _)| !is_own_variable(name)))
        .envs(call.variables.iter().map(|(name, value)| (name, value)))
        .current_dir(&call.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    Bounded::start(&mut command, call.input.clone(), [Keep::Last(0), Keep::Last(SAID)])
}

/// The end of what it said, on one line.
fn said(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() { "no error output".to_owned() } else { text }
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;

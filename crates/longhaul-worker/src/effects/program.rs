//! Runs a program that takes a message: in its own process group, for a bounded time, with the end of its error output if it fails.
//! Used by the channels of `notify` that are programs. A program that hangs is killed with its group.

use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use longhaul_keeper::{Bounded, Environment, Keep, is_own_variable};

/// Between two looks whether it has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// As much of its output as is kept.
const SAID: usize = 2_000;

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

/// A program of an environment, which sees none of our own variables.
pub(crate) fn command(program: &str, environment: &Environment) -> Result<Command, ProgramError> {
    let path = environment.find_program(program);
    let path = path.ok_or_else(|| ProgramError::NotFound { program: program.to_owned() })?;
    let mut command = Command::new(path);
    command.env_clear().envs(environment.iter().filter(|(name, _)| !is_own_variable(name)));
    Ok(command)
}

/// Runs a program with this input to its end, which has to be a success and in time.
pub(crate) async fn run(
    program: &str,
    mut command: Command,
    input: Vec<u8>,
    within: Duration,
) -> Result<(), ProgramError> {
    let program = program.to_owned();
    let failed = |source| ProgramError::Run { program: program.clone(), source };
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let running = Bounded::start(&mut command, input, [Keep::Last(0), Keep::Last(SAID)]);
    let mut running = running.map_err(failed)?;
    let until = Instant::now() + within;
    loop {
        match running.attend(Duration::ZERO).map_err(failed)? {
            Some(end) if end.status.success() => return Ok(()),
            Some(end) => return Err(ProgramError::Failed { program, status: end.status, said: said(&end.err) }),
            None if Instant::now() >= until => {
                running.kill();
                // One that hangs in the kernel does not even die, and must hold up no other task.
                std::thread::spawn(move || drop(running));
                return Err(ProgramError::TimedOut { program, within });
            }
            None => tokio::time::sleep(LOOK_AGAIN).await,
        }
    }
}

/// The end of what it said, on one line.
fn said(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() { "no error output".to_owned() } else { text }
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;

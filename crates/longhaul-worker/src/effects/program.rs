//! Runs a program that takes a message: in its own process group, for a bounded time, with the end of its error output if it fails.
//! Used by the channels of `notify` that are programs. A program that hangs is killed with its group.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use longhaul_keeper::{Environment, is_own_variable};

use super::process_group;
use longhaul_app::Home;

/// Between two looks whether it has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// How long the end of its output is waited for once it has ended: one of its children may hold the pipe forever.
const LAST_WORDS: Duration = Duration::from_millis(200);
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
    let mut group = Group { child: start(path, &call).map_err(failed)?, ended: false };
    let words = listen(&mut group.child);
    feed(&mut group.child, call.input);
    let until = Instant::now() + within;
    while !group.has_ended().map_err(failed)? {
        if Instant::now() >= until {
            return Err(ProgramError::TimedOut { program, within });
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let status = group.child.wait().map_err(failed)?;
    if status.success() {
        return Ok(());
    }
    Err(ProgramError::Failed { program, status, said: words.end().await })
}

fn start(path: PathBuf, call: &Call) -> io::Result<Child> {
    Command::new(path)
        .args(&call.arguments)
        .env_clear()
        .envs(call.environment.iter().filter(|(name, _)| !is_own_variable(name)))
        .envs(call.variables.iter().map(|(name, value)| (name, value)))
        .current_dir(&call.directory)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
}

/// A program and what it started, killed when this is dropped, unless it has ended.
struct Group {
    child: Child,
    ended: bool,
}

impl Group {
    fn has_ended(&mut self) -> io::Result<bool> {
        self.ended = process_group::has_ended(&self.child)?;
        Ok(self.ended)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.ended {
            process_group::end(&mut self.child).ok();
        }
    }
}

/// A program that reads nothing must hold nobody up: it is fed beside the wait, and a closed pipe is no failure.
fn feed(child: &mut Child, input: Vec<u8>) {
    if let Some(mut pipe) = child.stdin.take() {
        std::thread::spawn(move || pipe.write_all(&input));
    }
}

/// What it says, kept as it comes.
struct Words {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

fn listen(child: &mut Child) -> Words {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&kept);
    let reader = child.stderr.take().map(|mut pipe| {
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = pipe.read(&mut chunk) {
                let mut kept = into.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&chunk[..length]);
                let over = kept.len().saturating_sub(SAID);
                kept.drain(..over);
            }
        })
    });
    Words { kept, reader }
}

impl Words {
    /// The end of it, on one line.
    async fn end(self) -> String {
        let until = Instant::now() + LAST_WORDS;
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished()) && Instant::now() < until {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept).split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() { "no error output".to_owned() } else { text }
    }
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;

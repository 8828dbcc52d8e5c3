//! Starting other processes for a person: detached workers. The only place in the binary crate that does, beside the demo agent.
//!
//! A worker gets this shell's environment, a session of its own, and one line on its stdin; nothing of a goal is in its argv.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use longhaul_keeper::Executable;
use longhaul_worker::{Answer, Handover, Home};

use crate::error::CliError;
use crate::exit::Code;
use crate::opened::Opened;

/// How long a program of the system may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
const MOST_ANSWER: u64 = 64 << 10;

/// What came back from a worker that was handed something.
pub(crate) enum Reply {
    /// Its one line.
    Answer(Answer),
    /// It ended without one: whether anything was committed, only the store can tell.
    Silence,
}

/// Starts a detached worker, hands it one input and waits for its line.
pub(crate) fn hand_over(opened: &Opened, handover: &Handover) -> Result<Reply, CliError> {
    let mut child = worker(opened, &["worker", "--only", "--handover"])?
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| cannot_start(&error))?;
    let line = serde_json::to_string(handover).map_err(|error| cannot_start(&error))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A worker that died before reading is found out by its silence.
        writeln!(stdin, "{line}").ok();
    }
    let mut answer = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut answer).ok();
    }
    reap_later(child);
    Ok(serde_json::from_str(&answer).map_or(Reply::Silence, Reply::Answer))
}

/// Starts a detached worker that adopts what dead owners left.
pub(crate) fn start_worker(opened: &Opened, arguments: &[&str]) -> Result<u32, CliError> {
    let child = worker(opened, arguments)?.spawn().map_err(|error| cannot_start(&error))?;
    let pid = child.id();
    reap_later(child);
    Ok(pid)
}

/// What a program of the system prints about itself; none if it is not there, fails, or does not end soon. For `doctor`.
pub(crate) fn answer_of(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let deadline = Instant::now() + PATIENCE;
    let succeeded = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(LOOK_AGAIN),
            Ok(None) | Err(_) => {
                child.kill().ok();
                reap_later(child);
                return None;
            }
        }
    };
    let mut text = String::new();
    // The answers are short enough to wait in the pipe.
    child.stdout.take()?.take(MOST_ANSWER).read_to_string(&mut text).ok()?;
    succeeded.then_some(text)
}

/// Makes a git repository for the demo; without git the demo works too.
pub(crate) fn git_init(directory: &Path) -> bool {
    Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn worker(opened: &Opened, arguments: &[&str]) -> Result<Command, CliError> {
    let executable = Executable::open_own().map_err(|error| cannot_start(&error))?;
    let mut command = executable.command(arguments);
    let root = opened.home.root();
    command.env("LONGHAUL_HOME", root).current_dir(root);
    command.envs(opened.worker_env.iter().map(|(name, value)| (name, value)));
    if let Ok(log) = worker_log(&opened.home) {
        command.stderr(log);
    }
    // The descriptor must live until the spawn; a command lives for this process only.
    std::mem::forget(executable);
    Ok(command)
}

fn worker_log(home: &Home) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(home.root().join("worker.log"))
}

/// While this process lives its ended workers must not stay as zombies.
fn reap_later(mut child: std::process::Child) {
    std::thread::spawn(move || child.wait());
}

fn cannot_start(error: &dyn std::error::Error) -> CliError {
    CliError::new(Code::Failure, "cannot start a worker").because(error).hint("see that the home is writable")
}

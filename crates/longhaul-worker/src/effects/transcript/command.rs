//! A transcript that a command of the agent prints. The command runs in its own group with the environment its session had, gets a
//! while for everything, and nothing of the group outlives the question. Used by the transcript effect; it never tells that a
//! conversation does not exist, because a command that fails may fail for any reason.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use longhaul_keeper::{Environment, Spec, is_own_variable};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::process_group;
use super::source::{CAP, Conversation};

/// How long a command has to print one.
pub(super) const DEADLINE: Duration = Duration::from_secs(60);
/// Between two looks whether it has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What a command of the session's program prints.
pub(super) fn from_command(
    program: &str,
    arguments: &[String],
    spec: &Spec,
    own: &Environment,
    deadline: Duration,
) -> Conversation {
    let Some(program) = own.find_program(program) else { return Conversation::Unknown };
    let spawned = Command::new(program)
        .args(arguments)
        .current_dir(&spec.cwd)
        .env_clear()
        .envs(environment(spec, own))
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = spawned else { return Conversation::Unknown };
    let printed = read_all(&mut child, Instant::now() + deadline);
    match (printed, process_group::end(&mut child)) {
        (Ok(Some(bytes)), Ok(status)) if status.success() && !bytes.is_empty() => {
            Conversation::Bytes { bytes, whole: true }
        }
        _ => Conversation::Unknown,
    }
}

/// What of these variables the session had, as its keeper chose them.
fn environment(spec: &Spec, own: &Environment) -> impl Iterator<Item = (OsString, OsString)> {
    let listed = |name: &OsStr, list: &[String]| list.iter().any(|entry| OsStr::new(entry) == name);
    let passes = move |name: &OsStr| {
        !is_own_variable(name)
            && spec.env_pass.as_ref().is_none_or(|pass| listed(name, pass))
            && !listed(name, &spec.env_unset)
    };
    let set = spec.env_set.iter().map(|(name, value)| (name.into(), value.into()));
    let passed = own.iter().filter(move |(name, _)| passes(name));
    passed.map(|(name, value)| (name.to_owned(), value.to_owned())).chain(set)
}

/// All that the command prints until it ends; none when that is too much or takes too long.
fn read_all(child: &mut Child, until: Instant) -> io::Result<Option<Vec<u8>>> {
    let Some(output) = child.stdout.take() else { return Ok(None) };
    let mut printed = Printed::new(output);
    let in_time = || Instant::now() < until;
    while !process_group::has_ended(child)? {
        if !in_time() {
            return Ok(None);
        }
        printed.take(LOOK_AGAIN)?;
    }
    // All it printed is in the pipe by now, and a child that still holds the pipe is not waited for.
    while in_time() && printed.take(Duration::ZERO)? {}
    Ok(printed.whole().filter(|_| in_time()))
}

/// What was printed so far.
struct Printed {
    output: ChildStdout,
    bytes: Vec<u8>,
    chunk: Vec<u8>,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    Open,
    Closed,
    /// More than can be kept was printed; the rest is only drained.
    TooMuch,
}

impl Printed {
    fn new(output: ChildStdout) -> Printed {
        Printed { output, bytes: Vec::new(), chunk: vec![0; 64 << 10], state: State::Open }
    }

    /// Takes what comes within the patience; says whether something did.
    fn take(&mut self, patience: Duration) -> io::Result<bool> {
        if self.state == State::Closed {
            std::thread::sleep(patience);
            return Ok(false);
        }
        let timeout = Timespec::try_from(patience).map_err(io::Error::other)?;
        if poll(&mut [PollFd::from_borrowed_fd(self.output.as_fd(), PollFlags::IN)], Some(&timeout))? == 0 {
            return Ok(false);
        }
        let length = self.output.read(&mut self.chunk)?;
        if length == 0 {
            // What was too much stays so.
            if self.state == State::Open {
                self.state = State::Closed;
            } else {
                std::thread::sleep(patience);
            }
            return Ok(false);
        }
        self.keep(length);
        Ok(true)
    }

    fn keep(&mut self, length: usize) {
        if (self.bytes.len() + length) as u64 > CAP {
            self.state = State::TooMuch;
            self.bytes = Vec::new();
        }
        if self.state == State::Open {
            self.bytes.extend_from_slice(&self.chunk[..length]);
        }
    }

    fn whole(self) -> Option<Vec<u8>> {
        (self.state != State::TooMuch).then_some(self.bytes)
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;

//! Runs a program that must end soon: in its own process group, fed and read as it goes, with a bound on what is kept of its output.
//!
//! Used for git, for programs of the system and for those that a person names. Agents have keepers instead. The end is what wait says:
//! a child that the program left behind, and that still holds its pipes, is not waited for. Whoever drops a program that has not ended
//! kills its whole group.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::tree::process::descriptor_of;

/// Between two looks, where the system does not tell when a process ends.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// A killed program that has not ended by then hangs in the kernel, perhaps on a dead disk, and nobody can end it.
const TO_DIE: Duration = Duration::from_secs(2);
const CHUNK: usize = 64 << 10;
/// Reads and writes of one look: together more than any pipe holds, so that one look takes all that an ended program has printed.
const CHUNKS: usize = 17;

/// What is kept of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The first bytes, so many and one more by which the caller can tell; then the pipe is closed.
    First(usize),
    /// The last bytes; all others are read too, so that the program can print to its end.
    Last(usize),
}

/// How a program ended, and what is kept of its output.
#[derive(Debug)]
pub struct ProgramEnd {
    /// What the wait said.
    pub status: ExitStatus,
    /// Standard output, if it was a pipe.
    pub out: Vec<u8>,
    /// Standard error, if it was a pipe.
    pub err: Vec<u8>,
}

/// A program that runs.
#[derive(Debug)]
pub struct Bounded {
    child: Child,
    /// Becomes readable at its end; none where the system has no such descriptor.
    death: Option<OwnedFd>,
    stdin: Option<OwnedFd>,
    input: VecDeque<u8>,
    /// More input may come.
    wants_more: bool,
    out: Output,
    err: Output,
    ends_group: bool,
    has_ended: bool,
}

impl Bounded {
    /// Starts a command whose standard streams are set; `keep` is for standard output and standard error.
    pub fn start(command: &mut Command, input: Vec<u8>, keep: [Keep; 2]) -> io::Result<Bounded> {
        let mut child = command.process_group(0).spawn()?;
        let stdin = child.stdin.take().map(OwnedFd::from);
        let (out, err) = (child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from));
        let program = Bounded {
            death: descriptor_of(&child).ok(),
            child,
            stdin,
            input: input.into(),
            wants_more: false,
            out: Output { pipe: out, keep: keep[0], bytes: VecDeque::new() },
            err: Output { pipe: err, keep: keep[1], bytes: VecDeque::new() },
            ends_group: false,
            has_ended: false,
        };
        for pipe in [&program.stdin, &program.out.pipe, &program.err.pipe].into_iter().flatten() {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        Ok(program)
    }

    /// The same, with everything that it started killed once it has ended.
    #[must_use]
    pub fn ending_its_group(mut self) -> Bounded {
        self.ends_group = true;
        self
    }

    /// The same, with its standard input left open for more, until [`Bounded::finish`].
    #[must_use]
    pub fn wanting_more(mut self) -> Bounded {
        self.wants_more = true;
        self
    }

    /// Gives it its last input.
    pub fn finish(&mut self, input: &[u8]) {
        self.input.extend(input);
        self.wants_more = false;
    }

    /// What is kept so far of its standard output.
    pub fn printed(&mut self) -> &[u8] {
        self.out.bytes.make_contiguous()
    }

    /// Waits for the end; none if it does not come within this time.
    pub fn wait_for(&mut self, time: Duration) -> io::Result<Option<ProgramEnd>> {
        let deadline = Instant::now() + time;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let patience = if self.death.is_some() { left } else { left.min(LOOK_AGAIN) };
            if let Some(end) = self.attend(patience)? {
                return Ok(Some(end));
            }
            if left.is_zero() {
                return Ok(None);
            }
        }
    }

    /// Feeds it and reads what it prints, once, waiting at most this long for either. Returns its end, once.
    pub fn attend(&mut self, patience: Duration) -> io::Result<Option<ProgramEnd>> {
        // Asked before reading: all that a program has printed is in its pipes when it has ended.
        let has_ended = self.is_zombie()?;
        if !has_ended {
            self.wait(patience)?;
        }
        self.feed();
        self.out.read();
        self.err.read();
        if !has_ended {
            return Ok(None);
        }
        if self.ends_group {
            self.kill();
        }
        let status = self.child.wait()?;
        self.has_ended = true;
        let [out, err] = [&mut self.out, &mut self.err].map(|output| std::mem::take(&mut output.bytes).into());
        Ok(Some(ProgramEnd { status, out, err }))
    }

    /// Kills its whole group, and waits for nothing.
    pub fn kill(&self) {
        // Not reaped yet, so its number, which is its group's too, can be nobody else's.
        kill_process_group(Pid::from_child(&self.child), Signal::KILL).ok();
    }

    /// Waits for the end of a killed program, but not forever. One that ends later stays a zombie until this process ends.
    fn reap_within(&mut self, time: Duration) {
        // Nobody reads or feeds it any more, so only its end may wake the wait.
        (self.stdin, self.out.pipe, self.err.pipe) = (None, None, None);
        let deadline = Instant::now() + time;
        while let Ok(None) = self.child.try_wait() {
            let left = deadline.saturating_duration_since(Instant::now());
            let patience = if self.death.is_some() { left } else { left.min(LOOK_AGAIN) };
            if left.is_zero() || self.wait(patience).is_err() {
                return;
            }
        }
    }

    fn is_zombie(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(&self.child)), options)?.is_some())
    }

    fn wait(&self, patience: Duration) -> io::Result<()> {
        let readable = [&self.death, &self.out.pipe, &self.err.pipe].into_iter().flatten();
        let readable = readable.map(|pipe| PollFd::new(pipe, PollFlags::IN));
        let has_input = !self.wants_more || !self.input.is_empty();
        let writable = self.stdin.iter().filter(|_| has_input).map(|pipe| PollFd::new(pipe, PollFlags::OUT));
        let timeout = Timespec::try_from(patience).map_err(io::Error::other)?;
        match poll(&mut readable.chain(writable).collect::<Vec<_>>(), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// A program that ends early does not want the rest of its input; its exit status says what that means.
    fn feed(&mut self) {
        for _ in 0..CHUNKS {
            let Some(pipe) = &self.stdin else { return };
            if self.wants_more && self.input.is_empty() {
                return;
            }
            match rustix::io::write(pipe, self.input.as_slices().0) {
                Ok(written) if written < self.input.len() || self.wants_more => drop(self.input.drain(..written)),
                Err(Errno::AGAIN | Errno::INTR) => return,
                Ok(_) | Err(_) => self.stdin = None,
            }
        }
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        if !self.has_ended {
            self.kill();
            self.reap_within(TO_DIE);
        }
    }
}

/// One stream of a program.
#[derive(Debug)]
struct Output {
    pipe: Option<OwnedFd>,
    keep: Keep,
    bytes: VecDeque<u8>,
}

impl Output {
    fn read(&mut self) {
        let mut chunk = [0; CHUNK];
        for _ in 0..CHUNKS {
            let Some(pipe) = &self.pipe else { return };
            match rustix::io::read(pipe, &mut chunk[..]) {
                Ok(length @ 1..) => self.take(&chunk[..length]),
                Err(Errno::AGAIN | Errno::INTR) => return,
                Ok(0) | Err(_) => self.pipe = None,
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        match self.keep {
            Keep::First(most) if self.bytes.len() > most => {
                self.bytes.truncate(most + 1);
                self.pipe = None;
            }
            Keep::First(_) => {}
            Keep::Last(most) => drop(self.bytes.drain(..self.bytes.len().saturating_sub(most))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::{Bounded, Keep, ProgramEnd};

    const WHILE: Duration = Duration::from_secs(60);
    const ALL: [Keep; 2] = [Keep::First(usize::MAX), Keep::First(usize::MAX)];

    fn start(script: &str, input: Vec<u8>, keep: [Keep; 2]) -> Bounded {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Bounded::start(&mut command, input, keep).unwrap()
    }

    fn run(script: &str, input: Vec<u8>, keep: [Keep; 2]) -> ProgramEnd {
        start(script, input, keep).wait_for(WHILE).unwrap().expect("it ends in time")
    }

    #[test]
    fn more_input_and_output_than_pipes_hold_arrives_whole() {
        let input: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let end = run("echo begin >&2; cat; echo end >&2; exit 3", input.clone(), ALL);
        assert!(end.out == input, "{} of {} bytes", end.out.len(), input.len());
        assert_eq!((end.status.code(), &*end.err), (Some(3), &b"begin\nend\n"[..]));
    }

    #[test]
    fn what_is_kept_is_the_first_or_the_last() {
        let end = run("printf 12345; printf 12345 >&2", Vec::new(), [Keep::First(3), Keep::Last(3)]);
        assert_eq!((&*end.out, &*end.err), (&b"1234"[..], &b"345"[..]));
        let endless = run("exec cat /dev/zero", Vec::new(), [Keep::First(10), Keep::Last(0)]);
        assert!(!endless.status.success() && endless.out.len() == 11, "the pipe was closed");
    }

    #[test]
    fn a_program_without_an_end_is_late_and_its_group_is_killed_when_it_is_dropped() {
        let mut endless = start("while :; do echo x; done", Vec::new(), [Keep::Last(10), Keep::Last(0)]);
        let began = Instant::now();
        assert!(endless.wait_for(Duration::from_millis(100)).unwrap().is_none());
        assert!(began.elapsed() < WHILE);
        let (read, write) = std::io::pipe().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & sleep 600"]).stdin(Stdio::null()).stdout(write);
        let mut sleeping = Bounded::start(&mut command, Vec::new(), ALL).unwrap();
        drop(command);
        assert!(sleeping.attend(Duration::ZERO).unwrap().is_none());
        drop(sleeping);
        assert_eq!(std::io::read_to_string(read).unwrap(), "", "nobody holds the pipe any more");
    }

    /// A program that does not die is played by one that was not killed.
    #[test]
    fn a_program_that_does_not_die_is_left_behind() {
        let mut stuck = start("exec sleep 600", Vec::new(), ALL);
        let began = Instant::now();
        stuck.reap_within(Duration::from_millis(50));
        assert!(began.elapsed() < WHILE && stuck.child.try_wait().unwrap().is_none());
        let mut killed = start("exec sleep 600", Vec::new(), ALL);
        killed.kill();
        killed.reap_within(WHILE);
        assert!(killed.child.try_wait().unwrap().is_some(), "the control");
    }

    #[test]
    fn a_child_that_holds_the_pipe_is_not_waited_for_and_is_killed_only_where_that_is_asked() {
        let began = Instant::now();
        let script = "sleep 600 & echo $!";
        let left = run(script, Vec::new(), ALL);
        let ended = start(script, Vec::new(), ALL).ending_its_group().wait_for(WHILE).unwrap().unwrap();
        assert!(began.elapsed() < WHILE);
        let pid = |end: ProgramEnd| String::from_utf8(end.out).unwrap().trim().parse::<u32>().unwrap();
        let (left, ended) = (pid(left), pid(ended));
        assert!(crate::process::exits_within(ended, WHILE).unwrap());
        let left = i32::try_from(left).ok().and_then(rustix::process::Pid::from_raw).unwrap();
        rustix::process::kill_process(left, rustix::process::Signal::KILL).expect("it still runs");
    }
}

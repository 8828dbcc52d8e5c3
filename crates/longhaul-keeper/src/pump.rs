//! The keeper's loop while a program runs: output to the logs, signals and limits to the program, its end to the
//! caller.
//!
//! The keeper calls `run_to_exit`, then `drain`, then `end_tree`, then `finish`. One thread, one poll, one buffer.
//! The end of a program is what wait says, never a closed pipe. While the logs wait for room nothing is read and no limit
//! runs: the program waits for us.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use longhaul_core::task::StopSignal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, wait};

use crate::clock::now;
use crate::contract::{Containment, ExitStatus, Spec, Why};
use crate::files::wants_room;
use crate::log::index::Stream;
use crate::log::writer::{LogTotals, Logs};
use crate::os::{Signals, dumped_core};
use crate::silence::Silence;
use crate::stop::{Due, StopCourse};
use crate::tree::contain::{Kin, Tree};
use crate::tree::process::Process;

const BUFFER: usize = 64 * 1024;

/// The read ends of a program's output, not blocking.
pub(crate) struct Outputs {
    /// Standard output.
    pub(crate) out: OwnedFd,
    /// Standard error.
    pub(crate) err: OwnedFd,
}

/// Everything the loop holds.
pub(crate) struct Pump {
    child: Process,
    streams: Vec<(Stream, OwnedFd)>,
    logs: Logs,
    signals: Signals,
    tree: Tree,
    course: StopCourse,
    silence: Silence,
    began: Instant,
    wall_at: Option<Instant>,
    drain: Duration,
    stalled_since: Option<Instant>,
    buffer: Vec<u8>,
}

impl Pump {
    /// A pump for a program that was just let go.
    pub(crate) fn new(spec: &Spec, child: Process, outputs: Outputs, logs: Logs, signals: Signals, tree: Tree) -> Pump {
        let now = Instant::now();
        Pump {
            child,
            streams: vec![(Stream::Out, outputs.out), (Stream::Err, outputs.err)],
            logs,
            signals,
            tree,
            course: StopCourse::new(spec.stop.clone()),
            silence: Silence::new(spec, now),
            wall_at: spec.wall_ms.and_then(|wall| now.checked_add(Duration::from_millis(wall))),
            drain: Duration::from_millis(spec.drain_ms),
            began: now,
            stalled_since: None,
            buffer: vec![0; BUFFER],
        }
    }

    /// How long the program has been let go.
    pub(crate) fn ran_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Runs until the program was waited for.
    pub(crate) fn run_to_exit(&mut self) -> io::Result<(ExitStatus, Why)> {
        loop {
            // Asked before signals and limits, so that a program that ended on its own is never recorded as stopped.
            if let Some(status) = self.reap()? {
                return Ok((status, self.course.why()));
            }
            let now = Instant::now();
            self.hear(now);
            self.mind_stall(now);
            self.enforce_limits(now);
            if self.course.why() != Why::Own {
                self.logs.wait_no_more();
            }
            self.stop_further(now);
            self.logs.sync_if_due(now);
            let wake_at = self.next_wake(now);
            self.wait_and_read(wake_at)?;
        }
    }

    /// Takes output that is still coming, until all writers are gone, time is over, or the end is asked for at once.
    pub(crate) fn drain(&mut self) {
        let mut left = self.drain;
        while !self.streams.is_empty() && !left.is_zero() {
            let begin = Instant::now();
            let heard = self.signals.take();
            if heard.interrupt || heard.terminate {
                self.logs.wait_no_more();
            }
            if heard.interrupt {
                break;
            }
            self.mind_stall(begin);
            self.logs.sync_if_due(begin);
            let stalled = self.logs.stalled_until();
            let deadline = if stalled.is_some() { None } else { begin.checked_add(left) };
            let wake_at = [deadline, stalled, self.logs.sync_at()].into_iter().flatten().min();
            if self.wait_and_read(wake_at).is_err() {
                break;
            }
            if stalled.is_none() {
                left = left.saturating_sub(begin.elapsed());
            }
        }
    }

    /// Ends what is left of the tree; returns how many leftovers were killed and whether the tree is empty.
    pub(crate) fn end_tree(&mut self) -> (u32, bool) {
        let swept = self.tree.end(reap_all);
        (self.tree.killed_besides(Some(self.child)), swept.is_ok_and(|swept| swept.left == 0))
    }

    /// How the tree was held together.
    pub(crate) fn containment(&self) -> Containment {
        self.tree.containment()
    }

    /// Takes what is left in the pipes and closes the logs; waits for room, unless the end was or is asked for.
    pub(crate) fn finish(&mut self) -> LogTotals {
        let deadline = Instant::now() + Duration::from_secs(1);
        while self.read_each() && Instant::now() < deadline {}
        self.logs.close();
        loop {
            while let Some(at) = self.logs.stalled_until() {
                self.wait_for_signal(at);
                let heard = self.signals.take();
                if heard.interrupt || heard.terminate {
                    self.logs.wait_no_more();
                }
                self.logs.retry_if_due(Instant::now());
            }
            let totals = self.logs.finish();
            if self.logs.stalled_until().is_none() {
                return totals;
            }
        }
    }

    /// Writes a record; a full disk gets one more chance with the room of the ballast.
    pub(crate) fn write_with_ballast(&mut self, write: impl Fn() -> io::Result<()>) -> io::Result<()> {
        match write() {
            Err(error) if wants_room(&error) && self.logs.reserve().free_ballast() => write(),
            other => other,
        }
    }

    /// Writes a record as soon as there is room for it.
    pub(crate) fn write_when_there_is_room(&mut self, write: impl Fn() -> io::Result<()>) -> io::Result<()> {
        let mut pause = Duration::from_millis(10);
        loop {
            match self.write_with_ballast(&write) {
                Err(error) if wants_room(&error) => self.logs.reserve().tell(&error, now()),
                other => return other,
            }
            self.wait_for_signal(Instant::now() + pause);
            self.signals.take();
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    /// Removes what was kept for bad times.
    pub(crate) fn remove_reserve(&mut self) {
        self.logs.reserve().remove();
    }

    /// Stops the clocks while the program waits for us.
    fn mind_stall(&mut self, now: Instant) {
        self.logs.retry_if_due(now);
        match (self.logs.stalled_until(), self.stalled_since) {
            (Some(_), None) => self.stalled_since = Some(now),
            (None, Some(since)) => {
                self.stalled_since = None;
                self.silence.broken(now);
                self.wall_at = self.wall_at.and_then(|at| at.checked_add(now - since));
            }
            _ => {}
        }
    }

    fn reap(&mut self) -> io::Result<Option<ExitStatus>> {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid.as_raw_pid().unsigned_abs() == self.child.pid => {
                    return Ok(Some(exit_status(status)));
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) | Err(Errno::CHILD) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn hear(&mut self, now: Instant) {
        let heard = self.signals.take();
        if heard.interrupt {
            self.course.end_now();
        } else if heard.terminate {
            self.course.begin(Why::Terminated, now);
        }
    }

    fn enforce_limits(&mut self, now: Instant) {
        if self.stalled_since.is_some() {
            return;
        }
        if self.wall_at.is_some_and(|at| at <= now) {
            self.course.begin(Why::Wall, now);
        } else if self.silence.is_over(now, || self.tree.processor_time().ok()) {
            self.course.begin(Why::Silence, now);
        }
    }

    fn stop_further(&mut self, now: Instant) {
        match self.course.take_due(now) {
            None => {}
            Some(Due::Send(signal)) => {
                self.signal_group(signal_of(signal));
                // A stopped process would never handle the signal.
                self.signal_group(Signal::CONT);
            }
            Some(Due::EndTree) => {
                self.signal_group(Signal::KILL);
                // Tried again in a moment until the program is gone.
                let _tried_again = self.tree.strike();
            }
        }
    }

    fn signal_group(&self, signal: Signal) {
        // By number is safe here alone: the child is ours and not reaped, so its number can not be used again.
        if let Some(group) = i32::try_from(self.child.pid).ok().and_then(Pid::from_raw) {
            let _gone_is_fine = kill_process_group(group, signal);
        }
    }

    fn next_wake(&self, now: Instant) -> Option<Instant> {
        let stopping = self.course.why() != Why::Own;
        // Once a stop runs, limits have nothing more to say and must not keep the loop spinning.
        let limits = if stopping || self.stalled_since.is_some() {
            [None, None]
        } else {
            [self.silence.next_at(), self.wall_at]
        };
        let logs = [self.logs.stalled_until(), self.logs.sync_at()];
        limits.into_iter().chain(logs).chain([self.course.next_at(now)]).flatten().min()
    }

    fn wait_and_read(&mut self, wake_at: Option<Instant>) -> io::Result<()> {
        if let Some(until) = self.logs.stalled_until() {
            self.wait_for_signal(wake_at.map_or(until, |at| at.min(until)));
            return Ok(());
        }
        let mut interests = vec![PollFd::new(&self.signals, PollFlags::IN)];
        interests
            .extend(self.streams.iter().map(|(_, stream)| PollFd::from_borrowed_fd(stream.as_fd(), PollFlags::IN)));
        let timeout = wake_at.map(|at| timespec(at.saturating_duration_since(Instant::now())));
        match poll(&mut interests, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        drop(interests);
        self.read_each();
        Ok(())
    }

    fn wait_for_signal(&self, until: Instant) {
        let timeout = timespec(until.saturating_duration_since(Instant::now()));
        // Woken too early it is only asked again.
        let _woken = poll(&mut [PollFd::new(&self.signals, PollFlags::IN)], Some(&timeout));
    }

    /// Reads once from each stream; returns whether any byte came.
    fn read_each(&mut self) -> bool {
        let mut any = false;
        let mut buffer = std::mem::take(&mut self.buffer);
        let logs = &mut self.logs;
        self.streams.retain(|(stream, descriptor)| match rustix::io::read(descriptor, &mut buffer[..]) {
            Ok(0) => false,
            Ok(count) => {
                any = true;
                logs.take(*stream, &buffer[..count]);
                true
            }
            Err(Errno::AGAIN | Errno::INTR) => true,
            Err(_) => false,
        });
        self.buffer = buffer;
        if any {
            self.silence.broken(Instant::now());
        }
        any
    }
}

/// Takes every dead child; without any child nothing below us is left, because orphans become our children.
fn reap_all() -> Kin {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Err(Errno::CHILD) => return Kin::None,
            Ok(None) => return Kin::Some,
            Err(_) => return Kin::Unknown,
        }
    }
}

fn exit_status(status: WaitStatus) -> ExitStatus {
    match (status.exit_status(), status.terminating_signal()) {
        (_, Some(number)) => ExitStatus::Signal { number, core: dumped_core(status.as_raw()) },
        (Some(code), None) => ExitStatus::Code(code),
        (None, None) => ExitStatus::Code(status.as_raw()),
    }
}

fn signal_of(signal: StopSignal) -> Signal {
    match signal {
        StopSignal::Interrupt => Signal::INT,
        StopSignal::Terminate => Signal::TERM,
        StopSignal::Kill => Signal::KILL,
        StopSignal::HangUp => Signal::HUP,
    }
}

fn timespec(span: Duration) -> Timespec {
    // Rounded up, so that a deadline has passed when the wait for it returns.
    let span = span + Duration::from_millis(1);
    Timespec { tv_sec: i64::try_from(span.as_secs()).unwrap_or(i64::MAX), tv_nsec: span.subsec_nanos().into() }
}

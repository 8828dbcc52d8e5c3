//! Linux: processes through `/proc` and pidfds, orphans through the subreaper, safe opens through `openat2`.
//!
//! Called by the rest of the crate through `os`. A process that vanishes while it is read is absent, never an error.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::libc;
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use rustix::param::clock_ticks_per_second;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, geteuid, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper,
    set_dumpable_behavior,
};

use super::Seen;
use super::walk::open_step_by_step;
use crate::tree::process::Process;

/// Reads the kernel's name for this boot.
pub(crate) fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// Makes orphans below this process its children.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Forks like `fork`, the child inside of a control group from its first moment; none where that can not be done.
///
/// # Safety
///
/// The process has one thread, and the child only makes system calls until it executes a program.
pub(crate) unsafe fn fork_into(group: BorrowedFd<'_>) -> Option<i32> {
    const INTO_CGROUP: u64 = 0x2_0000_0000;
    // SAFETY: all-zero arguments are valid, and the call reads just as many bytes of them as it is told.
    let made = unsafe {
        let mut arguments: libc::clone_args = std::mem::zeroed();
        arguments.flags = INTO_CGROUP;
        arguments.exit_signal = libc::SIGCHLD.unsigned_abs().into();
        arguments.cgroup = group.as_raw_fd().unsigned_abs().into();
        libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<libc::clone_args>())
    };
    i32::try_from(made).ok().filter(|pid| *pid >= 0)
}

/// Makes the program's process the kernel's first choice when memory runs out, and this one a late choice.
pub(crate) fn rank_for_memory(program: u32) -> io::Result<()> {
    const ABOVE: i32 = 500;
    const BELOW: i32 = 100;
    let text = fs::read_to_string("/proc/self/oom_score_adj")?;
    let own: i32 = text.trim().parse().map_err(io::Error::other)?;
    fs::write(format!("/proc/{program}/oom_score_adj"), (own + ABOVE).min(1000).to_string())?;
    fs::write("/proc/self/oom_score_adj", (own - BELOW).max(-999).to_string())
}

/// Hides this process's memory from others of its user.
///
/// Not where `/proc` hides what may not be inspected (hidepid): there a keeper would be invisible to its own worker.
pub(crate) fn forbid_inspection() -> io::Result<()> {
    let hides = !geteuid().is_root() && {
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        mounts.lines().any(|line| line.contains(" - proc ") && line.contains("hidepid="))
    };
    if hides { Ok(()) } else { Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?) }
}

/// The control groups of a process, one in a line, if they may be read.
pub(crate) fn control_groups(pid: u32) -> Option<String> {
    String::from_utf8(read_about(pid, "cgroup").ok()?).ok()
}

/// The PID namespace of a process, if it may be read.
pub(crate) fn pid_namespace(pid: u32) -> Option<u64> {
    let link = fs::read_link(format!("/proc/{pid}/ns/pid")).ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// The number of the calling process as `/proc` has it: in a PID namespace without its own `/proc` this is not `getpid`.
pub(crate) fn own_number() -> u32 {
    let listed = fs::read_link("/proc/self").ok().and_then(|link| link.to_str()?.parse().ok());
    listed.unwrap_or_else(std::process::id)
}

/// Closes every descriptor above the standard three.
pub(crate) fn close_strange_descriptors() -> io::Result<()> {
    // SAFETY: called first thing in a fresh process, which owns no descriptor object yet.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A pipe (read end, write end) that no exec inherits.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(pipe_with(PipeFlags::CLOEXEC)?)
}

/// Lists every process this one can see.
pub(crate) fn processes() -> io::Result<Vec<Seen>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|text| text.parse().ok()) else { continue };
        // One stranger that may not be read (hidepid) or reads strangely must not hide the rest: none of ours is such.
        found.extend(process(pid).ok().flatten());
    }
    Ok(found)
}

/// The directory that a process works in, if it may be read.
pub(crate) fn working_directory(pid: u32) -> Option<std::path::PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// The children of the calling thread, as far as the kernel tells; no more than a hint.
pub(crate) fn children() -> Vec<u32> {
    let listed = fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    listed.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Looks at one process; none if there is no such process.
pub(crate) fn process(pid: u32) -> io::Result<Option<Seen>> {
    match read_about(pid, "stat") {
        Ok(stat) => {
            parse_stat(pid, &stat).map(Some).ok_or_else(|| io::Error::other(format!("cannot parse `/proc/{pid}/stat`")))
        }
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// How long this machine has run, with the time it slept: the clock that processes are stamped by.
pub(crate) fn since_boot() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// When a process started, by that clock.
pub(crate) fn start_since_boot(process: &Process) -> Duration {
    Duration::from_millis(process.start.saturating_mul(1000) / clock_ticks_per_second())
}

/// How much of the processors a process and the children that it waited for have used; none if it is gone.
pub(crate) fn processor_time(pid: u32) -> Option<Duration> {
    processor_time_in(pid, 11..15)
}

/// How much of the processors the children that this process waited for have used.
pub(crate) fn processor_time_of_children() -> Duration {
    processor_time_in(std::process::id(), 13..15).unwrap_or_default()
}

/// The environment a process was started with, if it may be read.
pub(crate) fn environment(pid: u32) -> Option<Vec<u8>> {
    read_about(pid, "environ").ok()
}

/// Whether a process is in the middle of starting a program: it has one, but the kernel shows no arguments yet. A thread of the kernel has
/// none.
pub(crate) fn is_starting(pid: u32) -> bool {
    command_line(pid).is_some_and(|arguments| arguments.is_empty()) && fs::read_link(format!("/proc/{pid}/exe")).is_ok()
}

/// The arguments of a process, each ended by a zero byte, if they may be read.
pub(crate) fn command_line(pid: u32) -> Option<Vec<u8>> {
    read_about(pid, "cmdline").ok()
}

/// Whether a process sees the same files, network, processes and users as the calling one.
pub(crate) fn shares_namespaces(pid: u32) -> io::Result<bool> {
    for name in ["ns/mnt", "ns/net", "ns/pid", "ns/user", "root"] {
        let [own, other] = ["self".to_owned(), pid.to_string()].map(|of| fs::metadata(format!("/proc/{of}/{name}")));
        let (own, other) = (own?, other?);
        if (own.dev(), own.ino()) != (other.dev(), other.ino()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A hold on one process that a later process with the same number can not be mistaken for.
#[derive(Debug)]
pub(crate) struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    /// Opens a process; none if there is no such process.
    pub(crate) fn open(pid: u32) -> io::Result<Option<ProcessHandle>> {
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(None) };
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(descriptor) => Ok(Some(ProcessHandle(descriptor))),
            Err(Errno::SRCH) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends a signal; false if the process is gone.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<bool> {
        match pidfd_send_signal(self.0.as_fd(), signal) {
            Ok(()) => Ok(true),
            Err(Errno::SRCH) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The descriptor, which becomes readable when the process dies.
    pub(crate) fn into_descriptor(self) -> OwnedFd {
        self.0
    }
}

/// Opens our own executable, whatever its path leads to by now.
pub(crate) fn own_executable() -> io::Result<File> {
    File::open("/proc/self/exe")
}

/// The path under which a child of ours executes that open file.
pub(crate) fn path_of_executable(file: &File, _opened: &Path) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// The path under which a process that is no child of ours executes that open file, while this process lives.
pub(crate) fn path_for_others(file: &File, _opened: &Path) -> PathBuf {
    PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))
}

/// A path of few bytes to a file in an open directory, valid in this process while the directory is open.
pub(crate) fn short_path(directory: &File, _path: &Path, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{name}", directory.as_raw_fd()))
}

/// Opens `path` below `directory`: never outside, never through a symbolic link.
pub(crate) fn open_beneath(directory: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(directory, path, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode, resolve) {
        Err(Errno::NOSYS) => open_step_by_step(directory, path, flags, mode),
        other => Ok(other?),
    }
}

/// Reads a file of a process whole. The end of a tree reads one for every process of the machine, so it is one read for
/// most: the kernel fills all the room it is given, and less than that is the end.
fn read_about(pid: u32, name: &str) -> io::Result<Vec<u8>> {
    const ROOM: usize = 4096;
    let mut file = File::open(format!("/proc/{pid}/{name}"))?;
    let mut bytes = Vec::new();
    loop {
        let begin = bytes.len();
        bytes.resize(begin + ROOM, 0);
        let count = match file.read(&mut bytes[begin..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
            Ok(count) if count < ROOM => {
                bytes.truncate(begin + count);
                return Ok(bytes);
            }
            Ok(count) => count,
        };
        bytes.truncate(begin + count);
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

fn parse_stat(pid: u32, stat: &[u8]) -> Option<Seen> {
    let fields = stat_fields(stat)?;
    let parent = fields.get(1)?.parse().ok()?;
    let threads: u32 = fields.get(17)?.parse().ok()?;
    let start = fields.get(19)?.parse().ok()?;
    // A process whose first thread has ended looks like a zombie while its other threads run on.
    let alive = !matches!(*fields.first()?, "Z" | "X") || threads > 1;
    let stopped = matches!(*fields.first()?, "T" | "t");
    Some(Seen { process: Process { pid, start }, parent, alive, stopped })
}

/// The sum of some fields of a process's `stat` that count the kernel's ticks.
fn processor_time_in(pid: u32, fields: Range<usize>) -> Option<Duration> {
    let stat = read_about(pid, "stat").ok()?;
    let ticks: u64 = stat_fields(&stat)?.get(fields)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(ticks.saturating_mul(1000) / clock_ticks_per_second()))
}

/// The fields behind the name, which may hold spaces and brackets, so fields are counted from the last bracket.
fn stat_fields(stat: &[u8]) -> Option<Vec<&str>> {
    let after = stat.iter().rposition(|&byte| byte == b')')? + 1;
    Some(std::str::from_utf8(&stat[after..]).ok()?.split_ascii_whitespace().collect())
}

#[cfg(test)]
mod tests {
    use super::parse_stat;

    fn stat(name: &str, state: &str, threads: u32) -> Vec<u8> {
        format!("41 ({name}) {state} 7 41 41 0 -1 4 0 0 0 0 1 2 0 0 20 0 {threads} 0 8731 1 2 3\n").into_bytes()
    }

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_shift_fields() {
        let seen = parse_stat(41, &stat("a) Z 9 (b", "S", 1)).unwrap();
        assert_eq!((seen.process.start, seen.parent, seen.alive), (8731, 7, true));
    }

    #[test]
    fn a_zombie_is_dead_unless_threads_live_on() {
        assert!(!parse_stat(41, &stat("x", "Z", 1)).unwrap().alive);
        assert!(parse_stat(41, &stat("x", "Z", 2)).unwrap().alive);
        assert!(parse_stat(41, b"41 (x) S").is_none());
    }
}

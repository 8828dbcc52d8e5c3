//! Fork, exec and signal handlers: what every Unix has and Rust has no safe words for.
//!
//! Called by the keeper (`settle`, `fork_behind_gate`, `Signals`) and by the spawner (`detach`). Everything the forked
//! child needs is prepared before the fork; after it the child only makes system calls.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use nix::errno::Errno;
use nix::libc;
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid, umask};

/// What a keeper changes for itself and gives back to the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inherited {
    /// The file mode mask.
    pub(crate) umask: Mode,
    /// How large a core may be.
    pub(crate) core: Rlimit,
}

/// Makes the calling process fit to be a keeper; returns what it had before, for the agent.
pub(crate) fn settle() -> io::Result<Inherited> {
    super::close_strange_descriptors()?;
    // Fails only for the leader of a group, which is then kept apart from its terminal by ignoring HUP. Whose session
    // this is now is not asked: inside a container it can be one that has no number here.
    let _already_leads = setsid();
    // SAFETY: ignoring a signal and emptying the mask run no code of ours.
    unsafe {
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        // A file size limit is then a failed write, counted as a gap.
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
    empty_signal_mask();
    let core = getrlimit(Resource::Core);
    // A core of ours would hold every secret of the environment.
    setrlimit(Resource::Core, Rlimit { current: Some(0), ..core })?;
    Ok(Inherited { umask: umask(Mode::from_raw_mode(0o077)), core })
}

/// The limit this process was started with, once it has raised its own.
static LIMIT_BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Raises the soft limit of open descriptors, up to the hard one. Detached children start with the limit of before: programs that
/// still use `select` would fail with more.
pub(crate) fn raise_descriptor_limit(wanted: u64) -> io::Result<()> {
    let before = getrlimit(Resource::Nofile);
    let wanted = before.maximum.map_or(wanted, |most| most.min(wanted));
    if before.current.is_none_or(|now| now >= wanted) {
        return Ok(());
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: before.maximum })?;
    LIMIT_BEFORE.set(before).ok();
    Ok(())
}

/// Makes a command start in its own session, out of reach of the caller's terminal.
pub(crate) fn detach(command: &mut Command) {
    let limit = LIMIT_BEFORE.get().copied();
    // SAFETY: setsid and setrlimit are safe to call between fork and exec.
    unsafe {
        command.pre_exec(move || {
            setsid()?;
            if let Some(limit) = limit {
                setrlimit(Resource::Nofile, limit)?;
            }
            Ok(())
        });
    }
}

/// Makes a command hand a descriptor on to whatever it executes. The command owns it: it is closed here with the command.
pub(crate) fn pass_on(command: &mut Command, descriptor: OwnedFd) {
    // SAFETY: changing the flags of a descriptor is safe between fork and exec.
    unsafe {
        command.pre_exec(move || Ok(fcntl_setfd(&descriptor, FdFlags::empty())?));
    }
}

/// Whether a raw wait status says that a core was written.
pub(crate) fn dumped_core(status: i32) -> bool {
    libc::WCOREDUMP(status)
}

/// A program ready to be executed.
#[derive(Debug)]
pub(crate) struct Launch {
    /// Absolute path, or a path relative to `directory`.
    pub(crate) program: CString,
    /// All arguments, the program's name first.
    pub(crate) arguments: Vec<CString>,
    /// `NAME=value` entries.
    pub(crate) environment: Vec<CString>,
    /// Where it starts.
    pub(crate) directory: CString,
    /// What the keeper had changed for itself.
    pub(crate) inherited: Inherited,
}

/// The child's ends of its three standard streams.
#[derive(Debug)]
pub(crate) struct Streams {
    /// Standard input.
    pub(crate) input: OwnedFd,
    /// Standard output.
    pub(crate) output: OwnedFd,
    /// Standard error.
    pub(crate) error: OwnedFd,
}

/// Which step before exec failed in the child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Setting up session and streams.
    Prepare,
    /// Entering the working directory.
    Directory,
    /// The exec itself.
    Exec,
}

/// A forked child that waits for the gate before it executes anything.
#[derive(Debug)]
pub(crate) struct Gated {
    /// The child, which stays the same process over exec.
    pub(crate) pid: u32,
    /// Whether it was made inside of the group.
    pub(crate) is_in_group: bool,
    gate: OwnedFd,
    complaint: OwnedFd,
}

impl Gated {
    /// Lets the child continue to exec; returns the pipe on which it complains if that fails.
    pub(crate) fn open(self) -> io::Result<OwnedFd> {
        match rustix::io::write(&self.gate, &[1]) {
            // A child that failed before the gate is gone already and has said why.
            Ok(_) | Err(rustix::io::Errno::PIPE) => Ok(self.complaint),
            Err(error) => Err(error.into()),
        }
    }
}

/// Reads what a child that is dead by now complained about; none if it did execute its program.
pub(crate) fn read_complaint(complaint: &OwnedFd) -> Option<(Stage, i32)> {
    let mut bytes = [0_u8; 5];
    if rustix::io::read(complaint, &mut bytes).ok()? < bytes.len() {
        return None;
    }
    let stage = match bytes[0] {
        1 => Stage::Directory,
        2 => Stage::Exec,
        _ => Stage::Prepare,
    };
    Some((stage, i32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]])))
}

/// Forks a child in its own session that executes `launch` once the gate opens, and exits if it never does.
///
/// The calling process must have one thread only. The child drops `lock` at once, so that it never keeps a dead
/// keeper's lock. With a control group it is made inside, where the system can do that.
pub(crate) fn fork_behind_gate(
    launch: &Launch,
    streams: &Streams,
    lock: BorrowedFd<'_>,
    group: Option<BorrowedFd<'_>>,
) -> io::Result<Gated> {
    crate::fault::strike("keeper.fork")?;
    let (gate_read, gate) = super::pipe()?;
    let (complaint, complaint_write) = super::pipe()?;
    fcntl_setfl(&complaint, fcntl_getfl(&complaint)? | OFlags::NONBLOCK)?;
    let plan = ChildPlan {
        arguments: pointers(&launch.arguments),
        environment: pointers(&launch.environment),
        program: launch.program.as_ptr(),
        directory: launch.directory.as_ptr(),
        inherited: launch.inherited,
        streams: [streams.input.as_raw_fd(), streams.output.as_raw_fd(), streams.error.as_raw_fd()],
        gate: gate_read.as_raw_fd(),
        complaint: complaint_write.as_raw_fd(),
        drop_first: [gate.as_raw_fd(), lock.as_raw_fd()],
    };
    // SAFETY: the process has one thread, and the child makes only system calls on memory prepared above.
    let (pid, is_in_group) = match unsafe { group.and_then(|group| super::fork_into(group)) } {
        Some(pid) => (pid, true),
        // SAFETY: as above.
        None => (unsafe { libc::fork() }, false),
    };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => plan.run_in_child(),
        pid => Ok(Gated { pid: pid.unsigned_abs(), is_in_group, gate, complaint }),
    }
}

fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}

fn empty_signal_mask() {
    // SAFETY: an all-zero sigset_t is valid memory for sigemptyset, and no old mask is asked for.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

struct ChildPlan {
    arguments: Vec<*const libc::c_char>,
    environment: Vec<*const libc::c_char>,
    program: *const libc::c_char,
    directory: *const libc::c_char,
    inherited: Inherited,
    streams: [RawFd; 3],
    gate: RawFd,
    complaint: RawFd,
    drop_first: [RawFd; 2],
}

impl ChildPlan {
    fn run_in_child(&self) -> ! {
        // SAFETY: every pointer and descriptor was prepared by the parent and lives as long as this copy of its memory.
        unsafe {
            for descriptor in self.drop_first {
                libc::close(descriptor);
            }
            for signal in 1..=64 {
                libc::signal(signal, libc::SIG_DFL);
            }
            empty_signal_mask();
            umask(self.inherited.umask);
            // A limit we may not set is the one that holds anyway.
            let _as_it_was = setrlimit(Resource::Core, self.inherited.core);
            if libc::setsid() == -1 {
                self.complain(0);
            }
            for (target, descriptor) in self.streams.iter().enumerate() {
                if libc::dup2(*descriptor, target as RawFd) == -1 {
                    self.complain(0);
                }
            }
            if libc::chdir(self.directory) == -1 {
                self.complain(1);
            }
            self.wait_for_gate();
            libc::execve(self.program, self.arguments.as_ptr(), self.environment.as_ptr());
            self.complain(2)
        }
    }

    fn wait_for_gate(&self) {
        let mut byte = 0_u8;
        loop {
            // SAFETY: reads one byte into a local.
            match unsafe { libc::read(self.gate, (&raw mut byte).cast(), 1) } {
                1 => return,
                -1 if Errno::last_raw() == libc::EINTR => {}
                // The keeper died before it had written down who we are: nobody may ever run.
                // SAFETY: ends this process without running anything of the parent's.
                _ => unsafe { libc::_exit(126) },
            }
        }
    }

    fn complain(&self, stage: u8) -> ! {
        let number = Errno::last_raw().to_le_bytes();
        let bytes = [stage, number[0], number[1], number[2], number[3]];
        // SAFETY: writes a local array; then ends this process without running anything of the parent's.
        unsafe {
            libc::write(self.complaint, bytes.as_ptr().cast(), bytes.len());
            libc::_exit(127)
        }
    }
}

static WAKE: AtomicI32 = AtomicI32::new(-1);
static TERMINATE: AtomicBool = AtomicBool::new(false);
static INTERRUPT: AtomicBool = AtomicBool::new(false);

extern "C" fn note(signal: libc::c_int) {
    let before = Errno::last_raw();
    match signal {
        libc::SIGTERM => TERMINATE.store(true, Ordering::SeqCst),
        libc::SIGINT => INTERRUPT.store(true, Ordering::SeqCst),
        _ => {}
    }
    // SAFETY: write is allowed in handlers; a full pipe is no loss, because the flags are set and the pipe is readable.
    unsafe { libc::write(WAKE.load(Ordering::SeqCst), [1_u8].as_ptr().cast(), 1) };
    Errno::set_raw(before);
}

/// What was asked by signal since the last question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heard {
    /// TERM: the stop recipe.
    pub(crate) terminate: bool,
    /// INT: the end, now.
    pub(crate) interrupt: bool,
}

/// TERM, INT and CHLD turned into a readable descriptor.
#[derive(Debug)]
pub(crate) struct Signals {
    read: OwnedFd,
    _write: OwnedFd,
}

impl Signals {
    /// Installs the handlers; to be called once per process.
    pub(crate) fn install() -> io::Result<Signals> {
        let (read, write) = super::pipe()?;
        for end in [&read, &write] {
            fcntl_setfl(end, fcntl_getfl(end)? | OFlags::NONBLOCK)?;
        }
        WAKE.store(write.as_raw_fd(), Ordering::SeqCst);
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGCHLD] {
            install_handler(signal)?;
        }
        Ok(Signals { read, _write: write })
    }

    /// Takes what was heard and clears the descriptor.
    pub(crate) fn take(&self) -> Heard {
        let mut bytes = [0_u8; 64];
        while rustix::io::read(&self.read, &mut bytes).is_ok_and(|count| count > 0) {}
        Heard { terminate: TERMINATE.swap(false, Ordering::SeqCst), interrupt: INTERRUPT.swap(false, Ordering::SeqCst) }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }
}

fn install_handler(signal: libc::c_int) -> io::Result<()> {
    // SAFETY: the action is zeroed plain data, and the handler only touches atomics and one write.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = note as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, ptr::null_mut())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

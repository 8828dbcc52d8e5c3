//! Starts other processes: detached workers, the agent of a takeover, and system programs. Apart from the demo agent, this is the only
//! place in the binary crate that does.
//!
//! A task is handed to a running worker together with this shell's environment, or to a new one. A new worker gets this environment,
//! its own session, and one line on its stdin. No part of a goal is in its argv.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use longhaul_app::config::{self, Overrides};
use longhaul_app::{
    App, AppError, Asked, BootService, Caller, ErrorKind, Handover, Interface, NewWorker, Processes, Reply,
};
use longhaul_core::task::Target;
use longhaul_keeper::{Bounded, Environment, Executable, Keep, ProgramEnd, Scopes, Standing, scopes};
use rustix::io::{FdFlags, fcntl_setfd};

use tokio::signal::unix::{SignalKind, signal};

use crate::commands::service;
use crate::worker_log;
use longhaul_app::tag::tag;

/// How long a system program may take that waits for other programs.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(60);
const LONGEST_ANSWER: usize = 64 << 10;

/// The path under which others start this program: the one on PATH, which survives an upgrade; otherwise the path of its file.
pub(crate) fn own_program(environment: &Environment) -> Result<PathBuf, AppError> {
    let own = std::env::current_exe()
        .map_err(|error| AppError::new(ErrorKind::Failure, "cannot find the path of this program").because(&error))?;
    let is_own = |path: &Path| path.canonicalize().ok() == own.canonicalize().ok();
    Ok(environment.find_program("longhaul").filter(|found| is_own(found)).unwrap_or(own))
}

/// Starts child processes that outlive this one.
pub(crate) struct ChildProcesses {
    /// Whose configuration decides where workers run.
    pub(crate) caller: Caller,
}

impl Processes for ChildProcesses {
    fn start_worker(&self, app: &App, worker: NewWorker) -> Result<u32, AppError> {
        let flags = [("--only", worker.only), ("--stay", worker.stay)];
        let flags = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag);
        let arguments: Vec<&str> = std::iter::once("worker").chain(flags).collect();
        let child = self.spawn_worker(app, &arguments, Streams::Closed)?;
        let pid = child.id();
        reap_later(child);
        Ok(pid)
    }

    fn start_worker_for(&self, app: &App, handover: &Handover) -> Result<Reply, AppError> {
        let mut child = self.spawn_worker(app, &["worker", "--only", "--handover"], Streams::Piped)?;
        let line = serde_json::to_string(handover).map_err(|error| cannot_start(&error))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A worker that died before reading this gives no answer.
            writeln!(stdin, "{line}").ok();
        }
        let mut answer = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut answer).ok();
        }
        reap_later(child);
        Ok(serde_json::from_str(&answer).map_or(Reply::Silence, Reply::Answer))
    }

    fn ask(&self, program: &Path, arguments: &[&str], patience: Duration) -> Asked {
        ask(program, arguments, patience)
    }

    fn notify(&self, app: &App, target: &Target, within: Duration) -> Result<(), String> {
        let sent = longhaul_worker::send_test(&app.home, &app.system.environment, target, within);
        tokio::runtime::Handle::current().block_on(sent)
    }

    fn boot_service(&self, environment: &Environment) -> Result<Option<BootService>, AppError> {
        service::installed(environment)
    }
}

/// Starts a pager that reads from us and has the terminal. Ctrl+C is for it alone from now on.
pub(crate) fn pager(command: &str) -> std::io::Result<Child> {
    let mut pager = Command::new("sh");
    pager.args(["-c", command]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        pager.env("LESS", "FRX");
    }
    let child = pager.spawn()?;
    // Where nothing listens for it, it would end this process and leave the pager without its terminal.
    if let Ok(interrupts) = signal(SignalKind::interrupt()) {
        drop(interrupts);
    }
    Ok(child)
}

/// Starts an agent's own program in this terminal and process group, so that the terminal's keys reach it. It inherits the descriptor
/// and holds it until it ends. The caller must wait for it.
pub(crate) fn in_terminal(interface: &Interface, inherited: BorrowedFd<'_>) -> std::io::Result<u32> {
    let mut command = Command::new(&interface.program);
    let (name, arguments) = interface.argv.split_first().unzip();
    command.args(arguments.into_iter().flatten());
    if let Some(name) = name {
        command.arg0(name);
    }
    command.env_clear().envs(&interface.environment).current_dir(&interface.cwd);
    // Nothing else is started by this process while the descriptor can be inherited.
    fcntl_setfd(inherited, FdFlags::empty())?;
    let child = command.spawn();
    fcntl_setfd(inherited, FdFlags::CLOEXEC)?;
    Ok(child?.id())
}

/// Opens a file in a person's editor, in this terminal, and waits until it ends. The command may have arguments, as git allows it.
pub(crate) fn editor(environment: &Environment, command: &str, file: &Path) -> std::io::Result<ExitStatus> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &format!("{command} \"$1\""), "sh"]).arg(file);
    shell.env_clear().envs(environment.iter()).status()
}

/// Runs the person's own shell in a directory, in this terminal, until it ends.
pub(crate) fn shell_in(shell: &Path, directory: &Path) -> std::io::Result<()> {
    Command::new(shell).current_dir(directory).env("PWD", directory).status().map(drop)
}

/// Runs a program that answers at once. If it is late, its whole process group is killed.
pub(crate) fn ask(program: &Path, arguments: &[&str], patience: Duration) -> Asked {
    let mut command = Command::new(program);
    command.args(arguments).current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let keep = [Keep::Last(LONGEST_ANSWER), Keep::Last(0)];
    let Ok(asked) = Bounded::start(&mut command, Vec::new(), keep) else { return Asked::Unknown };
    match end_within(asked, patience) {
        Some(end) if end.status.success() => Asked::Said(String::from_utf8_lossy(&end.out).into_owned()),
        Some(_) => Asked::Failed,
        None => Asked::Late,
    }
}

/// The end of a program; none if it is late and was killed.
fn end_within(mut program: Bounded, patience: Duration) -> Option<ProgramEnd> {
    let ended = program.wait_for(patience).ok().flatten();
    if ended.is_none() {
        program.kill();
        // One that hangs in the kernel does not even die, and must hold nobody up.
        std::thread::spawn(move || drop(program));
    }
    ended
}

/// The complete output of a program.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    pub(crate) succeeded: bool,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl ProgramOutput {
    /// Its error output in one line.
    pub(crate) fn errors(&self) -> String {
        let lines: Vec<&str> = self.err.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if lines.is_empty() { "no error message".to_owned() } else { lines.join("; ") }
    }
}

/// Runs a program with this input and returns its output; none if it cannot be run or does not end in time. For `service`.
pub(crate) fn run_program(
    environment: &Environment,
    program: &str,
    arguments: &[&str],
    input: &[u8],
) -> Option<ProgramOutput> {
    let mut command = Command::new(environment.find_program(program)?);
    command.env_clear().envs(environment.iter());
    command.args(arguments).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = Bounded::start(&mut command, input.to_owned(), [Keep::First(usize::MAX); 2]).ok()?;
    let ProgramEnd { status, out, err } = end_within(running, PROGRAM_TIMEOUT)?;
    Some(ProgramOutput { succeeded: status.success(), out, err: String::from_utf8_lossy(&err).into_owned() })
}

/// Creates a git repository for the demo, which also works without git.
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

/// Whether this process reads and writes a worker's output and input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Streams {
    Piped,
    Closed,
}

impl ChildProcesses {
    fn spawn_worker(&self, app: &App, arguments: &[&str], streams: Streams) -> Result<Child, AppError> {
        let executable = Executable::open_own().map_err(|error| cannot_start(&error))?;
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let root = app.home.root();
        let prepare = |command: &mut Command| {
            command.envs(app.system.environment.iter()).env("LONGHAUL_HOME", root).current_dir(root);
            if streams == Streams::Piped {
                command.stdin(Stdio::piped()).stdout(Stdio::piped());
            }
            if let Ok(log) = worker_log::open(root) {
                command.stderr(log);
            }
            Ok(())
        };
        let unit = format!("longhaul-worker-{}", tag::<8>());
        executable.spawn(self.worker_scope(app), &unit, &arguments, prepare).map_err(|error| cannot_start(&error))
    }

    /// Whether workers run in their own systemd scopes. Reads the configuration only if scopes are usable.
    fn worker_scope(&self, app: &App) -> Standing {
        if scopes() != Scopes::Usable {
            return Standing::Plain;
        }
        let environment = &app.system.environment;
        let loaded = self
            .caller
            .project()
            .and_then(|here| config::load(environment, &self.caller, &here.root, &Overrides::default()));
        // Other code reports an invalid configuration.
        match loaded.map_or(true, |loaded| loaded.settings.patience.scopes) {
            true => Standing::OwnScope,
            false => Standing::Plain,
        }
    }
}

/// Keeps ended workers from staying as zombies while this process runs.
fn reap_later(mut child: std::process::Child) {
    std::thread::spawn(move || child.wait());
}

fn cannot_start(error: &dyn std::error::Error) -> AppError {
    AppError::new(ErrorKind::Failure, "cannot start a worker").because(error).hint("check that the home is writable")
}

#[cfg(test)]
mod tests {
    use super::{Asked, ask};
    use std::path::Path;
    use std::time::{Duration, Instant};

    fn asked(script: &str, patience: Duration) -> Asked {
        ask(Path::new("/bin/sh"), &["-c", script], patience)
    }

    #[test]
    fn a_program_answers_fails_or_is_killed() {
        let long = Duration::from_secs(60);
        assert_eq!(asked("echo 1.2", long), Asked::Said("1.2\n".to_owned()));
        assert_eq!(asked("echo 1.2; exit 3", long), Asked::Failed);
        assert_eq!(ask(Path::new("/no/such/program"), &[], long), Asked::Unknown);
        let began = Instant::now();
        assert_eq!(asked("sleep 600 & sleep 600", Duration::from_millis(50)), Asked::Late);
        assert!(began.elapsed() < long);
    }

    #[test]
    fn children_of_a_program_are_not_waited_for() {
        let began = Instant::now();
        assert_eq!(asked("echo here; sleep 2 &", Duration::from_secs(60)), Asked::Said("here\n".to_owned()));
        assert!(began.elapsed() < Duration::from_secs(2), "the pipe was still held open");
    }
}

//! One hardened run of the git program: the only place that starts it, and what no repository may decide for it.
//!
//! Called by the other files of the wrapper. The environment is empty but for a fixed list, there is no shell, standard input is ours,
//! output is capped, and after the deadline the whole process group is killed. Every setting that names a program, opens a connection
//! or starts background work is overridden: the fixed list always, and what the repository names itself (filters, drivers, helpers)
//! is read before each call that could use it and blanked by name, whichever file or include it came from.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::error::GitError;

/// For calls that look at references and configuration.
const QUICK: Duration = Duration::from_secs(60);
/// For calls that read or write many files.
pub(super) const LONG: Duration = Duration::from_secs(15 * 60);
const CAP: usize = 64 << 20;
const ERROR_CAP: usize = 16 << 10;

/// Variables that every git of ours gets, whatever the repository.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("HOME", "/nonexistent"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_PAGER", "cat"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_ALLOW_PROTOCOL", "none"),
];

/// One call that is being put together.
pub(super) struct Call {
    program: PathBuf,
    directory: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    settings: Vec<(OsString, OsString)>,
    input: Vec<u8>,
    held: Option<Arc<File>>,
    deadline: Duration,
    cap: usize,
}

/// What a call printed and how it ended.
pub(super) struct Answer {
    pub(super) status: Option<ExitStatus>,
    pub(super) output: Vec<u8>,
    /// More was printed than the cap; the rest is lost.
    pub(super) cut: bool,
    pub(super) error: String,
    pub(super) command: String,
}

impl Call {
    pub(super) fn new(program: &Path, directory: &Path) -> Call {
        Call {
            program: program.to_owned(),
            directory: directory.to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            settings: Vec::new(),
            input: Vec::new(),
            held: None,
            deadline: QUICK,
            cap: CAP,
        }
    }

    /// Adds arguments that are written in our own code.
    pub(super) fn words(mut self, words: &[&str]) -> Call {
        self.arguments.extend(words.iter().map(OsString::from));
        self
    }

    /// Adds an argument that comes from elsewhere; one that git could take for an option is refused.
    pub(super) fn value(mut self, value: impl AsRef<OsStr>) -> Result<Call, GitError> {
        let value = value.as_ref();
        if value.as_bytes().starts_with(b"-") || value.as_bytes().contains(&0) {
            return Err(GitError::BadArgument { value: value.to_string_lossy().into_owned() });
        }
        self.arguments.push(value.to_owned());
        Ok(self)
    }

    pub(super) fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Call {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Adds configuration that overrides every file; a later value of the same key wins.
    pub(super) fn settings(mut self, settings: &[(OsString, OsString)]) -> Call {
        self.settings.extend_from_slice(settings);
        self
    }

    pub(super) fn input(mut self, input: Vec<u8>) -> Call {
        self.input = input;
        self
    }

    /// Lets a git without input hold a lock until it ends, even if this process ends before.
    pub(super) fn holding(mut self, held: Option<Arc<File>>) -> Call {
        self.held = held;
        self
    }

    pub(super) fn deadline(mut self, deadline: Duration) -> Call {
        self.deadline = deadline;
        self
    }

    pub(super) fn cap(mut self, cap: usize) -> Call {
        self.cap = cap;
        self
    }

    /// Runs git and returns what it printed; any other exit than success is an error with git's text.
    pub(super) fn succeed(self) -> Result<Vec<u8>, GitError> {
        let cap = self.cap;
        let answer = self.run()?;
        if answer.cut {
            return Err(GitError::TooMuch { command: answer.command, cap });
        }
        if answer.is_success() { Ok(answer.output) } else { Err(answer.refused()) }
    }

    /// As [`Call::succeed`], for an answer of one line of text.
    pub(super) fn line(self) -> Result<String, GitError> {
        let command = self.shown();
        let output = self.succeed()?;
        let text = String::from_utf8(output)
            .map_err(|error| unreadable(&command, &String::from_utf8_lossy(error.as_bytes())))?;
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Runs git and returns how it ended, also when it refused.
    pub(super) fn run(self) -> Result<Answer, GitError> {
        let command = self.shown();
        let failed = |source: io::Error| GitError::Start { command: command.clone(), source };
        let stdin = self.stdin().map_err(failed)?;
        let mut child = self.command().stdin(stdin).spawn().map_err(failed)?;
        let streams = attend_streams(&mut child, self.input, self.cap).inspect_err(|_| drop(kill(&mut child)));
        let streams = streams.map_err(failed)?;
        let Some((status, output, error)) = await_end(&mut child, &streams, self.deadline).map_err(failed)? else {
            return Err(GitError::Deadline { command, deadline: self.deadline });
        };
        // A git that prints more than we read ends by SIGPIPE; that is an answer, though a cut one.
        if let Some(signal) = status.signal().filter(|signal| *signal != Signal::PIPE.as_raw()) {
            return Err(GitError::Killed { command, signal });
        }
        let cut = output.len() > self.cap;
        let mut output = output;
        output.truncate(self.cap);
        let error = String::from_utf8_lossy(&error).trim().to_owned();
        Ok(Answer { status: Some(status), output, cut, error, command })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().current_dir(&self.directory).args(&self.arguments).process_group(0);
        command.envs(ENVIRONMENT.iter().copied()).env("PATH", self.path_variable());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (number, (key, value)) in self.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn stdin(&self) -> io::Result<Stdio> {
        match &self.held {
            Some(held) if self.input.is_empty() => Ok(Stdio::from(held.try_clone()?)),
            _ => Ok(Stdio::piped()),
        }
    }

    /// Git itself looks for its own parts there; nothing of the worker's own search path counts.
    fn path_variable(&self) -> OsString {
        let mut path = self.program.parent().map_or_else(OsString::new, |parent| parent.as_os_str().to_owned());
        path.push(":/usr/bin:/bin");
        path
    }

    fn shown(&self) -> String {
        let words = self.arguments.iter().map(|word| word.to_string_lossy().escape_debug().to_string());
        std::iter::once("git".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }
}

impl Answer {
    pub(super) fn is_success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    pub(super) fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    pub(super) fn refused(self) -> GitError {
        let text = match (self.error.is_empty(), self.status) {
            (false, _) => self.error,
            (true, Some(status)) => status.to_string(),
            (true, None) => "no exit status".to_owned(),
        };
        GitError::Refused { command: self.command, text }
    }
}

/// Reports output of git that can not be parsed.
pub(super) fn unreadable(command: &str, text: &str) -> GitError {
    let text = text.chars().take(200).collect();
    GitError::Unreadable { command: command.to_owned(), text }
}

enum Stream {
    Output(Vec<u8>),
    Error(Vec<u8>),
}

/// One thread per stream, because a program that fills one pipe while we read another would block forever. Fails if no thread can be
/// started.
fn attend_streams(child: &mut Child, input: Vec<u8>, cap: usize) -> io::Result<Receiver<Stream>> {
    let (sender, receiver) = channel();
    let spawn = |work: Box<dyn FnOnce() + Send>| thread::Builder::new().spawn(work).map(drop);
    if let Some(mut stdin) = child.stdin.take() {
        // A git that ends early does not want the rest; its exit status says what that means.
        spawn(Box::new(move || drop(stdin.write_all(&input))))?;
    }
    if let Some(stdout) = child.stdout.take() {
        let sender = sender.clone();
        spawn(Box::new(move || drop(sender.send(Stream::Output(read_capped(stdout, cap))))))?;
    }
    if let Some(stderr) = child.stderr.take() {
        spawn(Box::new(move || drop(sender.send(Stream::Error(read_capped(stderr, ERROR_CAP))))))?;
    }
    Ok(receiver)
}

/// Reads up to one byte more than the cap, so that the caller can tell; then the pipe is closed and git ends on its own.
fn read_capped(stream: impl Read, cap: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let most = u64::try_from(cap).unwrap_or(u64::MAX).saturating_add(1);
    stream.take(most).read_to_end(&mut bytes).ok();
    bytes
}

type Ended = (ExitStatus, Vec<u8>, Vec<u8>);

fn await_end(child: &mut Child, streams: &Receiver<Stream>, deadline: Duration) -> io::Result<Option<Ended>> {
    let end = Instant::now() + deadline;
    let (mut output, mut error) = (None, None);
    while output.is_none() || error.is_none() {
        match streams.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(Stream::Output(bytes)) => output = Some(bytes),
            Ok(Stream::Error(bytes)) => error = Some(bytes),
            Err(_) => return kill(child).map(|()| None),
        }
    }
    match status_before(child, end)? {
        Some(status) => Ok(Some((status, output.unwrap_or_default(), error.unwrap_or_default()))),
        None => kill(child).map(|()| None),
    }
}

/// Both streams are closed, so the end is near: normally the first look finds it.
fn status_before(child: &mut Child, end: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= end {
            return Ok(None);
        }
        thread::sleep(Duration::from_micros(100));
    }
}

/// The child is not reaped yet, so its group can not be somebody else's.
fn kill(child: &mut Child) -> io::Result<()> {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        kill_process_group(group, Signal::KILL).ok();
    }
    child.wait().map(drop)
}

/// Settings that are the same for every repository.
const FIXED: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.sshCommand", "false"),
    ("core.askPass", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.alternateRefsCommand", "true"),
    ("core.gitProxy", ""),
    ("core.splitIndex", "false"),
    ("core.safecrlf", "false"),
    ("core.filesRefLockTimeout", "3000"),
    ("core.packedRefsTimeout", "5000"),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.ssh.defaultKeyCommand", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("tag.forceSignAnnotated", "false"),
    ("push.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("merge.verifySignatures", "false"),
    ("sequence.editor", "false"),
    ("interactive.diffFilter", ""),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("status.submoduleSummary", "false"),
    ("protocol.allow", "never"),
    ("protocol.ext.allow", "never"),
    ("protocol.file.allow", "never"),
    ("uploadpack.packObjectsHook", ""),
    ("branch.autoSetupMerge", "false"),
    ("worktree.useRelativePaths", "false"),
    ("advice.graftFileDeprecated", "false"),
];

/// Variables that hold a program or a command line, whatever their section.
const PROGRAMS: &[&str] = &[
    "clean",
    "smudge",
    "process",
    "textconv",
    "command",
    "cmd",
    "driver",
    "program",
    "helper",
    "uploadpack",
    "receivepack",
    "vcs",
    "packobjectshook",
    "recentobjectshook",
    "defaultkeycommand",
];

/// The settings that a private view of the working tree takes over: they decide how bytes become objects, and name no program.
const TAKEN_OVER: &[&str] = &[
    "core.autocrlf",
    "core.bigfilethreshold",
    "core.checkstat",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "core.trustctime",
];

/// Of those, the settings that are taken from the person's own configuration too.
const LINE_ENDINGS: &[&str] = &["core.autocrlf", "core.eol"];

/// The configuration of a repository as git lists it, all files and includes together.
pub(super) struct Listed(Vec<(OsString, OsString)>);

impl Listed {
    /// Reads `git config --list -z`.
    pub(super) fn read(output: &[u8]) -> Listed {
        let entries = output.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        Listed(entries.map(key_and_value).collect())
    }

    /// Everything that keeps this repository's configuration from running programs.
    pub(super) fn overrides(&self) -> Vec<(OsString, OsString)> {
        let fixed = FIXED.iter().map(|(key, value)| (OsString::from(key), OsString::from(value)));
        fixed.chain(self.0.iter().filter_map(|(key, _)| blanked(key))).collect()
    }

    /// What a private view takes over.
    pub(super) fn taken_over(&self) -> Vec<(OsString, OsString)> {
        self.selected(TAKEN_OVER)
    }

    /// How a person wants line endings.
    pub(super) fn line_endings(&self) -> Vec<(OsString, OsString)> {
        self.selected(LINE_ENDINGS)
    }

    fn selected(&self, keys: &[&str]) -> Vec<(OsString, OsString)> {
        let is_selected = |key: &OsStr| keys.iter().any(|selected| key == *selected);
        self.0.iter().filter(|(key, _)| is_selected(key)).cloned().collect()
    }

    /// The user's ignore file, if this configuration names one.
    pub(super) fn excludes_file(&self) -> Option<OsString> {
        self.0.iter().rev().find(|(key, _)| key == "core.excludesfile").map(|(_, value)| value.clone())
    }
}

/// The fixed list alone, for calls before a repository is known.
pub(super) fn fixed() -> Vec<(OsString, OsString)> {
    Listed(Vec::new()).overrides()
}

/// A key without a value means true.
fn key_and_value(entry: &[u8]) -> (OsString, OsString) {
    let own = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    match entry.iter().position(|byte| *byte == b'\n') {
        Some(at) => (own(&entry[..at]), own(&entry[at + 1..])),
        None => (own(entry), "true".into()),
    }
}

fn blanked(key: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = key.as_bytes();
    let section = bytes.split(|byte| *byte == b'.').next()?;
    let variable = bytes.rsplit(|byte| *byte == b'.').next()?;
    let value = match (section, variable) {
        (b"filter", b"required") => "false",
        (b"submodule", b"update") => "none",
        _ if PROGRAMS.iter().any(|program| variable == program.as_bytes()) => "",
        _ => return None,
    };
    // The fixed list has the better answer for these, and it must stay the last word.
    let is_fixed = FIXED.iter().any(|(fixed, _)| fixed.as_bytes().eq_ignore_ascii_case(bytes));
    (!is_fixed).then(|| (key.to_owned(), value.into()))
}

#[cfg(test)]
mod tests;

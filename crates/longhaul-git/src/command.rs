//! One hardened run of the git program: the only place that starts it, and what no repository may decide for it.
//!
//! Called by the other files of the wrapper. The environment is empty but for a fixed list, there is no shell, standard input is ours,
//! output is capped, and after the deadline the whole process group is killed. Every setting that names a program, opens a connection
//! or starts background work is overridden: the fixed list always, and what the repository names itself (filters, drivers, helpers)
//! is read before each call that could use it and blanked by name, whichever file or include it came from.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use longhaul_keeper::{Bounded, Keep, ProgramEnd};
use rustix::process::Signal;

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
    signs: bool,
}

/// What a call printed and how it ended.
pub(super) struct Answer {
    pub(super) status: ExitStatus,
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
            signs: false,
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

    /// Marks a call that signs the commit it makes.
    pub(super) fn signing(mut self) -> Call {
        self.signs = true;
        self
    }

    pub(super) fn signs(&self) -> bool {
        self.signs
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

    /// Starts git; returns it with what was called, for messages.
    pub(super) fn start(self) -> Result<(Bounded, String), GitError> {
        let command = self.shown();
        let failed = |source: io::Error| GitError::Start { command: command.clone(), source };
        let stdin = self.stdin().map_err(failed)?;
        let keep = [Keep::First(self.cap), Keep::First(ERROR_CAP)];
        let git = Bounded::start(self.command().stdin(stdin), self.input, keep).map_err(failed)?;
        Ok((git, command))
    }

    /// Runs git and returns how it ended, also when it refused.
    pub(super) fn run(self) -> Result<Answer, GitError> {
        let (cap, deadline) = (self.cap, self.deadline);
        let (mut git, command) = self.start()?;
        let failed = |source: io::Error| GitError::Start { command: command.clone(), source };
        let Some(ProgramEnd { status, out: mut output, err }) = git.wait_for(deadline).map_err(failed)? else {
            return Err(GitError::Deadline { command, deadline });
        };
        // A git that prints more than we read ends by SIGPIPE; that is an answer, though a cut one.
        if let Some(signal) = status.signal().filter(|signal| *signal != Signal::PIPE.as_raw()) {
            return Err(GitError::Killed { command, signal });
        }
        let cut = output.len() > cap;
        output.truncate(cap);
        let error = String::from_utf8_lossy(&err).trim().to_owned();
        Ok(Answer { status, output, cut, error, command })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().current_dir(&self.directory).args(&self.arguments);
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
        self.status.success()
    }

    pub(super) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub(super) fn refused(self) -> GitError {
        let text = if self.error.is_empty() { self.status.to_string() } else { self.error };
        GitError::Refused { command: self.command, text }
    }
}

/// Reports output of git that can not be parsed.
pub(super) fn unreadable(command: &str, text: &str) -> GitError {
    let text = text.chars().take(200).collect();
    GitError::Unreadable { command: command.to_owned(), text }
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

    /// The last value of a key, as text.
    pub(super) fn value(&self, key: &str) -> Option<String> {
        let found = self.0.iter().rev().find(|(known, value)| known == key && !value.is_empty());
        found.and_then(|(_, value)| value.to_str().map(str::to_owned))
    }

    /// The value that the configuration itself gives to a key of our fixed list, which is listed behind it.
    pub(super) fn overridden(&self, key: &str) -> Option<String> {
        let found = self.0.iter().rev().filter(|(known, _)| known == key).nth(1);
        found.and_then(|(_, value)| value.to_str().map(str::to_owned))
    }

    /// Everything in it, as settings of a call. What it includes is in it already, and git refuses relative includes here.
    pub(super) fn into_settings(mut self) -> Vec<(OsString, OsString)> {
        self.0.retain(|(key, _)| {
            let key = key.to_string_lossy();
            key != "include.path" && !key.starts_with("includeif.")
        });
        self.0
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

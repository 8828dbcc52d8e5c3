//! What all measures share: the release binary, the scratch directory, ids, clocks and git.
//! Everything made here is gone when the scene is dropped. It measures nothing itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use longhaul_core::ids::SessionId;
use longhaul_keeper::files::create_private_dir;
use longhaul_keeper::{CONTRACT_VERSION, Caps, Executable, SessionDir, Spec, StopSignal, StopStep, prepare_session};
use tempfile::TempDir;

use super::{Arguments, scratch};
use crate::repository::Repository;

pub(super) use crate::repository::Outcome;
pub(super) use longhaul_app::now;
pub(super) use longhaul_keeper::random;

/// The longest wait for something that must happen.
const DEADLINE: Duration = Duration::from_secs(60);

/// The longest session, so that those of a killed run end too.
pub(super) const LONGEST_SESSION_MS: u64 = 20 * 60 * 1000;

/// The world of one run.
pub(super) struct Scene {
    scratch: TempDir,
    pub(super) arguments: Arguments,
    /// The release binary.
    pub(super) binary: PathBuf,
    /// The top of the checkout.
    pub(super) checkout: PathBuf,
    /// The release binary as a keeper.
    pub(super) keeper: Executable,
}

impl Scene {
    /// Builds the release binary and makes the scratch directory.
    pub(super) fn build(repository: &Repository, arguments: Arguments) -> Outcome<Scene> {
        finish(&mut repository.cargo(&["build", "--release", "--quiet", "--package", "longhaul"]))?;
        let metadata = repository.metadata()?;
        let target = Path::new(metadata["target_directory"].as_str().unwrap_or("target"));
        let binary = target.join("release").join("longhaul");
        let keeper = Executable::open(&binary)?;
        let scratch = scratch::make(arguments.scratch.as_deref())?;
        Ok(Scene { scratch, arguments, binary, checkout: repository.root().to_owned(), keeper })
    }

    /// The rounds to run of a measure that has so many.
    pub(super) fn rounds(&self, full: usize) -> usize {
        if self.arguments.quick { (full / 10).max(3) } else { full }
    }

    /// A path in the scratch directory; nothing needs to exist there.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// A new private directory in the scratch directory.
    pub(super) fn directory(&self, name: &str) -> Outcome<PathBuf> {
        let path = self.path(name);
        create_private_dir(&path)?;
        Ok(path)
    }

    /// A new directory that is a git repository with one commit.
    pub(super) fn git_repository(&self, name: &str) -> Outcome<PathBuf> {
        let path = self.directory(name)?;
        std::fs::write(path.join("README.md"), "# Here\n")?;
        commit_all(&path)?;
        Ok(path)
    }

    /// The release binary in a home, silent, without the caller's own Longhaul settings.
    pub(super) fn longhaul(&self, home: &Path, arguments: &[&str]) -> Command {
        let mut command = silent(&self.binary);
        command.args(arguments).current_dir(self.scratch.path());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LONGHAUL_")) {
            command.env_remove(name);
        }
        command.env("LONGHAUL_HOME", home).env("LONGHAUL_CONFIG", "/dev/null");
        command
    }

    /// A session directory ready for its keeper; the agent's program is given by its path.
    pub(super) fn session(&self, sessions: &Path, argv: &[&str], prompt: &[u8]) -> Outcome<SessionDir> {
        let spec = Spec {
            version: CONTRACT_VERSION,
            session: SessionId::mint(now(), random()),
            task: "bench".to_owned(),
            epoch: 1,
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            cwd: self.scratch.path().to_owned(),
            env_unset: Vec::new(),
            env_set: BTreeMap::new(),
            env_pass: None,
            secret_names: Vec::new(),
            marking: longhaul_keeper::Marking::default(),
            no_input: false,
            stop: vec![StopStep { signal: StopSignal::Terminate, grace_ms: 5_000 }],
            silence_ms: None,
            spare_busy: false,
            wall_ms: Some(LONGEST_SESSION_MS),
            drain_ms: 2_000,
            caps: Caps::default(),
        };
        Ok(prepare_session(sessions, spec.session, &spec, prompt)?)
    }
}

/// A program without standard streams.
pub(super) fn silent(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Git in a directory, silent, without the settings of the person who runs this.
pub(super) fn git(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = silent("git");
    command.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"]);
    command.args(arguments).current_dir(directory).env("GIT_CONFIG_GLOBAL", "/dev/null");
    command
}

/// Makes the directory a repository whose first commit holds all its files.
pub(super) fn commit_all(directory: &Path) -> Outcome {
    for arguments in [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "-m", "first"]] {
        finish(&mut git(directory, arguments))?;
    }
    Ok(())
}

/// Runs a command to its successful end.
pub(super) fn finish(command: &mut Command) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| format!("failed to start `{name}`: {error}"))?;
    ensure(status.success(), || format!("`{name}` ended with {status}"))
}

/// Fails unless something holds: a figure of something else would be worse than none.
pub(super) fn ensure(holds: bool, problem: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(problem().into()) }
}

/// Polls until something is there: files of another process send no event.
pub(super) fn wait_for<Seen>(what: &str, mut look: impl FnMut() -> Outcome<Option<Seen>>) -> Outcome<Seen> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(seen) = look()? {
            return Ok(seen);
        }
        ensure(Instant::now() < deadline, || format!("no {what} within {} seconds", DEADLINE.as_secs()))?;
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A runtime like the worker's.
pub(super) fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
